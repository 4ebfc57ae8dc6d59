package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	probed = "testdata/plugin.json"
	places = "testdata/places.json"
)

func TestExplain(t *testing.T) {
	body := filepath.Join(t.TempDir(), "body")
	if err := os.WriteFile(body, []byte("{\"transfer_id\":\n\"t-1\"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ann := []string{"-H", "X-User-Id: ann"}
	for name, args := range map[string][]string{
		"explain-claims": append(ann, probed, "-XPOST", "https://shop.example/orders/?b=2&a=1", "-H", `Idempotency-Key: "k-1"`,
			"-H", "X-Shop: eu", "-H", "Idempotency-Fence: 7", "-d", `{"item": 1.0}`),
		"explain-json": append(ann, probed, "-XPOST", "https://shop.example/orders/?b=2&a=1", "-H", `Idempotency-Key: "k-1"`,
			"-H", "X-Shop: eu", "-H", "Idempotency-Fence: 7", "-d", `{"item": 1.0}`, "-json"),
		"explain-not-json":       append(ann, probed, "/orders", "-HIdempotency-Key:k", "-da=1", "-d", "b=2"),
		"explain-refused":        append(ann, probed, "-X", "POST", "/orders", "-H", "Idempotency-Key: a, b"),
		"explain-spelling":       append(ann, probed, "-X", "POST", "/orders//%70ing", "-H", "Idempotency-Key: k"),
		"explain-keyless":        append(ann, probed, "-X", "PUT", "http://shop.example"),
		"explain-get":            {probed, "/orders"},
		"explain-off":            {probed, "-X", "POST", "/orders/ping"},
		"explain-claim":          {probed, "-X", "POST", "/payments#x", "--claim", "iss=https://id.example", "--claim", "org.id=acme", "-H", "idempotency-key: k"},
		"explain-stranger":       {probed, "-X", "POST", "/payments", "--claim", "iss=https://evil.example", "--claim", "org.id=acme", "-H", "idempotency-key: k"},
		"explain-body":           append(ann, probed, "/transfers", "-d", "@"+body),
		"explain-issued":         append(ann, probed, "-X", "POST", "/checkout", "-H", "idempotency-key: made-up"),
		"explain-lookup":         append(ann, "-X", "GET", probed, "/idempotency-keys/k-1?scope=orders"),
		"explain-issue":          append(ann, probed, "/idempotency-keys", "-d", `{"scope":"checkout"}`),
		"explain-places":         {places, "-X", "POST", "/shops/7/items?n=1", "--certificate", "uri_san=spiffe://prod/a"},
		"explain-form":           {places, "/shops/7/items", "--certificate", "uri_san=spiffe://prod/a", "-d", "id=x1"},
		"explain-two-rules":      {places, "-X", "POST", "/shops/;x/items?n=1"},
		"explain-tenant":         {places, "-X", "POST", "https://a.tenant.example/x", "-H", "x-beta: no", "--claim", "iss=https://id.example", "--claim", "sub=ann"},
		"explain-routed":         {places, "-X", "POST", "/x", "--route", "rule=routed", "--claim", "iss=https://id.example", "--claim", "sub=ann", "--claim", "jti=t1"},
		"explain-route-off":      {places, "-X", "POST", "/shops/7/items", "--route", "mode=off"},
		"explain-misrouted":      {places, "-X", "POST", "/x", "--route", "rule=gone"},
		"explain-foreign-domain": {places, "-X", "POST", "/shops/7/items?n=1", "--certificate", "uri_san=spiffe://test/a"},
		"explain-no-scope":       append(ann, probed, "/idempotency-keys", "-d", `{"scope":"orders"}`),
	} {
		t.Run(name, func(t *testing.T) { golden(t, name, exitOK, append([]string{"explain"}, args...), nil) })
	}
}

func TestExplainUsage(t *testing.T) {
	broken := write(t, "broken.json", `{"namespace":"edge","rules":[{"nam":"x"}]}`)
	for args, want := range map[string]struct {
		code int
		text string
	}{
		"":                               {exitUsage, "usage: oncewall explain"},
		probed:                           {exitUsage, "usage: oncewall explain"},
		probed + " /a /b":                {exitUsage, "usage: oncewall explain"},
		probed + " a":                    {exitUsage, `URL "a": must begin`},
		probed + " /a -H x":              {exitUsage, "must be \"name: value\""},
		probed + " /a -d @/nowhere":      {exitUsage, "/nowhere"},
		probed + " /a --claim x":         {exitUsage, "must be NAME=VALUE"},
		probed + " /a --route x=y":       {exitUsage, "must be rule=NAME or mode=off"},
		probed + " /a --certificate x=y": {exitUsage, "must be uri_san"},
		probed + " /a --nope":            {exitUsage, "not defined"},
		"/nowhere /a":                    {exitFailed, "/nowhere: open /nowhere"},
		broken + " /a":                   {exitFailed, "broken.json: config: bridge is required"},
		"-h":                             {exitOK, "-data-binary"},
	} {
		var out bytes.Buffer
		if code := run(append([]string{"explain"}, strings.Fields(args)...), nil, &out, &out); code != want.code || !strings.Contains(out.String(), want.text) {
			t.Errorf("%q: code %d, want %d, %q in: %s", args, code, want.code, want.text, out.String())
		}
	}
}

// TestExplainBodies follows curl: -d drops line breaks of a file, --data-binary
// does not, a header without a value is not sent, one with ";" is sent empty.
func TestExplainBodies(t *testing.T) {
	file := filepath.Join(t.TempDir(), "body")
	if err := os.WriteFile(file, []byte("a\r\nb\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var p probe
	for _, err := range []error{p.addBody("@"+file, true), p.addBody("@"+file, false), p.addHeader("x-none:"), p.addHeader("X-Empty;"), p.finish("http://h?q")} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if string(p.body) != "ab&a\r\nb\n" || p.path != "/?q" || p.target != "h" || p.method != "POST" {
		t.Errorf("%q %q %q %q", p.body, p.path, p.target, p.method)
	}
	v := p.view()
	if v.Header("x-none") != nil || len(v.Header("x-empty")) != 1 || v.Header("content-length")[0] != "8" {
		t.Errorf("lines %q", p.lines)
	}
}
