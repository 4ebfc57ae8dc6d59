package canon

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"slices"
	"strings"
	"unicode/utf8"
)

// The oracle knows JSON only through encoding/json and numbers only through
// math/big; it shares no code and no method with the package.

// parseTree returns body as encoding/json sees it, with exact numbers, and
// whether it can be compared at all: not where a name comes twice, since
// encoding/json keeps the last, nor where text is broken, since it puts U+FFFD.
func parseTree(body []byte) (tree any, comparable bool) {
	if !utf8.Valid(body) || !json.Valid(body) {
		return nil, false
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	tree, ok := readTree(d)
	if _, err := d.Token(); err != io.EOF {
		return nil, false
	}
	return tree, ok && !brokenSurrogate(body)
}

// readTree reads one value; ok is false where an object holds a name twice.
func readTree(d *json.Decoder) (tree any, ok bool) {
	t, err := d.Token()
	if err != nil {
		return nil, false
	}
	ok = true
	switch t {
	case json.Delim('['):
		list := []any{}
		for d.More() {
			v, vok := readTree(d)
			list, ok = append(list, v), ok && vok
		}
		d.Token()
		return list, ok
	case json.Delim('{'):
		m := map[string]any{}
		for d.More() {
			name, _ := d.Token()
			v, vok := readTree(d)
			_, twice := m[name.(string)]
			m[name.(string)], ok = v, ok && vok && !twice
		}
		d.Token()
		return m, ok
	}
	return t, true
}

// brokenSurrogate reports whether valid JSON holds an unpaired surrogate
// escape: encoding/json then decodes more U+FFFD than are spelled.
func brokenSurrogate(body []byte) bool {
	spelled := strings.Count(string(body), "\ufffd")
	for rest := string(body); ; {
		i := strings.IndexByte(rest, '\\')
		if i < 0 {
			break
		}
		if len(rest) >= i+6 && strings.EqualFold(rest[i:i+6], `\ufffd`) {
			spelled++
		}
		rest = rest[i+2:]
	}
	decoded := 0
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	for {
		t, err := d.Token()
		if err != nil {
			return decoded != spelled
		}
		if s, ok := t.(string); ok {
			decoded += strings.Count(s, "\ufffd")
		}
	}
}

// sameTree compares two trees of parseTree.
func sameTree(a, b any) bool {
	switch a := a.(type) {
	case json.Number:
		b, ok := b.(json.Number)
		return ok && sameNumber(a.String(), b.String())
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for i := range a {
			if !sameTree(a[i], b[i]) {
				return false
			}
		}
		return true
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for name, v := range a {
			w, ok := b[name]
			if !ok || !sameTree(v, w) {
				return false
			}
		}
		return true
	}
	return a == b
}

// sameNumber compares coefficients scaled to a common exponent, so that
// exponents far beyond what could be expanded need no expanding.
func sameNumber(a, b string) bool {
	ca, ea := coefficient(a)
	cb, eb := coefficient(b)
	if ca.Sign() == 0 || cb.Sign() == 0 {
		return ca.Sign() == cb.Sign()
	}
	diff := new(big.Int).Sub(ea, eb)
	if !diff.IsInt64() || diff.CmpAbs(big.NewInt(1<<16)) > 0 {
		return false // no coefficient of a test's body makes up for this
	}
	scale := new(big.Int).Exp(big.NewInt(10), new(big.Int).Abs(diff), nil)
	if diff.Sign() > 0 {
		ca.Mul(ca, scale)
	} else {
		cb.Mul(cb, scale)
	}
	return ca.Cmp(cb) == 0
}

func coefficient(s string) (c, exp *big.Int) {
	mantissa, e, _ := strings.Cut(strings.ToLower(s), "e")
	exp = new(big.Int)
	exp.SetString(strings.TrimPrefix(e, "+"), 10)
	whole, frac, _ := strings.Cut(mantissa, ".")
	c = new(big.Int)
	c.SetString(whole+frac, 10)
	return c, exp.Sub(exp, big.NewInt(int64(len(frac))))
}

// foldOrders are the names that differ by case alone from another of their object,
// in their order there, with their object's place; nil: there are none.
func foldOrders(body []byte) (orders []string) {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	var read func(place string)
	read = func(place string) {
		t, _ := d.Token()
		switch t {
		case json.Delim('['):
			for i := 0; d.More(); i++ {
				read(fmt.Sprintf("%s/%d", place, i))
			}
			d.Token()
		case json.Delim('{'):
			var names []string
			for d.More() {
				name, _ := d.Token()
				names = append(names, name.(string))
				read(fmt.Sprintf("%s/%q", place, name))
			}
			d.Token()
			for i, name := range names {
				for _, later := range names[i+1:] {
					if strings.EqualFold(name, later) {
						orders = append(orders, fmt.Sprintf("%s: %q before %q", place, name, later))
					}
				}
			}
		}
	}
	read("")
	slices.Sort(orders)
	return orders
}
