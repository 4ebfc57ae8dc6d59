package filter

import "testing"

// Commas and semicolons in quoted strings separate nothing (RFC 9110, section 5.6).
func TestPreferredWait(t *testing.T) {
	const none = -1
	for _, c := range []struct {
		line string
		want int64
	}{
		{`wait=5`, 5}, {`WAIT = "5"`, 5}, {`respond-async, wait=5; x="y"`, 5}, {`a;b="c, wait=9", wait=5`, 5},
		{`foo="a, wait=5"`, none}, {`foo="a;wait=5"`, none}, {`foo; bar="a, wait=5"`, none}, {`foo="a, wait=9", wait=5`, 5},
		{`foo="a\", wait=9", wait=5`, 5}, {`foo="a\\", wait=5`, 5}, {`foo="a\\\", wait=5`, none},
		{`foo="a, wait=5`, none}, {`wait="5`, none}, {`foo=", wait=5, bar="`, none}, {`foo="", wait=5`, 5},
		{`wait="5, wait=6"`, none}, {`wait="5;x"`, none}, {`wait=5, wait=6`, 5}, {`wait=x, wait=5`, none}, {`waits=5,`, none}, {``, none},
		{`wait=99999999999999999999`, longestPreference}, {`wait=-1`, none}, {`foo="\`, none},
	} {
		n, ok := preferredWait([]string{c.line})
		if !ok {
			n = none
		}
		if n != c.want {
			t.Errorf("%s: %d, want %d", c.line, n, c.want)
		}
	}
	if n := testing.AllocsPerRun(100, func() { preferredWait([]string{`a;b="c, wait=9", wait=5; x="y"`}) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
