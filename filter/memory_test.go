package filter

import (
	"crypto/sha256"
	"testing"

	"github.com/oncewall/oncewall/filter/wire"
)

// A record of before a change of the rule's fingerprint conflicts with no body.
// What the worker remembers of it is what one repeat asked for: another repeat is
// judged by the bridge, and not told that the key was reused.
func TestMemoryOfAnEarlierConfiguration(t *testing.T) {
	g := newRig(t, true)
	s := g.first("/orders", "k", `{"a":1}`, "done")
	r := g.records[recordKey(s.core)]
	r.fp = wire.AppendPart(bytesOfParts(r.fp, wire.PartMethod, wire.PartTarget), wire.PartBody, wire.AlgorithmConfigured, sha256.Sum256(nil))

	// A worker that has just been configured.
	fresh := newRig(t, true)
	fresh.records = g.records
	for i, body := range []string{`{"a":2}`, `{"a":1}`, `{"a":1}`, `{"a":2}`} {
		s := fresh.open("POST", "/orders", "k", false)
		fresh.body(s, body, true)
		if asked := len(fresh.flights) > 0; asked == (i == 2) {
			t.Errorf("repeat %d: asks the bridge: %t", i, asked)
		}
		fresh.answerAll()
		if len(s.replies) != 1 || s.replies[0].header(HeaderStatus) != string(CodeReplayed) {
			t.Fatalf("repeat %d: %+v", i, s.replies)
		}
		fresh.finish(s, Trail{})
	}
	// The target is made as ever, and is compared.
	other := fresh.open("POST", "/orders?x=1", "k", false)
	fresh.body(other, `{"a":1}`, true)
	fresh.answerAll()
	if len(other.replies) != 1 || other.replies[0].header(HeaderStatus) != string(CodeKeyReused) {
		t.Errorf("another target: %+v", other.replies)
	}
	// A worker knows the fingerprint of what it completed itself.
	own := g.open("POST", "/orders", "k", false)
	g.body(own, `{"a":2}`, true)
	if len(g.flights) > 0 || len(own.replies) != 1 || own.replies[0].header(HeaderStatus) != string(CodeKeyReused) {
		t.Errorf("its own: %d flights, %+v", len(g.flights), own.replies)
	}
}

// bytesOfParts is a fingerprint with some parts of another.
func bytesOfParts(fp []byte, ids ...wire.PartID) []byte {
	out := []byte{wire.FingerprintVersion}
	for p := range wire.Parts(fp) {
		for _, id := range ids {
			if p.ID == id {
				out = wire.AppendPart(out, id, p.Algorithm, [wire.DigestBytes]byte(p.Digest))
			}
		}
	}
	return out
}
