package canon

import (
	"cmp"
	"slices"
	"unicode"
	"unicode/utf8"
)

// keepFolded gives members of one object whose names differ by case alone the
// order that they have in the body, in the places that they have among the sorted
// names: readers that ignore case take one of them, by its place. Objects whose
// names are ASCII without capitals, or that have one member, cost a look at the
// names.
func (x *index) keepFolded(members []member) {
	if len(members) < 2 || !slices.ContainsFunc(members, func(m member) bool { return folds(x.nameOf(m)) }) {
		return
	}
	var room [48]uint32
	order := room[:0]
	for i := range members {
		order = append(order, uint32(i))
	}
	slices.SortFunc(order, func(a, b uint32) int {
		return cmp.Or(compareFolded(x.nameOf(members[a]), x.nameOf(members[b])), cmp.Compare(members[a].value, members[b].value))
	})
	for from := 0; from < len(order); {
		to := from + 1
		for to < len(order) && compareFolded(x.nameOf(members[order[from]]), x.nameOf(members[order[to]])) == 0 {
			to++
		}
		if alike := order[from:to]; len(alike) > 1 {
			group := make([]member, len(alike))
			for i, at := range alike {
				group[i] = members[at]
			}
			slices.Sort(alike)
			for i, at := range alike {
				members[at] = group[i]
			}
		}
		from = to
	}
}

// folds reports whether name may differ by case alone from a name without
// capitals.
func folds(name []byte) bool {
	for _, c := range name {
		if 'A' <= c && c <= 'Z' || c >= utf8.RuneSelf {
			return true
		}
	}
	return false
}

// compareFolded orders names under Unicode simple case folding, as bytes.EqualFold
// takes them for equal.
func compareFolded(a, b []byte) int {
	for len(a) > 0 && len(b) > 0 {
		r, n := utf8.DecodeRune(a)
		s, m := utf8.DecodeRune(b)
		if r != s {
			if c := cmp.Compare(folded(r), folded(s)); c != 0 {
				return c
			}
		}
		a, b = a[n:], b[m:]
	}
	return cmp.Compare(len(a), len(b))
}

// folded is the least character that differs from r by case alone.
func folded(r rune) rune {
	switch {
	case 'a' <= r && r <= 'z':
		return r - 'a' + 'A'
	case r < utf8.RuneSelf:
		return r
	}
	least := r
	for c := unicode.SimpleFold(r); c != r; c = unicode.SimpleFold(c) {
		least = min(least, c)
	}
	return least
}
