package canon

// cursor is a place in the body: an offset, and the number of the first object
// that opens there or later.
type cursor struct {
	pos    int
	object uint32
}

// emit writes the canonical text of a body that build has accepted.
func (x *index) emit(w *writer) {
	x.frames = x.frames[:0]
	at := cursor{pos: x.space(0)}
	for {
		opened := x.emitValue(w, &at)
		for !opened {
			w.token()
			if len(x.frames) == 0 {
				return
			}
			opened = x.emitNext(w, &at)
		}
	}
}

// emitValue writes the value at the cursor and moves behind it. Of a container
// it writes the opening only (opened) and moves to the first value inside.
func (x *index) emitValue(w *writer, at *cursor) (opened bool) {
	switch c := x.body[at.pos]; c {
	case '{', '[':
		inside := x.space(at.pos + 1)
		if x.body[inside] == c+2 {
			w.out = append(w.out, c, c+2)
			at.pos = inside + 1
			return false
		}
		if c == '{' && x.objects[at.object].n == 0 { // its members are left out
			o := x.objects[at.object]
			w.out = append(w.out, "{}"...)
			*at = cursor{pos: int(o.end), object: o.next}
			return false
		}
		w.out = append(w.out, c)
		f := frame{isObject: c == '{', number: at.object}
		at.pos = inside
		if f.isObject {
			f.at = x.objects[f.number].first
			x.emitName(w, f.at, at)
		}
		x.frames = append(x.frames, f)
		return true
	case '"':
		end, escaped, _ := scanString(x.body, at.pos)
		if escaped {
			w.out = appendRequoted(w.out, x.body[at.pos+1:end-1])
		} else {
			w.verbatim(x.body[at.pos:end])
		}
		at.pos = end
	case 't', 'n':
		w.out = append(w.out, x.body[at.pos:at.pos+4]...)
		at.pos += 4
	case 'f':
		w.out = append(w.out, "false"...)
		at.pos += 5
	default:
		n, end, _ := scanNumber(x.body, at.pos)
		w.number(&n)
		at.pos = end
	}
	return false
}

// emitNext goes on after a value of the innermost container: to the next value
// (opened), or out of the container.
func (x *index) emitNext(w *writer, at *cursor) (opened bool) {
	f := &x.frames[len(x.frames)-1]
	if f.isObject {
		o := x.objects[f.number]
		if f.at++; f.at < o.first+o.n {
			w.out = append(w.out, ',')
			x.emitName(w, f.at, at)
			return true
		}
		w.out = append(w.out, '}')
		*at = cursor{pos: int(o.end), object: o.next}
	} else {
		at.pos = x.space(at.pos)
		if x.body[at.pos] == ',' {
			w.out = append(w.out, ',')
			at.pos = x.space(at.pos + 1)
			return true
		}
		w.out = append(w.out, ']')
		at.pos++
	}
	x.frames = x.frames[:len(x.frames)-1]
	return false
}

// emitName writes the name of a member and moves to its value.
func (x *index) emitName(w *writer, i uint32, at *cursor) {
	m := x.members[i]
	if m.nameLen&nameDecoded != 0 {
		w.out = appendQuoted(w.out, x.nameOf(m))
	} else {
		w.verbatim(x.body[m.nameAt-1 : m.nameAt+m.nameLen+1])
	}
	w.out = append(w.out, ':')
	*at = cursor{pos: int(m.value), object: m.inner}
}
