package admin_test

import (
	"strings"
	"testing"

	"github.com/oncewall/oncewall/client/api"
	"github.com/oncewall/oncewall/testenv/apitest"
)

// A result is one that the gateway can replay, or it is refused, whoever hands it
// in: the record would be final, and every repeat response-not-kept.
func TestResultsThatCanBeReplayed(t *testing.T) {
	c := start(t)
	decide := func(r api.Result) api.Resolve {
		return api.Resolve{Subject: subject(), Fence: 1, Action: "complete", Reason: "r", Result: &r}
	}
	line := func(name, value string) api.Result {
		return api.Result{Status: 200, Headers: []api.Header{{Name: name, Value: value}}}
	}
	for _, r := range []api.Result{
		{Status: 600}, {Status: 999}, {Status: 204, Body: []byte("b")}, {Status: 205, Body: []byte("b")}, {Status: 304, Body: []byte("b")},
		line(":status", "200"), line("a b", "c"), line("é", "c"), line("x-a", "b\r\nx-b: c"), line("x-a", "\x00"), line("x-a", "\x7f"),
		line("Connection", "close"), line("transfer-encoding", "chunked"), line("content-length", "3"), line("Date", "today"),
		line("Idempotency-Status", "created"), line("idempotent-replayed", "true"), line("set-cookie", "secret"), line("X-Envoy-Foo", "1"),
		line("access-control-allow-origin", "*"), line("x-a", strings.Repeat("v", 64<<10)),
		{Status: 200, Headers: make([]api.Header, 901)},
	} {
		for i := range r.Headers {
			if len(r.Headers) > 1 {
				r.Headers[i].Name = "x-a"
			}
		}
		for _, a := range []*answer{
			c.want(c.post(apitest.Operator, api.PathResolve, decide(r)), 400, "invalid"),
			c.want(c.post(apitest.Consumer, api.PathComplete, api.Complete{Key: key('a'), Fence: 1, Result: r}), 400, "invalid"),
		} {
			if d, _ := a.doc["detail"].(string); !strings.HasPrefix(d, "result.") || strings.Contains(d, "secret") {
				t.Errorf("%+v: %q", r, d)
			}
		}
	}
	// Names are the gateway's: in lower case. Nothing was recorded above.
	fence := c.want(c.claim('a'), 200, "created").number("fence")
	c.Store.Advance(2 * 60_000_000_000)
	good := decide(api.Result{Status: 201, Headers: []api.Header{{Name: "Content-Type", Value: " text/plain\t"}}, Body: []byte("told")})
	good.Fence = uint64(fence)
	c.want(c.post(apitest.Operator, api.PathResolve, good), 200, "resolved")
	r := c.want(c.claim('b'), 200, "replayed")
	result, _ := r.doc["result"].(map[string]any)
	headers, _ := result["headers"].([]any)
	if len(headers) != 1 || headers[0].(map[string]any)["name"] != "content-type" || headers[0].(map[string]any)["value"] != "text/plain" {
		t.Errorf("%s", r.text)
	}
}
