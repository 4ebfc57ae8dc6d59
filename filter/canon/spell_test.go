package canon

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
	"unicode/utf16"

	"pgregory.net/rapid"
)

// treeGen draws JSON trees in the form of parseTree, with few names and values,
// so that trees that differ little are drawn often.
func treeGen(depth int) *rapid.Generator[any] {
	text := rapid.OneOf(
		rapid.SampledFrom([]string{"", "a", "A", "b", "ab", "é", "e\u0301", "😀", "\x00", "\"\\/", "\ufffd", "～"}),
		rapid.StringN(0, 6, -1))
	number := rapid.Custom(func(t *rapid.T) json.Number {
		n := rapid.OneOf(
			rapid.SampledFrom([]string{"0", "1", "-1", "10", "9007199254740992", "9007199254740993", "12345678901234567890123"}),
			rapid.StringMatching(`-?[1-9][0-9]{0,30}`)).Draw(t, "coefficient")
		e := rapid.OneOf(rapid.IntRange(-3, 3), rapid.IntRange(-1000, 1000)).Draw(t, "exponent")
		return json.Number(fmt.Sprintf("%se%d", n, e))
	})
	scalar := rapid.OneOf(
		rapid.SampledFrom([]any{nil, true, false}),
		rapid.Map(text, func(s string) any { return s }),
		rapid.Map(number, func(n json.Number) any { return n }))
	if depth == 0 {
		return scalar
	}
	inner := treeGen(depth - 1)
	return rapid.OneOf(scalar,
		rapid.Map(rapid.SliceOfN(inner, 0, 4), func(l []any) any { return l }),
		rapid.Map(rapid.MapOfN(text, inner, 0, 6), func(m map[string]any) any { return m }))
}

// spell writes tree in one of the many ways that mean the same.
func spell(t *rapid.T, tree any) string {
	space := rapid.SampledFrom([]string{"", "", "", " ", "\n", "\t\r", "   "})
	var b strings.Builder
	gap := func() { b.WriteString(space.Draw(t, "space")) }
	var write func(any)
	write = func(tree any) {
		gap()
		defer gap()
		switch v := tree.(type) {
		case nil:
			b.WriteString("null")
		case bool:
			fmt.Fprint(&b, v)
		case string:
			b.WriteString(spellString(t, v))
		case json.Number:
			b.WriteString(spellNumber(t, v.String()))
		case []any:
			b.WriteByte('[')
			for i, e := range v {
				if i > 0 {
					b.WriteByte(',')
				}
				write(e)
			}
			gap()
			b.WriteByte(']')
		case map[string]any:
			b.WriteByte('{')
			names := slices.Sorted(maps.Keys(v))
			if len(names) > 1 {
				names = rapid.Permutation(names).Draw(t, "order")
			}
			for i, name := range names {
				if i > 0 {
					b.WriteByte(',')
				}
				gap()
				b.WriteString(spellString(t, name))
				gap()
				b.WriteByte(':')
				write(v[name])
			}
			gap()
			b.WriteByte('}')
		}
	}
	write(tree)
	return b.String()
}

func spellString(t *rapid.T, s string) string {
	short := map[rune]string{'"': `\"`, '\\': `\\`, '/': `\/`, '\b': `\b`, '\f': `\f`, '\n': `\n`, '\r': `\r`, '\t': `\t`}
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		way := rapid.IntRange(0, 3).Draw(t, "escape")
		esc, hasShort := short[r]
		switch {
		case way == 0 && hasShort:
			b.WriteString(esc)
		case way > 1 && r >= 0x20 && r != '"' && r != '\\':
			b.WriteRune(r)
		default:
			format := rapid.SampledFrom([]string{`\u%04x`, `\u%04X`}).Draw(t, "hex")
			for _, u := range utf16.Encode([]rune{r}) {
				fmt.Fprintf(&b, format, u)
			}
		}
	}
	b.WriteByte('"')
	return b.String()
}

// spellNumber moves the point of n, pads with zeros and writes the exponent as
// it likes.
func spellNumber(t *rapid.T, n string) string {
	c, exp := coefficient(n)
	sign := ""
	if c.Sign() < 0 || c.Sign() == 0 && rapid.Bool().Draw(t, "minus zero") {
		sign = "-"
	}
	digits := new(big.Int).Abs(c).String()
	pad := rapid.IntRange(0, 3).Draw(t, "trailing zeros")
	digits += strings.Repeat("0", pad)
	exp.Sub(exp, big.NewInt(int64(pad)))

	point := rapid.IntRange(0, len(digits)).Draw(t, "point")
	whole, frac := digits[:point], digits[point:]
	exp.Add(exp, big.NewInt(int64(len(frac))))
	whole = strings.TrimLeft(whole, "0")
	if whole == "" {
		whole = "0"
		lead := rapid.IntRange(0, 3).Draw(t, "zeros after the point")
		frac = strings.Repeat("0", lead) + frac
		exp.Add(exp, big.NewInt(int64(lead)))
	}
	out := sign + whole
	if frac != "" {
		out += "." + frac
	}
	if exp.Sign() == 0 && rapid.Bool().Draw(t, "no exponent") {
		return out
	}
	plus := ""
	if exp.Sign() >= 0 {
		plus = rapid.SampledFrom([]string{"", "+", "+00", "0"}).Draw(t, "plus")
	}
	return out + rapid.SampledFrom([]string{"e", "E"}).Draw(t, "e") + plus + exp.String()
}
