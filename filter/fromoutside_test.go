package filter

import (
	"strings"
	"testing"

	"github.com/oncewall/oncewall/filter/wire"
)

func TestCheckResponse(t *testing.T) {
	lines := func(n int, value string) (l []wire.HeaderLine) {
		for range n {
			l = append(l, wire.HeaderLine{Name: "x-a", Value: value})
		}
		return l
	}
	one := func(name, value string) []wire.HeaderLine { return []wire.HeaderLine{{Name: name, Value: value}} }
	for _, c := range []struct {
		r    wire.Response
		want string // "": it can be replayed
	}{
		{wire.Response{Status: 200, Headers: one("x-a", "\t\x80 b"), Body: []byte("b")}, ""},
		{wire.Response{Status: 599, Headers: lines(maxRecordedLines, "")}, ""},
		{wire.Response{Status: 204}, ""},
		{wire.Response{Status: 304, Headers: one("content-length", "7")}, ""},
		{wire.Response{Status: 199}, "status"},
		{wire.Response{Status: 600}, "status"},
		{wire.Response{Status: 204, Body: []byte("b")}, "body"},
		{wire.Response{Status: 205, Body: []byte("b")}, "body"},
		{wire.Response{Status: 304, Body: []byte("b")}, "body"},
		{wire.Response{Status: 200, Headers: lines(maxRecordedLines+1, "")}, "lines"},
		{wire.Response{Status: 200, Headers: lines(2, strings.Repeat("v", maxRecordedHeaderBytes/2))}, "bytes"},
		{wire.Response{Status: 200, Headers: one("X-A", "b")}, "lower case"},
		{wire.Response{Status: 200, Headers: one("", "b")}, "lower case"},
		{wire.Response{Status: 200, Headers: one(":status", "200")}, "lower case"},
		{wire.Response{Status: 200, Headers: one("x-a", "b\r\nx-b: c")}, "control"},
		{wire.Response{Status: 200, Headers: one("x-a", "\x00")}, "control"},
		{wire.Response{Status: 200, Headers: one("connection", "close")}, "never recorded"},
		{wire.Response{Status: 200, Headers: one("content-length", "7"), Body: []byte("b")}, "never recorded"},
		{wire.Response{Status: 200, Headers: one("idempotency-status", "created")}, "never recorded"},
	} {
		err := CheckResponse(&c.r)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%d, %d lines, %d bytes: %v, want %q", c.r.Status, len(c.r.Headers), len(c.r.Body), err, c.want)
		}
		b, encodes := wire.AppendResponse(nil, &c.r)
		if encodes != nil {
			t.Fatal(encodes)
		}
		if _, ok := decodeRecord(b); ok != (c.want == "") {
			t.Errorf("%d: the filter replays it: %t", c.r.Status, ok)
		}
	}
}

func TestNotFromOutside(t *testing.T) {
	for name, want := range map[string]bool{
		"content-type": false, "x-a": false, "etag": false, "location": false,
		"connection": true, "date": true, "set-cookie": true, "access-control-allow-origin": true,
		"idempotency-redacted": true, "idempotency-anything": true, "idempotent-replayed": true, "x-envoy-foo": true, "preference-applied": true,
	} {
		if got := NotFromOutside(name); got != want {
			t.Errorf("%s: %t, want %t", name, got, want)
		}
	}
}
