package filter

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// FuzzKeyPlaces holds that a key which is taken from a query, a cookie, a form or
// a path is what the standard library's parsers read there, and is there once.
func FuzzKeyPlaces(f *testing.F) {
	f.Add("/a/1/2?k=x&j=y", "k=x; j=y", "k=x&j=y")
	f.Add("/a/%31/2?k=a%2Bb+c&K[]=1", `k="x"`, "k=%41&k")
	f.Add("/a/;x/2?j;k=x", "k=a,b; K=c", "k=%zz")
	f.Add("/a//2?k=%00", "k", "j=1&&k=\xff")
	f.Add("/a/%2f/2#?k", "=k;k==", "k=x;j=y")
	query, cookie := oneRule(f, `"key": {"from": [{"query": "k"}]}`), oneRule(f, `"key": {"from": [{"cookie": "k"}]}`)
	body, segment := oneRule(f, `"key": {"from": [{"form": "k"}]}`), oneRule(f, `"key": {"from": [{"path": "id"}]}`)
	f.Fuzz(func(t *testing.T, path, cookies, text string) {
		one := func(place string, values url.Values, err error, got string) {
			t.Helper()
			n := 0
			for name, v := range values {
				if strings.EqualFold(name, "k") {
					n += len(v)
				}
			}
			if got != "" && (err != nil || n != 1 || values.Get("k") != got) {
				t.Errorf("%s: took %q of %q, %v", place, got, values["k"], err)
			}
		}
		_, raw, _ := strings.Cut(path, "?")
		values, err := url.ParseQuery(raw)
		one("query", values, err, Explain(query, "POST", "/a/1/2?"+raw, ask(), nil).Key)

		values, err = url.ParseQuery(text)
		one("form", values, err, Explain(body, "POST", "/a/1/2", ask(form), []byte(text)).Key)

		r := &http.Request{Header: http.Header{"Cookie": {cookies}}}
		values = url.Values{}
		for _, c := range r.Cookies() {
			values.Add(c.Name, c.Value)
		}
		if got := Explain(cookie, "POST", "/a/1/2", ask("cookie: "+cookies), nil).Key; got != "" && values.Get("k") != got {
			t.Errorf("cookie: took %q of %q", got, values["k"])
		}

		x := Explain(segment, "POST", path, ask(), nil)
		if u, err := url.ParseRequestURI(path); x.Key != "" && err == nil && strings.Split(u.Path, "/")[2] != x.Key {
			t.Errorf("path: took %q, %v", x.Key, err)
		}
		if strings.ContainsFunc(x.Key, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			t.Errorf("path: control byte in %q", x.Key)
		}
	})
}
