package canon

import (
	"crypto/sha256"
	"errors"
	"strings"
	"testing"
)

// canonical checks that Digest and Append agree and returns the text.
func canonical(t *testing.T, body string) (string, error) {
	t.Helper()
	text, err := Append([]byte("x"), []byte(body))
	if text[0] != 'x' || err != nil && len(text) > 1 {
		t.Fatalf("Append(%.40q) does not append", body)
	}
	sum, ok := Digest([]byte(body))
	if ok != (err == nil) {
		t.Fatalf("Digest(%.40q) ok = %v, Append's error is %v", body, ok, err)
	}
	if want := sha256.Sum256([]byte("oncewall/json/1\x00" + string(text[1:]))); ok && sum != want {
		t.Fatalf("Digest(%.40q) is not that of the canonical text", body)
	}
	return string(text[1:]), err
}

func TestCanonicalText(t *testing.T) {
	for _, tt := range []struct{ name, body, want string }{
		{"white space", " \t\r\n{ \"a\" :\n[ 1 ,\t2 ] } ", `{"a":[1,2]}`},
		{"members sorted", `{"b":1,"a":2,"":3}`, `{"":3,"a":2,"b":1}`},
		{"sorted by decoded name", `{"\u0062":1,"a":2}`, `{"a":2,"b":1}`},
		{"sorted by UTF-8, not UTF-16", `{"😀":1,"\uff5e":2}`, `{"～":2,"😀":1}`},
		{"prefix sorts first", `{"ab":1,"a":2}`, `{"a":2,"ab":1}`},
		{"nested out of order", `{"b":{"d":1,"c":[{"f":1,"e":2}]},"a":{"z":1}}`,
			`{"a":{"z":1},"b":{"c":[{"e":2,"f":1}],"d":1}}`},
		{"objects in arrays", `[{"b":1,"a":[{"d":1,"c":2},{}]},{},{"f":1,"e":2}]`,
			`[{"a":[{"c":2,"d":1},{}],"b":1},{},{"e":2,"f":1}]`},
		{"array order is kept", `[3,1,2]`, `[3,1,2]`},
		{"literals", `[true,false,null]`, `[true,false,null]`},
		{"empty containers", `[{},[],{ },[ ]]`, `[{},[],{},[]]`},
		{"escapes", `"\"\\\/\b\f\n\r\t\u0001\u001F\u007f\u0041"`, `"\"\\/\b\f\n\r\t\u0001\u001f` + "\x7f" + `A"`},
		{"escaped pair", `"\ud83d\uDE00"`, `"😀"`},
		{"no normalisation", `["\u00e9","e\u0301"]`, "[\"é\",\"e\u0301\"]"},
		{"NUL", `"\u0000"`, `"\u0000"`},
		{"replacement character", `"\ufffd"`, "\"\ufffd\""},
		{"name with escapes", `{"\n\"\u00e9":1}`, `{"\n\"é":1}`},
		{"integers", `[0,7,10,100,120,-5,1001]`, `[0,7,1e1,1e2,12e1,-5,1001]`},
		{"a hundred", `[100,1e2,1E+2,100.0,10.00e1,0.001e5,1000e-1]`, `[1e2,1e2,1e2,1e2,1e2,1e2,1e2]`},
		{"fractions", `[0.5,12.50,-0.0012,100.001]`, `[5e-1,125e-1,-12e-4,100001e-3]`},
		{"zeros", `[-0,0.000,0e9,-0.0E-5,0e99999999999999999999]`, `[0,0,0,0,0]`},
		{"beyond a double", `[9007199254740993,1e400,0.1000000000000000055]`,
			`[9007199254740993,1e400,1000000000000000055e-19]`},
		{"exponent with zeros", `1e+000000000000000000000000002`, `1e2`},
		{"largest exponents", `[1e999999999999999999,-1e-999999999999999999,10e999999999999999999]`,
			`[1e999999999999999999,-1e-999999999999999999,1e1000000000000000000]`},
		{"a lone scalar", ` "a" `, `"a"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got, err := canonical(t, tt.body); err != nil || got != tt.want {
				t.Errorf("got %s, %v\nwant %s", got, err, tt.want)
			}
		})
	}
}

func TestNoCanonicalText(t *testing.T) {
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for _, tt := range []struct {
		want   error
		bodies []string
	}{
		{ErrSyntax, []string{
			"", " ", "{", "}", "[", "]", "[1", "[1,", "[1,]", "[,1]", "[1 2]", "[1}", `{"a":1]`, `{"a"}`, `{"a":}`,
			`{"a":1,}`, `{,}`, `{a:1}`, `{'a':1}`, `{"a" 1}`, `{1:2}`, `{"a":1 "b":2}`, `{"a":1,"b"`, `{"a":1,"b":`,
			"1 2", "{}{}", "[]x", "nul", "nulL", "True", "truex", "tru", "NaN", "Infinity", "-", "+1", "01", "-01", "00", ".5",
			"1.", "1.e5", "1e", "1e+", "1e-", "0x10", "1_000", "--1", "- 1", "1.5.2", "1e5.5",
			`"`, `"a`, `"\`, `"\x"`, `"\u"`, `"\u12"`, `"\u12g4"`, `"\U0041"`, "\"\n\"", "\"\x00\"", "\"\x1f\"",
			"// c\n1", "/**/1", "[1]//", "\ufeff1", "\u00a01", "1\x00", "\v1", "\f1",
		}},
		{ErrUTF8, []string{"\"\xff\"", "\"\xc0\x80\"", "\"\xed\xa0\x80\"", "\"\xf5\x80\x80\x80\"", "\"\xe2\x82\"", "\xff\xfe1\x00", "[1]\xff"}},
		{ErrSurrogate, []string{
			`"\ud800"`, `"\udc00"`, `"\udc00\ud800"`, `"\ud800\ud800"`, `"\ud800\u0041"`, `"\ud800x\udc00"`, `"\ud800\n"`,
			`{"\udfff":1}`, `"\ud800\udc"`,
		}},
		{ErrDuplicate, []string{
			`{"a":1,"a":1}`, `{"a":1,"b":2,"a":3}`, `{"a":1,"\u0061":2}`, `[{"x":{"":1,"":2}}]`, `{"\/":1,"/":2}`,
			`{"😀":1,"\ud83d\ude00":2}`,
		}},
		{ErrDepth, []string{deep(MaxDepth + 1), strings.Repeat(`{"":`, 200_000), strings.Repeat("[", 200_000)}},
		{ErrExponent, []string{"1e1000000000000000000", "-1.5E-1000000000000000000", "1e" + strings.Repeat("9", 1<<20)}},
	} {
		for _, body := range tt.bodies {
			if got, err := canonical(t, body); !errors.Is(err, tt.want) {
				t.Errorf("%.40q: got %.40q, %v, want %v", body, got, err, tt.want)
			}
		}
	}
	if _, err := canonical(t, deep(MaxDepth)); err != nil {
		t.Errorf("nested %d deep: %v", MaxDepth, err)
	}
}

// TestDistinct holds bodies that a careless comparison takes for equal. Raw
// bodies are in it under their own digests.
func TestDistinct(t *testing.T) {
	bodies := []string{
		"9007199254740992", "9007199254740993", "9007199254740993.1", "1e400", "1e401", "-1e400", "1e-400", "0", "1e-401",
		"0.1", "0.10000000000000001", `"0.1"`, "1", "-1", `"1"`, "true", "false", `"true"`, "null", `"null"`, `""`, "[]", "{}", "[[]]", "[{}]",
		`[""]`, "[null]", "[0]", "[0,0]", "[[0],0]", "[0,[0]]", `{"":0}`, `{"a":0}`, `{"A":0}`, `{"a":0,"b":0}`, `{"a":{"b":0}}`, `["a",0]`, `["a",0,"b",0]`,
		`["a","b"]`, `["ab"]`, `["a\",\"b"]`, `["b","a"]`, `"\u00e9"`, `"e\u0301"`, `"\u0000"`, `"\\u0000"`, `"\ufffd"`, `"\ud800"`, `"\udc00"`, "\"\xff\"",
		"\"\xfe\"", `{"a":1,"a":2}`, `{"a":2,"a":1}`, `{"a":1}`, `{"a":2}`, "", " ", "\ufeff1", "1 1", "11", "[1,1]", "[11]", "[1.1]", "[1e1]", "[1e-1]",
		"1e999999999999999999", "1e1000000000000000000", "1e1000000000000000001", `{"a":[1],"b":[]}`, `{"a":[],"b":[1]}`, `{"a":{},"b":1}`,
	}
	seen := map[[32]byte]string{}
	for _, body := range bodies {
		sum, ok := Digest([]byte(body))
		if !ok {
			sum = RawDigest([]byte(body))
		}
		if other, ok := seen[sum]; ok {
			t.Errorf("%q and %q have one digest", other, body)
		}
		seen[sum] = body
	}
}

// TestDomains: a canonical body is not its own raw digest, and both digests
// stay what they are, since records keep them.
func TestDomains(t *testing.T) {
	body := []byte(`{"a":1}`)
	sum, _ := Digest(body)
	if raw := RawDigest(body); sum == raw || raw != sha256.Sum256([]byte("oncewall/raw/1\x00"+string(body))) {
		t.Error("raw and canonical digests are not kept apart")
	}
}
