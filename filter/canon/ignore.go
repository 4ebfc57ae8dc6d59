package canon

import (
	"bytes"
	"strings"
)

// leaveOut takes the members that pointers name out of the index, so that they
// are not written. A pointer that leads nowhere, or to the whole body or the
// element of an array, does nothing. Neither does one on whose path a name comes
// in another case too: a backend that ignores case might read that one.
func (x *index) leaveOut(pointers []string) {
	for _, pointer := range pointers {
		cut := strings.LastIndexByte(pointer, '/')
		if cut < 0 {
			continue
		}
		at, found, err := x.find(pointer[:cut])
		if !found || err != nil || x.body[at.pos] != '{' || x.body[x.space(at.pos+1)] == '}' {
			continue
		}
		x.leaveOutMember(at.object, []byte(unescapeToken(pointer[cut+1:])))
	}
}

// leaveOutMember takes the member called name out of an object, unless another
// is called the same but for case.
func (x *index) leaveOutMember(number uint32, name []byte) {
	o := &x.objects[number]
	members := x.members[o.first : o.first+o.n]
	at := -1
	for i, m := range members {
		if !bytes.EqualFold(x.nameOf(m), name) {
			continue
		}
		if at >= 0 || !bytes.Equal(x.nameOf(m), name) {
			return
		}
		at = i
	}
	if at >= 0 {
		copy(members[at:], members[at+1:])
		o.n--
	}
}
