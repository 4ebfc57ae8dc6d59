package conformance

// Difference is a line that one stage has and the other has not, or has
// otherwise.
type Difference struct {
	Scenario, Section string
	// Host and Envoy are the lines of the two; "" where there is none.
	Host, Envoy string
}

// Compare aligns two records. Agreed is the number of facts that both have in
// the same order; each difference is one fact more.
func Compare(scenario string, host, envoy *Record) (agreed int, diffs []Difference) {
	for _, name := range sectionNames(host, envoy) {
		a, b := host.lines(name), envoy.lines(name)
		n, d := align(a, b)
		agreed += n
		for _, p := range d {
			diffs = append(diffs, Difference{scenario, name, p[0], p[1]})
		}
	}
	return agreed, diffs
}

func (r *Record) lines(section string) []string {
	for _, s := range r.Sections {
		if s.Name == section {
			return s.Lines
		}
	}
	return nil
}

func sectionNames(records ...*Record) []string {
	var names []string
	have := map[string]bool{}
	for _, r := range records {
		for _, s := range r.Sections {
			if !have[s.Name] {
				have[s.Name] = true
				names = append(names, s.Name)
			}
		}
	}
	return names
}

// align finds the longest common subsequence. What stands between its lines is
// paired in order: a line that was replaced is one difference.
func align(a, b []string) (agreed int, diffs [][2]string) {
	best := make([][]int, len(a)+1)
	for i := range best {
		best[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				best[i][j] = best[i+1][j+1] + 1
			} else {
				best[i][j] = max(best[i+1][j], best[i][j+1])
			}
		}
	}
	var left, right []string
	flush := func() {
		for k := range max(len(left), len(right)) {
			var d [2]string
			if k < len(left) {
				d[0] = left[k]
			}
			if k < len(right) {
				d[1] = right[k]
			}
			diffs = append(diffs, d)
		}
		left, right = nil, nil
	}
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		switch {
		case a[i] == b[j]:
			flush()
			agreed++
			i, j = i+1, j+1
		case best[i+1][j] >= best[i][j+1]:
			left = append(left, a[i])
			i++
		default:
			right = append(right, b[j])
			j++
		}
	}
	left, right = append(left, a[i:]...), append(right, b[j:]...)
	flush()
	return agreed, diffs
}
