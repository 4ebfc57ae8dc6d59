package shop

import (
	"net/http"
	"reflect"
	"strings"
	"testing"
)

func logged(l *log, serial int64, key, tag string) *execution {
	e := &execution{serial: serial, key: key, tag: tag}
	l.begin(e)
	return e
}

func TestLogForgetsTheOldest(t *testing.T) {
	l := newLog(3, 1<<20)
	for i := int64(1); i <= 5; i++ {
		logged(l, i, "k", "t")
	}
	found, forgotten := l.find("k", "t")
	if len(found) != 3 || found[0].serial != 3 || forgotten != 2 {
		t.Errorf("found %d, forgotten %d", len(found), forgotten)
	}
	for i := int64(6); i <= 8; i++ {
		logged(l, i, "other", "")
	}
	if len(l.byKey) != 1 || len(l.byTag) != 0 {
		t.Errorf("indexes keep what is forgotten: %v, %v", l.byKey, l.byTag)
	}
}

func TestLogIsBoundedByBytes(t *testing.T) {
	l := newLog(1000, 10*executionBytes)
	e := logged(l, 1, "", "")
	l.bodyRead(e, strings.Repeat("k", 9*executionBytes), "", "", true)
	logged(l, 2, "", "")
	if len(l.queue) != 1 || l.bytes != executionBytes {
		t.Errorf("%d kept, %d bytes: a key from the body is not counted", len(l.queue), l.bytes)
	}
}

func TestLogDoesNotIndexWhatItForgot(t *testing.T) {
	l := newLog(1, 1<<20)
	for _, forget := range []func(){func() { logged(l, 2, "", "") }, l.reset} {
		e := logged(l, 1, "", "")
		forget()
		l.bodyRead(e, "late", "", "", true)
		if found, _ := l.find("late", ""); len(found) != 0 {
			t.Errorf("found %v", found)
		}
	}
}

func TestPackHeader(t *testing.T) {
	h := http.Header{"A": {"1", ""}, "B-C": {"x: y"}}
	got := unpackHeader(packHeader(h, "host", "shop"))
	want := map[string][]string{"a": {"1", ""}, "b-c": {"x: y"}, "host": {"shop"}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestHeaderKey(t *testing.T) {
	for line, want := range map[string]string{
		"": "", "k": "k", " k ": "k", `"k"`: "k", `"a\"b\\c"`: `a"b\c`, `"k";v=1`: "k", `"open`: `"open`, `"`: `"`, `""`: "",
	} {
		if got := headerKey(http.Header{"Idempotency-Key": {line}}); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

func TestBodyKey(t *testing.T) {
	for _, c := range []struct{ route, body, want string }{
		{"/transfers", `{"transfer_id":"t\u0031"}`, "t1"},
		{"/transfers", `{"transfer_id":12345678901234567890}`, "12345678901234567890"},
		{"/transfers", `{"transfer_id":{}}`, ""},
		{"/transfers", `[`, ""},
		{"/callbacks/psp", `{"type":"paid","id":"7"}`, "paid:7"},
		{"/callbacks/psp", `{"type":"paid"}`, ""},
	} {
		if got := bodyKey(c.route, []byte(c.body)); got != c.want {
			t.Errorf("%s %s: %q, want %q", c.route, c.body, got, c.want)
		}
	}
}

func TestRouteOf(t *testing.T) {
	for path, want := range map[string]string{
		"/orders": "/orders", "/orders/7": "/orders", "/ordersx": "/", "/callbacks/psp/x": "/callbacks/psp", "/callbacks": "/", "//orders": "/",
	} {
		if got := routeOf(path); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}
