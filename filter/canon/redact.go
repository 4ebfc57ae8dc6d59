package canon

import "slices"

// Redact returns body with null in place of every value that one of pointers
// names, and with every other byte as it is. Where none is there it returns body
// itself, and changed is false.
//
// It gives nothing back rather than too much: a body that is not one JSON value
// is an error, and so is a member on a pointer's path that comes twice or in
// another case, for then it is not known which one a reader takes. The errors are
// those of [Lookup]. An empty pointer names the whole body.
func Redact(body []byte, pointers []string) (out []byte, changed bool, err error) {
	var room indexRoom
	x := newIndex(body, &room)
	if err := x.build(true); err != nil {
		return nil, false, err
	}
	spans := make([][2]int, 0, len(pointers))
	for _, pointer := range pointers {
		if err := CheckPointer(pointer); err != nil {
			return nil, false, err
		}
		at, found, err := x.find(pointer)
		if err != nil {
			return nil, false, err
		}
		if found {
			end := at
			x.skip(&end)
			spans = append(spans, [2]int{at.pos, end.pos})
		}
	}
	if len(spans) == 0 {
		return body, false, nil
	}
	// Values lie apart or one within the other; the outer one of two comes first.
	slices.SortFunc(spans, func(a, b [2]int) int {
		if a[0] != b[0] {
			return a[0] - b[0]
		}
		return b[1] - a[1]
	})
	from := 0
	for _, span := range spans {
		if span[0] < from {
			continue
		}
		out = append(out, body[from:span[0]]...)
		out = append(out, "null"...)
		from = span[1]
	}
	return append(out, body[from:]...), true, nil
}
