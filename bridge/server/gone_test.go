package server

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/filter/wire"
)

// TestClaimsOfAGoneFilter: of a batch that the filter has given up, claims are
// dropped and settling operations are carried out.
func TestClaimsOfAGoneFilter(t *testing.T) {
	var kinds []wire.Kind
	b := start(t, &stub{do: func(_ context.Context, ops []store.Operation) []store.Reply {
		replies := make([]store.Reply, len(ops))
		for i := range ops {
			kinds = append(kinds, ops[i].Kind)
			replies[i].Code = wire.OK
		}
		return replies
	}})
	batch := &wire.Batch{Namespace: "edge", Policies: []wire.Policy{testPolicy()}, Ops: []wire.Operation{
		testOp(wire.Claim, 1), testOp(wire.Complete, 2), testOp(wire.Renew, 3), testOp(wire.Release, 4), testOp(wire.Unknown, 5),
	}}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, wire.BatchPath, bytes.NewReader(encode(t, batch)))
	r.Header.Set("Authorization", "Bearer "+testSecret)
	r.Header.Set("Content-Type", wire.ContentType)
	b.DataHandler().ServeHTTP(httptest.NewRecorder(), r)
	if want := []wire.Kind{wire.Complete, wire.Release, wire.Unknown}; !slices.Equal(kinds, want) {
		t.Errorf("carried out %v, want %v", kinds, want)
	}
}
