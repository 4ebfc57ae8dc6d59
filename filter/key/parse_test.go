package key

import (
	"errors"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for _, tt := range []struct {
		name  string
		lines []string
		key   string
		err   error
	}{
		{"bare", []string{"abc"}, "abc", nil},
		{"quoted", []string{`"abc"`}, "abc", nil},
		{"UUID", []string{"8e03978e-40d5-43dd-bc93-6894a57f9324"}, "8e03978e-40d5-43dd-bc93-6894a57f9324", nil},
		{"base64", []string{"YWJj+/=="}, "YWJj+/==", nil},
		{"all bare bytes", []string{"!#$%&'*+-./09:<=>?@AZ[]^_`az{|}~"}, "!#$%&'*+-./09:<=>?@AZ[]^_`az{|}~", nil},
		{"quoted escapes", []string{`"a\"b\\c"`}, `a"b\c`, nil},
		{"quoted specials", []string{`"a,b;c (d) "`}, "a,b;c (d) ", nil},
		{"white space around", []string{" \tabc\t "}, "abc", nil},
		{"white space around quotes", []string{` "abc" `}, "abc", nil},
		{"longest", []string{"12345678901234567890"}, "12345678901234567890", nil},
		{"longest, quoted and escaped", []string{`"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\""`}, strings.Repeat(`"`, 20), nil},

		{"absent", nil, "", ErrMissing},
		{"two lines", []string{"a", "b"}, "", ErrMultiple},
		{"two equal lines", []string{"a", "a"}, "", ErrMultiple},
		{"second line empty", []string{"a", ""}, "", ErrMultiple},
		{"empty", []string{""}, "", ErrEmpty},
		{"only white space", []string{" \t"}, "", ErrEmpty},
		{"empty quoted", []string{`""`}, "", ErrEmpty},
		{"list", []string{"a,b"}, "", ErrList},
		{"list with spaces", []string{"a, b"}, "", ErrList},
		{"quoted list", []string{`"a", "b"`}, "", ErrList},
		{"quoted list without space", []string{`"a","a"`}, "", ErrList},
		{"trailing comma", []string{"a,"}, "", ErrList},
		{"leading comma", []string{",a"}, "", ErrList},
		{"bare, then quoted", []string{`a, "b"`}, "", ErrList},
		{"inner list", []string{"(a)"}, "", ErrList},
		{"too long", []string{"123456789012345678901"}, "", ErrTooLong},
		{"too long, quoted", []string{`"123456789012345678901"`}, "", ErrTooLong},
		{"parameter", []string{"abc;v=1"}, "", ErrSyntax},
		{"parameter after quotes", []string{`"abc";v=1`}, "", ErrSyntax},
		{"parameter with a comma", []string{`"abc"; v="a,b"`}, "", ErrSyntax},
		{"space inside", []string{"a b"}, "", ErrSyntax},
		{"tab inside", []string{"a\tb"}, "", ErrSyntax},
		{"parenthesis", []string{"a(b)"}, "", ErrSyntax},
		{"quote inside", []string{`a"b`}, "", ErrSyntax},
		{"quote at the end", []string{`abc"`}, "", ErrSyntax},
		{"quote not closed", []string{`"abc`}, "", ErrSyntax},
		{"only a quote", []string{`"`}, "", ErrSyntax},
		{"text after quotes", []string{`"abc"d`}, "", ErrSyntax},
		{"escape cut", []string{`"abc\`}, "", ErrSyntax},
		{"escaped closing quote", []string{`"abc\"`}, "", ErrSyntax},
		{"other escape", []string{`"a\nb"`}, "", ErrSyntax},
		{"backslash", []string{`a\b`}, "", ErrSyntax},
		{"NUL", []string{"a\x00b"}, "", ErrSyntax},
		{"LF", []string{"a\nb"}, "", ErrSyntax},
		{"CR at the end", []string{"a\r"}, "", ErrSyntax},
		{"DEL", []string{"a\x7f"}, "", ErrSyntax},
		{"control in a list", []string{"a,\x01"}, "", ErrSyntax},
		{"quoted control", []string{"\"a\x1f\""}, "", ErrSyntax},
		{"quoted tab", []string{"\"a\tb\""}, "", ErrSyntax},
		{"quoted DEL", []string{"\"a\x7f\""}, "", ErrSyntax},
		{"UTF-8", []string{"clé"}, "", ErrSyntax},
		{"quoted UTF-8", []string{`"clé"`}, "", ErrSyntax},
		{"Latin-1", []string{"cl\xe9"}, "", ErrSyntax},
		{"malformed and too long", []string{strings.Repeat("a", 30) + ";"}, "", ErrSyntax},
	} {
		t.Run(tt.name, func(t *testing.T) {
			key, err := Parse(tt.lines, 20)
			if tt.name == "UUID" || tt.name == "all bare bytes" {
				key, err = Parse(tt.lines, 255)
			}
			if key != tt.key || err != tt.err {
				t.Errorf("got %q, %v, want %q, %v", key, err, tt.key, tt.err)
			}
		})
	}
	if _, err := Parse([]string{"a"}, 0); err != ErrTooLong {
		t.Errorf("maxLength 0: %v", err)
	}
}

func TestParseAllocatesNothing(t *testing.T) {
	lines := []string{`"8e03978e-40d5-43dd-bc93-6894a57f9324"`}
	if n := testing.AllocsPerRun(100, func() { Parse(lines, 255) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"abc", `"abc"`, `"a\"b\\c"`, "a,b", `"a", "b"`, `"a,b"`, "a;v=1", `"a";v=1`, "", `""`, `"`, `"\`, "\x00", "é", " a ", "(a b)", "a\r\nb", ":YWJj:", "?1",
	} {
		f.Add(s, 255)
	}
	f.Add(strings.Repeat("a", 300), 255)
	f.Fuzz(func(t *testing.T, value string, maxLength int) {
		key, err := Parse([]string{value}, maxLength)
		if err != nil {
			for _, sentinel := range []error{ErrList, ErrSyntax, ErrEmpty, ErrTooLong} {
				if err == sentinel {
					return
				}
			}
			t.Fatalf("%q: unexpected %v", value, err)
		}
		if key == "" || len(key) > maxLength {
			t.Fatalf("%q gave %d bytes at a limit of %d", value, len(key), maxLength)
		}
		for i := range len(key) {
			if key[i] < 0x20 || key[i] > 0x7e {
				t.Fatalf("%q gave %q", value, key)
			}
		}
		// The quoted form of the key is the same key, and a line that holds it twice is none.
		form := `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(key) + `"`
		if again, err := Parse([]string{form}, maxLength); again != key || err != nil {
			t.Fatalf("%q gave %q, its quoted form %q, %v", value, key, again, err)
		}
		if _, err := Parse([]string{value + "," + value}, maxLength); !errors.Is(err, ErrList) {
			t.Fatalf("%q twice: %v", value, err)
		}
	})
}
