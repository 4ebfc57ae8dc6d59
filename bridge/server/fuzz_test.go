package server

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/filter/wire"
)

// FuzzBatch: no body makes the handler panic, answer without the stamp, with
// another number of results, or hand the store an operation out of bounds.
func FuzzBatch(f *testing.F) {
	full := testOp(wire.Complete, 1)
	batch := &wire.Batch{Namespace: "edge", Policies: []wire.Policy{testPolicy()},
		Ops: []wire.Operation{testOp(wire.Claim, 1), testOp(wire.Issue, 1), full}}
	f.Add(encode(f, batch))
	batch.Policies[0].Issued = true
	f.Add(encode(f, batch))
	f.Add([]byte{wire.Version})
	f.Add([]byte{wire.Version, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f})
	f.Add([]byte{})
	s, err := New(Config{Keys: testRing(f), Store: &stub{do: checked(f)}})
	if err != nil {
		f.Fatal(err)
	}
	h := s.DataHandler()
	f.Fuzz(func(t *testing.T, body []byte) {
		r := httptest.NewRequest(http.MethodPost, wire.BatchPath, bytes.NewReader(body))
		r.Header.Set("Content-Type", wire.ContentType)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Header().Get(wire.StampHeader) == "" {
			t.Fatal("no stamp")
		}
		switch w.Code {
		case http.StatusOK:
			var sent wire.Batch
			var answer wire.Answer
			if err := wire.DecodeBatch(body, &sent); err != nil {
				t.Fatalf("200 to what is no batch: %v", err)
			}
			if err := wire.DecodeAnswer(w.Body.Bytes(), &answer); err != nil {
				t.Fatal(err)
			}
			if len(answer.Results) != len(sent.Ops) {
				t.Fatalf("%d results to %d operations", len(answer.Results), len(sent.Ops))
			}
		case http.StatusBadRequest:
		default:
			t.Fatalf("status %d", w.Code)
		}
	})
}

// checked is a store that fails the test for an operation which the server had
// to stop.
func checked(t testing.TB) func(context.Context, []store.Operation) []store.Reply {
	all := answering(store.Reply{Code: wire.OK})
	return func(ctx context.Context, ops []store.Operation) []store.Reply {
		for _, op := range ops {
			owned := len(op.Owner) == wire.OwnerBytes || op.Kind == wire.Issue && op.Owner == nil
			if !owned || op.Policy == nil || op.Policy.LeaseMS < 1 || op.Fence > maxFence || op.Deadline.IsZero() {
				t.Errorf("the store was given %+v", op)
			}
		}
		return all.do(ctx, ops)
	}
}
