package server

import (
	"testing"

	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/filter/wire"
)

// TestAnswerIsBounded: results that do not fit into one answer are withheld.
// Their claims are not told that the store is away: some rules forward then, and
// the request would run twice.
func TestAnswerIsBounded(t *testing.T) {
	response, err := wire.AppendResponse(nil, &wire.Response{Status: 201, Body: make([]byte, 3<<20)})
	if err != nil {
		t.Fatal(err)
	}
	envelope, err := wire.AppendEnvelope(nil, wire.Envelope{Payload: response})
	if err != nil {
		t.Fatal(err)
	}
	b := start(t, answering(store.Reply{Code: wire.Replayed, Status: 201, Result: envelope}))
	ops := make([]wire.Operation, 8)
	for i := range ops {
		ops[i] = testOp(wire.Claim, byte(i))
	}
	var codes [2]int
	for i, r := range b.send(testPolicy(), ops...) {
		switch {
		case r.Code == wire.Replayed && len(r.Result) == len(response):
			codes[0]++
		case r.Code == wire.Replayed && r.Withheld && r.Result == nil:
			codes[1]++
		default:
			t.Errorf("result %d: code %d with %d bytes", i, r.Code, len(r.Result))
		}
	}
	if codes != [2]int{5, 3} {
		t.Errorf("%d replayed, %d withheld; want 5 and 3", codes[0], codes[1])
	}
}
