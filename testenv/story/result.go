package story

import "fmt"

// Result is what became of one scene.
type Result struct {
	Title string
	Rows  []Row
	// Err says why the scene could not be played to its end: a part that did not
	// start, say. It is nil where a row is wrong: the row says it.
	Err error
}

// OK reports whether the scene was played to its end and everything was right.
func (r Result) OK() bool {
	for _, row := range r.Rows {
		if !row.OK {
			return false
		}
	}
	return r.Err == nil
}

// NotCounted is the number of runs of a row about something else.
const NotCounted = -1

// Row is one thing that happened.
type Row struct {
	Step     string
	Saw      string // what the clients saw
	Expected string // what they should have seen
	Ran      int    // how often the backend ran for this scene's key, so far
	WantRan  int    // how often it should have
	OK       bool
	// Wrong says what is wrong beside Saw and Ran.
	Wrong string
	// Evidence are the answers as they were, of a row that is wrong.
	Evidence []string
}

// maxEvidence bounds the answers that a wrong row shows.
const maxEvidence = 10

// evidence picks answers, of each kind at least one as far as there is room.
func evidence(answers []Answer) []string {
	var out []string
	kinds := map[string]bool{}
	for _, a := range answers {
		if k := a.Kind(); !kinds[k] && len(out) < maxEvidence {
			kinds[k] = true
			out = append(out, a.String())
		}
	}
	if n := len(answers); n > len(out) {
		out = append(out, fmt.Sprintf("(one of each kind of %d answers)", n))
	}
	return out
}
