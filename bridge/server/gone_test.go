package server

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/filter/wire"
)

// kindsOf serves one batch with an operation of each kind over a context that
// ends as given, and returns the kinds that reached the store.
func kindsOf(t *testing.T, ctx context.Context, stalled bool) (kinds []wire.Kind) {
	st := &stub{do: func(_ context.Context, ops []store.Operation) []store.Reply {
		replies := make([]store.Reply, len(ops))
		for i := range ops {
			kinds = append(kinds, ops[i].Kind)
			replies[i].Code = wire.OK
		}
		return replies
	}}
	s, err := New(Config{Store: st, Keys: testRing(t), Secrets: [][]byte{[]byte(testSecret)}})
	if err != nil {
		t.Fatal(err)
	}
	if stalled {
		s.start = time.Now().Add(-time.Hour)
		s.heart.last.Store(int64(time.Minute))
	}
	batch := &wire.Batch{Namespace: "edge", Policies: []wire.Policy{testPolicy()}, Ops: []wire.Operation{
		testOp(wire.Claim, 1), testOp(wire.Complete, 2), testOp(wire.Renew, 3), testOp(wire.Release, 4), testOp(wire.Unknown, 5),
	}}
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, wire.BatchPath, bytes.NewReader(encode(t, batch)))
	r.Header.Set("Authorization", "Bearer "+testSecret)
	r.Header.Set("Content-Type", wire.ContentType)
	s.DataHandler().ServeHTTP(httptest.NewRecorder(), r)
	return kinds
}

// TestClaimsOfAGoneFilter: of a batch that the filter has given up, claims are
// dropped and settling operations are carried out. After a stall the word that
// it was given up may come a little later than the batch.
func TestClaimsOfAGoneFilter(t *testing.T) {
	settling := []wire.Kind{wire.Complete, wire.Release, wire.Unknown}
	canceled, cancel := context.WithCancel(context.Background())
	cancel()
	if got := kindsOf(t, canceled, false); !slices.Equal(got, settling) {
		t.Errorf("given up: carried out %v, want %v", got, settling)
	}
	soon, cancel := context.WithCancel(context.Background())
	defer cancel()
	time.AfterFunc(stallPatience/10, cancel)
	if got := kindsOf(t, soon, true); !slices.Equal(got, settling) {
		t.Errorf("given up after a stall: carried out %v, want %v", got, settling)
	}
	if got := kindsOf(t, context.Background(), true); len(got) != 5 {
		t.Errorf("a batch that is wanted, after a stall: carried out %v, want all", got)
	}
}
