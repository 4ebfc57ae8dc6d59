package admin_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/oncewall/oncewall/bridge/admin"
	"github.com/oncewall/oncewall/client/api"
	"github.com/oncewall/oncewall/filter/wire"
	"github.com/oncewall/oncewall/testenv/apitest"
)

// recorder is a server that keeps what it is asked, and grants everything.
type recorder struct {
	admin.Server
	batch *wire.Batch
}

func (r *recorder) Execute(_ context.Context, b *wire.Batch) []wire.Result {
	r.batch = b
	return []wire.Result{{Code: wire.Created}}
}

// TestTraceOfRequest: a sampled request's traceparent goes with its operation, and
// nothing else does.
func TestTraceOfRequest(t *testing.T) {
	const trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	r := &recorder{}
	a, err := admin.New(admin.Config{Server: r, Callers: []admin.Caller{{
		ID: "jobs", Secret: []byte(apitest.Consumer), Allow: []admin.Place{{Namespace: "jobs", Scope: "*"}},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	post := func(path string, document any, lines ...string) string {
		t.Helper()
		body, err := json.Marshal(document)
		if err != nil {
			t.Fatal(err)
		}
		q := httptest.NewRequest(http.MethodPost, path, bytes.NewReader(body))
		q.Header.Set("Content-Type", "application/json")
		q.Header.Set("Authorization", "Bearer "+apitest.Consumer)
		q.Header["Traceparent"] = lines
		w := httptest.NewRecorder()
		if a.Consumers().ServeHTTP(w, q); w.Code != http.StatusOK {
			t.Fatalf("%s: %d: %s", path, w.Code, w.Body)
		}
		return r.batch.Ops[0].Trace
	}
	claim := api.Claim{Key: key('a')}
	for what, c := range map[string]struct {
		lines []string
		want  string
	}{
		"sampled":   {[]string{trace}, trace},
		"none":      {nil, ""},
		"unsampled": {[]string{trace[:53] + "00"}, ""},
		"twice":     {[]string{trace, trace}, ""},
		"malformed": {[]string{"key-4711"}, ""},
	} {
		if got := post(api.PathClaim, claim, c.lines...); got != c.want {
			t.Errorf("%s: %q, want %q", what, got, c.want)
		}
	}
	if got := post(api.PathRelease, api.Settle{Key: key('a'), Fence: 1}, trace); got != trace {
		t.Errorf("release: %q", got)
	}
	if got := post(api.PathRenew, api.Settle{Key: key('a'), Fence: 1}, trace); got != "" {
		t.Errorf("renew: %q: a renewal is worth no span", got)
	}
}
