package canon

import (
	"bytes"
	"slices"
	"unicode/utf8"
)

// An index is what must be known of a body before its members can be written
// in order: where each member's name and value are. Everything else is read
// again from the body, which build has found valid by then.
type index struct {
	body    []byte
	names   []byte   // decoded names, of those that hold escapes
	members []member // object by object, each sorted by name, but see keepFolded
	objects []object // in the order of their opening braces; {} is left out
	open    []member // members of the objects that are still open
	frames  []frame
}

// member is one member of an object.
type member struct {
	nameAt  uint32 // offset of the name's content, in body or in names
	nameLen uint32 // nameDecoded is set where nameAt points into names
	value   uint32 // offset of the value's first byte
	inner   uint32 // number of the first object that opens at value or later
}

const nameDecoded = 1 << 31

// object is one object that has members.
type object struct {
	first uint32 // index of its first member
	n     uint32
	end   uint32 // offset of the byte after its closing brace
	next  uint32 // number of the first object that opens after end
}

// frame is an object or array that is open.
type frame struct {
	isObject bool
	number   uint32 // of the object
	at       uint32 // build: where its members begin in open; emit: the member that is being written
}

// indexRoom is memory for the index of an ordinary body, in one allocation. Past
// it the slices grow by themselves.
type indexRoom struct {
	members, open [48]member
	objects       [16]object
	frames        [16]frame
}

func newIndex(body []byte, r *indexRoom) index {
	return index{
		body:    body,
		members: r.members[:0],
		objects: r.objects[:0],
		open:    r.open[:0],
		frames:  r.frames[:0],
	}
}

// build reads the whole body. It fails unless the body is exactly one JSON
// value within the package's bounds; a member that comes twice is an error
// unless allowDuplicates is set.
func (x *index) build(allowDuplicates bool) error {
	if len(x.body) > MaxBodyBytes {
		return ErrSize
	}
	if !utf8.Valid(x.body) {
		return ErrUTF8
	}
	pos := x.space(0)
	for {
		next, opened, err := x.value(pos)
		if err != nil {
			return err
		}
		pos = next
		for !opened { // a value has ended: what follows it?
			pos = x.space(pos)
			if len(x.frames) == 0 {
				if pos != len(x.body) {
					return ErrSyntax
				}
				return nil
			}
			top := &x.frames[len(x.frames)-1]
			switch c := x.at(pos); {
			case c == ',':
				pos = x.space(pos + 1)
				if top.isObject {
					if pos, err = x.name(pos); err != nil {
						return err
					}
				}
				opened = true
			case c == '}' && top.isObject:
				pos++
				distinct := x.closeObject(top, pos)
				if !allowDuplicates {
					if !distinct {
						return ErrDuplicate
					}
					o := x.objects[top.number]
					x.keepFolded(x.members[o.first : o.first+o.n])
				}
				x.frames = x.frames[:len(x.frames)-1]
			case c == ']' && !top.isObject:
				pos++
				x.frames = x.frames[:len(x.frames)-1]
			default:
				return ErrSyntax
			}
		}
	}
}

// value reads one scalar or empty container, or opens a container and leaves
// off where its first value begins (opened).
func (x *index) value(pos int) (next int, opened bool, err error) {
	switch c := x.at(pos); c {
	case '"':
		next, _, err = scanString(x.body, pos)
		return next, false, err
	case '{', '[':
		if len(x.frames) == MaxDepth {
			return 0, false, ErrDepth
		}
		next = x.space(pos + 1)
		if x.at(next) == c+2 { // the closing bracket of each stands two after it in ASCII
			return next + 1, false, nil
		}
		f := frame{isObject: c == '{', number: uint32(len(x.objects)), at: uint32(len(x.open))}
		x.frames = append(x.frames, f)
		if f.isObject {
			x.objects = append(x.objects, object{})
			next, err = x.name(next)
		}
		return next, true, err
	case 't':
		next, err = x.literal(pos, "true")
	case 'f':
		next, err = x.literal(pos, "false")
	case 'n':
		next, err = x.literal(pos, "null")
	default:
		_, next, err = scanNumber(x.body, pos)
	}
	return next, false, err
}

// name reads a member's name and colon and returns where its value begins.
func (x *index) name(pos int) (int, error) {
	if x.at(pos) != '"' {
		return 0, ErrSyntax
	}
	end, escaped, err := scanString(x.body, pos)
	if err != nil {
		return 0, err
	}
	m := member{nameAt: uint32(pos + 1), nameLen: uint32(end - pos - 2), inner: uint32(len(x.objects))}
	if escaped {
		from := len(x.names)
		x.names = appendDecoded(x.names, x.body[pos+1:end-1])
		m.nameAt, m.nameLen = uint32(from), uint32(len(x.names)-from)|nameDecoded
	}
	if pos = x.space(end); x.at(pos) != ':' {
		return 0, ErrSyntax
	}
	pos = x.space(pos + 1)
	m.value = uint32(pos)
	x.open = append(x.open, m)
	return pos, nil
}

// closeObject moves the members of the innermost object to their place, in
// order, and reports whether their names are distinct.
func (x *index) closeObject(f *frame, end int) bool {
	members := x.open[f.at:]
	slices.SortFunc(members, func(a, b member) int {
		return bytes.Compare(x.nameOf(a), x.nameOf(b))
	})
	x.objects[f.number] = object{
		first: uint32(len(x.members)),
		n:     uint32(len(members)),
		end:   uint32(end),
		next:  uint32(len(x.objects)),
	}
	distinct := true
	for i := 1; i < len(members) && distinct; i++ {
		distinct = !bytes.Equal(x.nameOf(members[i-1]), x.nameOf(members[i]))
	}
	x.members = append(x.members, members...)
	x.open = x.open[:f.at]
	return distinct
}

// nameOf returns the decoded name of m.
func (x *index) nameOf(m member) []byte {
	if m.nameLen&nameDecoded != 0 {
		n := m.nameLen &^ nameDecoded
		return x.names[m.nameAt : m.nameAt+n]
	}
	return x.body[m.nameAt : m.nameAt+m.nameLen]
}

func (x *index) literal(pos int, word string) (int, error) {
	if len(x.body)-pos < len(word) || string(x.body[pos:pos+len(word)]) != word {
		return 0, ErrSyntax
	}
	return pos + len(word), nil
}

// at returns the byte at pos, or 0, which no rule of the grammar accepts, past
// the end.
func (x *index) at(pos int) byte {
	if pos < len(x.body) {
		return x.body[pos]
	}
	return 0
}

// space returns the first position from pos on that is not white space.
func (x *index) space(pos int) int {
	for pos < len(x.body) {
		switch x.body[pos] {
		case ' ', '\t', '\n', '\r':
			pos++
		default:
			return pos
		}
	}
	return pos
}
