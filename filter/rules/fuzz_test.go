package rules

import (
	"errors"
	"os"
	"strings"
	"testing"
)

func FuzzParse(f *testing.F) {
	shop, err := os.ReadFile("testdata/shop.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(shop)
	for _, g := range good {
		f.Add([]byte(g.text))
	}
	for _, b := range bad {
		f.Add([]byte(b.text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := Parse(text)
		if err != nil {
			var e *Error
			if c != nil || !errors.As(err, &e) || len(e.Faults) == 0 || len(e.Faults) > maxFaults {
				t.Fatalf("got %v, %v", c, err)
			}
			for _, f := range e.Faults {
				if s := f.String(); len(s) > 4096 || strings.ContainsAny(s, "\n\r\x00\x1b") {
					t.Fatalf("fault %q", s)
				}
			}
			return
		}
		checkPromises(t, c)
	})
}

// checkPromises is what the filter takes for granted of a configuration.
func checkPromises(t *testing.T, c *Config) {
	t.Helper()
	names := make(map[string]bool)
	for _, r := range c.Rules {
		if names[r.Name] || r.Name == "" || r.Scope == "" || len(r.Generation) != 16 {
			t.Fatalf("rule %+v", r)
		}
		names[r.Name] = true
		if r.Match.path() == "" && !c.Envoy.RouteMetadata || r.Match.Exact+r.Match.Prefix != "" && r.Match.plain() && c.Match("POST", r.Match.Exact+r.Match.Prefix) == nil {
			t.Fatalf("match %+v", r.Match)
		}
		if len(r.Key.From) == 0 || r.Key.MaxLength < 1 || r.Fingerprint.Body == 0 || r.InFlight.Action == 0 || r.Completed.Action == 0 || r.Record.When == 0 || r.EnvoyRetries == 0 {
			t.Fatalf("rule %+v", r)
		}
		for _, from := range r.Key.From {
			if len(from.Parts()) == 0 || from.InBody() && !c.Envoy.AllowOnHeadersStopIteration && r.Mode != Off {
				t.Fatalf("key %+v", from)
			}
		}
		if r.Mode == Off {
			continue
		}
		if r.Principal.Kind == 0 || r.Recovery.Action == 0 || r.Unavailable == 0 || r.UpstreamTimeout <= 0 {
			t.Fatalf("rule %+v", r)
		}
		if r.Recovery.Lease < 2*c.Bridge.Timeout+r.UpstreamTimeout+ClockSkew+Margin {
			t.Fatalf("lease %v", r.Recovery.Lease)
		}
		if r.Record.MaxBody > c.Envoy.BufferLimit || r.Fingerprint.MaxBody > c.Envoy.BufferLimit {
			t.Fatalf("bodies %+v %+v of %d", r.Record, r.Fingerprint, c.Envoy.BufferLimit)
		}
		if r.Fingerprint.Body != BodyNone && !c.Envoy.AllowOnHeadersStopIteration {
			t.Fatal("a body that never comes")
		}
		if r.Key.Issued && c.Issue == nil {
			t.Fatal("issued keys that nobody issues")
		}
	}
}

// plain reports whether a POST with no more than a path meets the match.
func (m *Match) plain() bool { return m.method("POST") && len(m.Hosts)+len(m.Headers) == 0 }
