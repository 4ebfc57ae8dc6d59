package wire

import "errors"

// maxNesting bounds how deeply a message nests. Known fields need three levels;
// the rest is room for fields that this side does not know.
const maxNesting = 16

// ErrNesting reports a message that nests deeper than any of this version.
var ErrNesting = errors.New("wire: nested too deep")

// checkNesting walks the MessagePack value at the start of b and returns
// ErrNesting where it nests deeper than maxNesting. The generated decoder skips
// unknown fields by recursion, 100,000 levels deep; the stack of a VM ends
// before that, and its end cannot be recovered from. Everything else that is
// wrong with b is left to the decoder.
func checkNesting(b []byte) error {
	var left [maxNesting]uint64 // values still to come, level by level
	depth := 0
	left[0] = 1
	for {
		for left[depth] == 0 {
			if depth == 0 {
				return nil
			}
			depth--
		}
		left[depth]--
		size, inner := measure(b)
		if size == 0 || size > uint64(len(b)) {
			return nil
		}
		b = b[size:]
		if inner == 0 {
			continue
		}
		if depth++; depth == maxNesting {
			return ErrNesting
		}
		left[depth] = inner
	}
}

// measure returns the size in bytes of the value at the start of b and, of an
// array or map, the size of its header and the number of values inside. size 0
// stands for no value.
func measure(b []byte) (size, inner uint64) {
	if len(b) == 0 {
		return 0, 0
	}
	switch c := b[0]; {
	case c <= 0x7f || c >= 0xe0: // small integers
		return 1, 0
	case c <= 0x8f: // small maps
		return 1, 2 * uint64(c&0x0f)
	case c <= 0x9f: // small arrays
		return 1, uint64(c & 0x0f)
	case c <= 0xbf: // small strings
		return 1 + uint64(c&0x1f), 0
	}
	l := layouts[b[0]-0xc0]
	if l.header == 0 || len(b) <= int(l.length) {
		return 0, 0
	}
	var n uint64
	for _, c := range b[1 : 1+l.length] {
		n = n<<8 | uint64(c)
	}
	if l.values > 0 {
		return uint64(l.header), n * uint64(l.values)
	}
	return uint64(l.header) + n, 0
}

// layout is the form of one MessagePack type: header bytes, bytes of length
// that follow the first, and how many values each unit of length stands for.
type layout struct{ header, length, values uint8 }

// layouts holds the types c0 to df; a zero header marks c1, which is none.
var layouts = [32]layout{
	{header: 1}, {}, {header: 1}, {header: 1}, // nil, never used, false, true
	{2, 1, 0}, {3, 2, 0}, {5, 4, 0}, // bin 8, 16, 32
	{3, 1, 0}, {4, 2, 0}, {6, 4, 0}, // ext 8, 16, 32
	{header: 5}, {header: 9}, // float 32, 64
	{header: 2}, {header: 3}, {header: 5}, {header: 9}, // uint 8, 16, 32, 64
	{header: 2}, {header: 3}, {header: 5}, {header: 9}, // int 8, 16, 32, 64
	{header: 3}, {header: 4}, {header: 6}, {header: 10}, {header: 18}, // fixext 1, 2, 4, 8, 16
	{2, 1, 0}, {3, 2, 0}, {5, 4, 0}, // str 8, 16, 32
	{3, 2, 1}, {5, 4, 1}, // array 16, 32
	{3, 2, 2}, {5, 4, 2}, // map 16, 32
}
