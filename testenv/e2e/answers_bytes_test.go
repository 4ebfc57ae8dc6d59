package e2e

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

// perExchange are the lines in which a replay differs from the first answer, as
// docs/data.md lists them.
var perExchange = []string{"date", "x-envoy-upstream-service-time", "connection", "transfer-encoding", "content-length",
	"idempotency-status", "idempotent-replayed", "idempotency-age", "idempotency-first-seen", "idempotency-expires-in"}

// recorded are the lines that must be the same.
func (a rawAnswer) recorded(leaveOut ...string) []string {
	return slices.DeleteFunc(slices.Clone(a.lines), func(l string) bool {
		name, _, _ := strings.Cut(l, ":")
		return slices.Contains(perExchange, name) || slices.Contains(leaveOut, name)
	})
}

func byName(x, y string) int {
	x, _, _ = strings.Cut(x, ":")
	y, _, _ = strings.Cut(y, ":")
	return strings.Compare(x, y)
}

// order is the header of a request under a key.
func order(key string, more ...[2]string) [][2]string {
	return append([][2]string{{"x-user-id", "ada"}, {"idempotency-key", key}, {"content-type", "application/json"}}, more...)
}

// bytes compares replays with first answers line by line and byte by byte, in
// every protocol that a client can speak, and in one that the first client did
// not.
func (a *around) bytes(t *testing.T) {
	protocols := []string{"HTTP/1.0", "HTTP/1.1", "h2"}
	knob := func(name, value string) [2]string { return [2]string{"x-shop-" + name, value} }
	for _, c := range []struct {
		name   string
		method string
		knobs  [][2]string
		status int
	}{
		{"receipt", "POST", nil, 201},
		{"names again, empty values, 8-bit bytes", "POST", [][2]string{knob("header", "x-b: 1"), knob("header", "x-a:"), knob("header", "x-b: 2"),
			knob("header", "x-8bit: caf\xe9 \xff"), knob("header", "vary: a"), knob("header", "vary: b")}, 201},
		{"lines that the route adds too", "POST", [][2]string{knob("header", "x-vh: upstream"), knob("header", "x-vh-over: upstream")}, 201},
		{"location and validators", "POST", [][2]string{knob("status", "303"), knob("header", "location: /orders/1?a=b"), knob("header", `etag: W/"1"`),
			knob("header", "last-modified: Mon, 30 Nov 2026 22:02:37 GMT"), knob("header", "cache-control: no-store")}, 303},
		{"nothing to say", "POST", [][2]string{knob("status", "204")}, 204},
		{"reset content", "POST", [][2]string{knob("status", "205"), knob("body", "")}, 205},
		{"not modified", "POST", [][2]string{knob("status", "304"), knob("header", `etag: "2"`)}, 304},
		{"empty body with a type", "POST", [][2]string{knob("body", "")}, 201},
		{"zero", "POST", [][2]string{knob("body", "0")}, 201},
		{"null", "POST", [][2]string{knob("body", "null")}, 201},
		{"binary", "POST", [][2]string{knob("body", "%00%01%FF%FE%0D%0A%00")}, 201},
		{"compressed", "POST", [][2]string{knob("encode", "gzip"), knob("header", "vary: accept-encoding")}, 201},
		{"chunked", "POST", [][2]string{knob("chunked", "1"), knob("body-bytes", "70000")}, 201},
		{"early hints", "POST", [][2]string{knob("early", "103")}, 201},
		{"head", "HEAD", nil, 201},
		{"teapot", "POST", [][2]string{knob("status", "418")}, 418},
		{"failure", "POST", [][2]string{knob("status", "500")}, 500},
		{"hop by hop", "POST", [][2]string{knob("header", "keep-alive: timeout=5"), knob("header", "proxy-connection: close")}, 201},
		{"no type", "POST", [][2]string{knob("header", "content-type: x/y"), knob("body", "x")}, 201},
	} {
		for i, proto := range protocols {
			t.Run(c.name+"/"+strings.ReplaceAll(proto, "/", ""), func(t *testing.T) {
				key := a.key()
				body := `{"a":1}`
				if c.method == "HEAD" {
					body = ""
				}
				if c.name == "hop by hop" {
					proto = "HTTP/1.1" // HTTP/2 upstreams may not send such lines
				}
				send := func(proto string) rawAnswer {
					return raw(t, a.Gateway(0), proto, c.method, "/orders", order(key, c.knobs...), body)
				}
				first := send(proto)
				for _, second := range []string{proto, protocols[(i+1)%len(protocols)]} {
					again := send(second)
					if first.err != nil || again.err != nil || first.status != c.status || again.status != c.status ||
						!slices.Equal(first.header("idempotency-status"), []string{"created"}) || !slices.Equal(again.header("idempotency-status"), []string{"replayed"}) {
						t.Fatalf("first over %s:\n%s\n\nreplay over %s:\n%s", proto, first, second, again)
					}
					x, y := first.recorded(), again.recorded()
					if second != proto {
						// An HTTP/2 codec may bring lines of one name together.
						slices.SortStableFunc(x, byName)
						slices.SortStableFunc(y, byName)
					}
					if !slices.Equal(x, y) {
						t.Errorf("first over %s:\n%s\n\nreplay over %s:\n%s", proto, strings.Join(x, "\n"), second, strings.Join(y, "\n"))
					}
					if !bytes.Equal(first.body, again.body) {
						t.Errorf("bodies over %s and %s: %q and %q", proto, second, first.body, again.body)
					}
					if x, y := first.header("content-length"), again.header("content-length"); len(x) > 0 && c.status != 205 && !slices.Equal(x, y) {
						t.Errorf("content-length %q over %s, %q over %s", x, proto, y, second)
					}
					if n := len(again.header("date")); n != 1 || again.early != 0 {
						t.Errorf("%d lines of date, %d early answers in the replay", n, again.early)
					}
					for _, name := range []string{"keep-alive", "proxy-connection", "x-envoy-upstream-service-time"} {
						if v := again.header(name); len(v) != 0 {
							t.Errorf("the replay has %s: %q", name, v)
						}
					}
				}
				if c.method == "POST" {
					wantRuns(t, a.Stack, key, 1)
				}
			})
		}
	}
}

// hops: what an answer says to the next hop alone is not said again.
func (a *around) hops(t *testing.T) {
	key := a.key()
	r := order(key)
	for _, l := range []string{"connection: X-Hop", "x-hop: 1", "x-envoy-overloaded: true", "x-envoy-immediate-health-check-fail: true", "x-end: 1"} {
		r = append(r, [2]string{"x-shop-header", l})
	}
	first := raw(t, a.Gateway(0), "HTTP/1.1", "POST", "/orders", r, "{}")
	again := raw(t, a.Gateway(0), "HTTP/1.1", "POST", "/orders", r, "{}")
	if first.status != 201 || len(first.header("x-hop")) != 1 || again.status != 201 || !slices.Equal(again.header("x-end"), []string{"1"}) {
		t.Fatalf("%s\n\n%s", first, again)
	}
	for _, name := range []string{"x-hop", "x-envoy-overloaded", "x-envoy-immediate-health-check-fail"} {
		if v := again.header(name); len(v) != 0 {
			t.Errorf("the replay has %s: %q", name, v)
		}
	}
}

// credentials: session cookies are the first client's alone, unless the rule
// keeps them.
func (a *around) credentials(t *testing.T) {
	lines := [][2]string{{"x-shop-header", "set-cookie: a=1; Path=/"}, {"x-shop-header", "set-cookie: b=2"}, {"x-shop-header", "www-authenticate: Basic"}}
	both := []string{"a=1; Path=/", "b=2"}
	for path, want := range map[string][]string{"/orders": nil, "/orders/cookies": both} {
		key := a.key()
		first := raw(t, a.Gateway(0), "HTTP/1.1", "POST", path, order(key, lines...), "{}")
		again := raw(t, a.Gateway(0), "HTTP/1.1", "POST", path, order(key, lines...), "{}")
		if got := first.header("set-cookie"); !slices.Equal(got, both) {
			t.Errorf("%s: first answer sets %q", path, got)
		}
		if got := again.header("set-cookie"); again.status != 201 || !slices.Equal(got, want) || len(again.header("www-authenticate")) != 0 {
			t.Errorf("%s: the replay sets %q, want %q\n%s", path, got, want, again)
		}
	}
}

// origins: what a browser may do is said for each exchange anew.
func (a *around) origins(t *testing.T) {
	key := a.key()
	for i, origin := range []string{"https://one.example", "https://two.example", "http://not.example", ""} {
		r := order(key, [2]string{"x-shop-header", "access-control-allow-methods: PUT"})
		want := []string(nil)
		if origin != "" {
			r = append(r, [2]string{"origin", origin})
		}
		if strings.HasPrefix(origin, "https:") {
			want = []string{origin}
		}
		got := raw(t, a.Gateway(0), "h2", "POST", "/orders", r, "{}")
		if !slices.Equal(got.header("access-control-allow-origin"), want) || i > 0 && len(got.header("access-control-allow-methods")) > 0 ||
			i > 0 && got.header("idempotency-status")[0] != "replayed" {
			t.Errorf("for origin %q:\n%s", origin, got)
		}
	}
}
