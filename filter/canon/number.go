package canon

import (
	"bytes"
	"strconv"
)

// number is a decimal in lowest terms: the digits of whole and then of frac,
// read as one integer without leading or trailing zeros, times ten to the power
// of exp. Zero has no digits, no sign and no exp.
type number struct {
	negative    bool
	whole, frac []byte
	exp         int64
}

// scanNumber reads the number at pos (RFC 8259 section 6); end is the position
// after it.
func scanNumber(body []byte, pos int) (n number, end int, err error) {
	i := pos
	if i < len(body) && body[i] == '-' {
		n.negative = true
		i++
	}
	n.whole = digits(body[i:])
	i += len(n.whole)
	if len(n.whole) == 0 || (n.whole[0] == '0' && len(n.whole) > 1) {
		return n, 0, ErrSyntax
	}
	if i < len(body) && body[i] == '.' {
		n.frac = digits(body[i+1:])
		i += 1 + len(n.frac)
		if len(n.frac) == 0 {
			return n, 0, ErrSyntax
		}
	}
	var exp []byte
	below := false
	if i < len(body) && body[i]|0x20 == 'e' {
		i++
		if i < len(body) && (body[i] == '+' || body[i] == '-') {
			below = body[i] == '-'
			i++
		}
		exp = digits(body[i:])
		i += len(exp)
		if len(exp) == 0 {
			return n, 0, ErrSyntax
		}
	}
	return n, i, n.reduce(exp, below)
}

// reduce brings n to lowest terms and takes the written exponent in.
func (n *number) reduce(exp []byte, below bool) error {
	n.frac = bytes.TrimRight(n.frac, "0")
	n.exp = -int64(len(n.frac))
	if n.whole[0] == '0' {
		n.whole = nil
		n.frac = bytes.TrimLeft(n.frac, "0")
	}
	if len(n.frac) == 0 {
		kept := bytes.TrimRight(n.whole, "0")
		n.exp = int64(len(n.whole) - len(kept))
		n.whole = kept
	}
	if n.isZero() {
		*n = number{} // whatever the exponent
		return nil
	}
	exp = bytes.TrimLeft(exp, "0")
	if len(exp) > 18 {
		return ErrExponent
	}
	var e int64
	for _, c := range exp {
		e = e*10 + int64(c-'0')
	}
	if below {
		e = -e
	}
	n.exp += e
	return nil
}

// digits returns the decimal digits at the start of b.
func digits(b []byte) []byte {
	for i, c := range b {
		if c < '0' || c > '9' {
			return b[:i]
		}
	}
	return b
}

// number writes the canonical form of n.
func (w *writer) number(n *number) {
	if n.isZero() {
		w.out = append(w.out, '0')
		return
	}
	if n.negative {
		w.out = append(w.out, '-')
	}
	w.verbatim(n.whole)
	w.verbatim(n.frac)
	if n.exp != 0 {
		w.out = strconv.AppendInt(append(w.out, 'e'), n.exp, 10)
	}
}

// appendInteger appends n in plain digits. ok is false where n is not an
// integer or takes more than limit digits.
func (n *number) appendInteger(dst []byte, limit int) (out []byte, ok bool) {
	if n.isZero() {
		return append(dst, '0'), true
	}
	if n.exp < 0 || n.exp > int64(limit) || int64(len(n.whole)+len(n.frac))+n.exp > int64(limit) {
		return dst, false
	}
	if n.negative {
		dst = append(dst, '-')
	}
	dst = append(dst, n.whole...)
	dst = append(dst, n.frac...)
	for range n.exp {
		dst = append(dst, '0')
	}
	return dst, true
}

func (n *number) isZero() bool { return len(n.whole)+len(n.frac) == 0 }
