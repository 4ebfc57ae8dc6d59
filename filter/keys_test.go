package filter

import (
	"fmt"
	"strings"
	"testing"

	"github.com/oncewall/oncewall/filter/rules"
	"github.com/oncewall/oncewall/filter/wire"
)

// asked is a request with Envoy's attributes, by their paths joined by dots.
type asked struct {
	headers
	attributes map[string]string
}

func (a asked) Property(path ...string) (string, bool) {
	v, ok := a.attributes[strings.Join(path, ".")]
	return v, ok
}

// ask makes a request of "name: value" lines; "@path: value" is an attribute.
func ask(lines ...string) asked {
	a := asked{attributes: map[string]string{}}
	for _, l := range lines {
		name, value, _ := strings.Cut(l, ": ")
		if path, ok := strings.CutPrefix(name, "@"); ok {
			a.attributes[path] = value
		} else {
			a.lines = append(a.lines, wire.HeaderLine{Name: name, Value: value})
		}
	}
	return a
}

// oneRule parses a configuration of one rule, met by POST /a/{id}/{part} unless
// it says otherwise.
func oneRule(t testing.TB, members string) *rules.Config {
	t.Helper()
	if !strings.Contains(members, `"match"`) {
		members = `"match": {"path": {"template": "/a/{id}/{part}"}}, ` + members
	}
	if !strings.Contains(members, `"principal"`) {
		members += `, "principal": "anonymous"`
	}
	cfg, err := rules.Parse(fmt.Appendf(nil, `{"namespace": "e", "bridge": {"cluster": "b"}, "envoy": {"allow_on_headers_stop_iteration": true},
		"rules": [{"name": "r", %s, "upstream_timeout": "5s", "recovery": {"action": "hold"}, "unavailable": "reject"}]}`, members))
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

const (
	claims = "@metadata.filter_metadata.envoy.filters.http.jwt_authn.payload"
	form   = "content-type: application/x-www-form-urlencoded"
)

// TestKeys reads keys of every kind of source. A want with a space is a code.
func TestKeys(t *testing.T) {
	const uuid = "8E03978E-40d5-43dd-bc93-6894a57f9324"
	for _, test := range []struct {
		name, key string // key is the rule's from, or its whole key block in braces
		path      string
		lines     []string
		body      string
		want      string
	}{
		{"header", `[{"header": "k"}]`, "/a/1/2", []string{"k: x"}, "", "x"},
		{"header twice", `[{"header": "k"}]`, "/a/1/2", []string{"k: x", "k: x"}, "", "key-invalid: The key was sent more than once."},
		{"compressed body", `[{"json": "/k"}]`, "/a/1/2", []string{"content-encoding: gzip"}, gzipped(`{"k":"x"}`, 9), "key-invalid: The body that holds the key is compressed."},
		{"compressed form", `[{"form": "k"}, {"header": "k"}]`, "/a/1/2", []string{form, "content-encoding: br", "k: x"}, "\x0b\x01", "key-invalid: The body that holds the key is compressed."},
		{"not compressed after all", `[{"json": "/k"}]`, "/a/1/2", []string{"content-encoding: Identity"}, `{"k":"x"}`, "x"},
		{"UTF-16", `[{"json": "/k"}]`, "/a/1/2", nil, "\xff\xfe{\x00}\x00", "key-invalid: The body that holds the key is not JSON."},
		{"byte order mark", `[{"json": "/k"}]`, "/a/1/2", nil, "\ufeff{\"k\":\"x\"}", "key-invalid: The body that holds the key is not JSON."},
		{"garbage", `[{"json": "/k"}]`, "/a/1/2", nil, "k=x", "key-invalid: The body that holds the key is not JSON."},
		{"absent", `[{"header": "k"}]`, "/a/1/2", nil, "", "key-missing"},
		{"query", `[{"query": "k"}]`, "/a/1/2?j=1&k=a%2Bb+c&l", nil, "", "a+b c"},
		{"query, decoded once", `[{"query": "k"}]`, "/a/1/2?k=%2541", nil, "", "%41"},
		{"encoded name", `[{"query": "k"}]`, "/a/1/2?%6b=x", nil, "", "x"},
		{"no query", `[{"query": "k"}]`, "/a/1/2", nil, "", "key-missing"},
		{"query empty", `[{"query": "k"}]`, "/a/1/2?k=", nil, "", "key-invalid: The key is empty."},
		{"query without value", `[{"query": "k"}]`, "/a/1/2?k", nil, "", "key-invalid"},
		{"query twice", `[{"query": "k"}]`, "/a/1/2?k=x&k=x", nil, "", "key-invalid: The member that holds the key occurs more than once, or in another case."},
		{"query in two cases", `[{"query": "k"}]`, "/a/1/2?k=x&K=x", nil, "", "key-invalid: The member that holds the key occurs more than once, or in another case."},
		{"query as a list", `[{"query": "k"}]`, "/a/1/2?k=x&k[]=x", nil, "", "key-invalid: The member that holds the key occurs more than once, or in another case."},
		{"query with a semicolon", `[{"query": "k"}]`, "/a/1/2?j=1;k=x", nil, "", "key-invalid: The query or form that holds the key can be read in more than one way."},
		{"query badly encoded", `[{"query": "k"}]`, "/a/1/2?k=%4", nil, "", "key-invalid: The query or form that holds the key can be read in more than one way."},
		{"control byte", `[{"query": "k"}]`, "/a/1/2?k=a%0Ab", nil, "", "key-invalid"},
		{"not UTF-8", `[{"query": "k"}]`, "/a/1/2?k=%ff", nil, "", "key-invalid"},
		{"cookie", `[{"cookie": "order"}]`, "/a/1/2", []string{"cookie: a=1; order=x"}, "", "x"},
		{"cookie twice", `[{"cookie": "order"}]`, "/a/1/2", []string{"cookie: order=x", "cookie: order=x"}, "", "key-invalid: The key was sent more than once."},
		{"segment", `[{"path": 2}]`, "/a/1%20b/2", nil, "", "1 b"},
		{"variable", `[{"path": "part"}]`, "/a/1/2?x", nil, "", "2"},
		{"two readings", `[{"path": "part"}]`, "/a/1//2", nil, "", "key-invalid: The path that holds the key can be read in more than one way."},
		{"encoded slash", `[{"path": "id"}]`, "/a/1%2f3/2", nil, "", "key-invalid: The path that holds the key can be read in more than one way."},
		{"claim", `[{"jwt_claim": "jti", "issuer": "i"}]`, "/a/1/2", []string{claims + ".iss: i", claims + ".jti: x"}, "", "x"},
		{"claim of a stranger", `[{"jwt_claim": "jti", "issuer": "i"}]`, "/a/1/2", []string{claims + ".iss: j", claims + ".jti: x"}, "", "key-missing"},
		{"claim that is a number", `[{"jwt_claim": "jti", "issuer": "i"}]`, "/a/1/2", []string{claims + ".iss: i", claims + ".jti: \x00\x00\x00\x00\x00\x00\x45\x40"}, "", "key-invalid"},
		{"claim in another payload", `[{"jwt_claim": "a.b", "issuer": "i", "payload": "p"}]`, "/a/1/2",
			[]string{"@metadata.filter_metadata.envoy.filters.http.jwt_authn.p.iss: i", "@metadata.filter_metadata.envoy.filters.http.jwt_authn.p.a.b: x"}, "", "x"},
		{"form", `[{"form": "id"}]`, "/a/1/2", []string{form}, "a=1&id=x+y", "x y"},
		{"form of a charset", `[{"form": "id"}]`, "/a/1/2", []string{form + "; charset=UTF-8"}, "id=x", "x"},
		{"form of another type", `[{"form": "id"}]`, "/a/1/2", []string{"content-type: text/plain"}, "id=x", "key-missing"},
		{"form twice", `[{"form": "id"}]`, "/a/1/2", []string{form}, "id=x&ID=x", "key-invalid: The member that holds the key occurs more than once, or in another case."},
		{"form or JSON: form", `[{"json": "/id"}, {"form": "id"}]`, "/a/1/2", []string{form}, "id=x", "x"},
		{"form or JSON: JSON", `[{"json": "/id"}, {"form": "id"}]`, "/a/1/2", nil, `{"id": "y"}`, "y"},
		{"JSON alone, of a form", `[{"json": "/id"}]`, "/a/1/2", []string{form}, "id=x", "key-invalid"},
		{"first that is present", `[{"query": "k"}, {"header": "k"}, {"cookie": "k"}]`, "/a/1/2", []string{"k: h", "cookie: k=c"}, "", "h"},
		{"an invalid one is not passed over", `[{"query": "k"}, {"header": "k"}]`, "/a/1/2?k=", []string{"k: h"}, "", "key-invalid: The key is empty."},
		{"behind a body", `[{"json": "/id"}, {"cookie": "k"}]`, "/a/1/2", []string{"cookie: k=c"}, `{}`, "c"},
		{"invalid behind a body that has one", `[{"json": "/id"}, {"cookie": "k"}]`, "/a/1/2", []string{"cookie: k=c; k=d"}, `{"id": 7}`, "7"},
		{"all", `[{"all": [{"path": "id"}, {"header": "k"}, {"query": "q"}]}]`, "/a/1:%25/2?q=%25", []string{"k: x"}, "", "1%3A%25:x:%25"},
		{"all, one in the body", `[{"all": [{"path": "id"}, {"json": ["/a", "/b"]}]}]`, "/a/1/2", nil, `{"a":"x","b":2}`, "1:x:2"},
		{"not all", `[{"all": [{"path": "id"}, {"header": "k"}]}, {"header": "j"}]`, "/a/1/2", []string{"j: y"}, "", "y"},
		{"one of all invalid", `[{"all": [{"path": "id"}, {"header": "k"}]}]`, "/a/1/2", []string{"k: a,b"}, "", "key-invalid: A list of keys was sent."},
		{"UUID", `{"from": [{"header": "k"}], "format": "uuid"}`, "/a/1/2", []string{"k: " + uuid}, "", strings.ToLower(uuid)},
		{"no UUID", `{"from": [{"header": "k"}], "format": "uuid"}`, "/a/1/2", []string{"k: x"}, "", "key-invalid: The key must be a UUID of an allowed version."},
		{"UUID of another version", `{"from": [{"header": "k"}], "format": "uuid", "uuid_versions": [7]}`, "/a/1/2", []string{"k: " + uuid}, "", "key-invalid: The key must be a UUID of an allowed version."},
		{"short", `{"from": [{"header": "k"}], "min_length": 3}`, "/a/1/2", []string{"k: xy"}, "", "key-invalid: The key is too short."},
		{"long", `{"from": [{"query": "k"}], "max_length": 3}`, "/a/1/2?k=wxyz", nil, "", "key-invalid: The key is too long."},
		{"alphabet", `{"from": [{"header": "k"}], "alphabet": "a-z"}`, "/a/1/2", []string{"k: xY"}, "", "key-invalid: The key has a character that is not allowed here."},
		{"weak", `{"from": [{"header": "k"}], "min_entropy_bits": 64}`, "/a/1/2", []string{"k: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}, "", "key-invalid: The key is too easy to guess."},
		{"optional", `{"from": [{"query": "k"}], "required": false}`, "/a/1/2", nil, "", "passes"},
		{"optional and invalid", `{"from": [{"query": "k"}], "required": false}`, "/a/1/2?k=", nil, "", "key-invalid: The key is empty."},
	} {
		t.Run(test.name, func(t *testing.T) {
			key := test.key
			if key[0] == '[' {
				key = `{"from": ` + key + `}`
			}
			cfg := oneRule(t, `"key": `+key)
			x := Explain(cfg, "POST", test.path, ask(test.lines...), []byte(test.body))
			got := x.Key
			switch x.Verdict {
			case PassesKeyless:
				got = "passes"
			case Refused:
				got = string(x.Reply.code())
				if _, reason, ok := strings.Cut(string(x.Reply.Body), " within the allowed length. "); ok {
					reason, _, _ = strings.Cut(reason, `"`)
					got += ": " + reason
				}
			}
			if got != test.want && !strings.HasPrefix(got, test.want+": ") {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
