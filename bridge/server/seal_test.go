package server

import (
	"bytes"
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/oncewall/oncewall/bridge/seal"
	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/filter/wire"
)

// shelf is a store that keeps results by name and shows them to the test: what a
// thief of the store would read, and change.
type shelf struct {
	mu      sync.Mutex
	results map[store.Name][]byte
}

func newShelf() *shelf { return &shelf{results: map[store.Name][]byte{}} }

func (s *shelf) store() *stub {
	return &stub{do: func(_ context.Context, ops []store.Operation) []store.Reply {
		s.mu.Lock()
		defer s.mu.Unlock()
		replies := make([]store.Reply, len(ops))
		for i := range ops {
			switch op := &ops[i]; op.Kind {
			case wire.Complete:
				s.results[op.Name] = bytes.Clone(op.Result)
				replies[i] = store.Reply{Code: wire.OK}
			case wire.Claim:
				replies[i] = store.Reply{Code: wire.Replayed, Status: 201, Result: bytes.Clone(s.results[op.Name])}
			default:
				replies[i] = store.Reply{Code: wire.OK}
			}
		}
		return replies
	}}
}

// only returns the one result that there is, for change.
func (s *shelf) only(t *testing.T) (store.Name, []byte) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.results) != 1 {
		t.Fatalf("%d results, want 1", len(s.results))
	}
	for name, b := range s.results {
		return name, b
	}
	return store.Name{}, nil
}

func testSealer(t testing.TB, ids ...string) *seal.Sealer {
	t.Helper()
	var secrets []seal.Secret
	for _, id := range ids {
		secrets = append(secrets, seal.Secret{ID: id, Bytes: bytes.Repeat([]byte(id[:1]), seal.MinSecretBytes)})
	}
	s, err := seal.New(secrets...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// sealing returns a change of the configuration: a sealer over ids and the two
// switches of unsealed results.
func sealing(t testing.TB, write, refuse bool, ids ...string) func(*Config) {
	return func(c *Config) {
		if len(ids) > 0 {
			c.Sealer = testSealer(t, ids...)
		}
		c.WriteUnsealed, c.RefuseUnsealed = write, refuse
	}
}

// TestResultsAreSealed: with a sealer the store sees nothing of a response, and
// the filter all of it.
func TestResultsAreSealed(t *testing.T) {
	s := newShelf()
	b := start(t, s.store(), sealing(t, false, true, "k1"))
	expect(t, b.send(testPolicy(), testOp(wire.Complete, 1)), wire.OK)
	if _, stored := s.only(t); bytes.Contains(stored, []byte("ord-1")) || bytes.Contains(stored, []byte("application/json")) {
		t.Errorf("the store reads %q", stored)
	}
	got := b.send(testPolicy(), testOp(wire.Claim, 2))
	expect(t, got, wire.Replayed)
	if !bytes.Equal(got[0].Result, testResult()) {
		t.Errorf("result %q", got[0].Result)
	}
}

// TestUnreadableResults: whatever is wrong with a stored result, the answer is
// that the request was executed with this status and its response is not kept:
// never unavailable, which a rule may answer by forwarding.
func TestUnreadableResults(t *testing.T) {
	clear, err := wire.AppendEnvelope(nil, wire.Envelope{Payload: testResult()})
	if err != nil {
		t.Fatal(err)
	}
	none := func(*shelf, store.Name, []byte) []byte { return nil }
	for name, tc := range map[string]struct {
		reader func(*Config)
		spoil  func(s *shelf, name store.Name, stored []byte) []byte
		reason string
	}{
		"tampered": {sealing(t, false, false, "k1"), func(_ *shelf, _ store.Name, b []byte) []byte {
			b[len(b)-1] ^= 1
			return b
		}, "forged"},
		"of another record": {sealing(t, false, false, "k1"), func(_ *shelf, name store.Name, _ []byte) []byte {
			name[0] ^= 1
			b, err := testSealer(t, "k1").Seal(seal.Result, name, testResult())
			if err != nil {
				t.Error(err)
			}
			return b
		}, "forged"},
		"of another purpose": {sealing(t, false, false, "k1"), func(_ *shelf, name store.Name, _ []byte) []byte {
			b, err := testSealer(t, "k1").Seal(seal.Identity, name, testResult())
			if err != nil {
				t.Error(err)
			}
			return b
		}, "forged"},
		"key gone":          {sealing(t, false, false, "z9"), func(_ *shelf, _ store.Name, b []byte) []byte { return b }, "unknown-key"},
		"sealing gone":      {func(*Config) {}, func(_ *shelf, _ store.Name, b []byte) []byte { return b }, "unknown-key"},
		"in clear, refused": {sealing(t, false, true, "k1"), func(*shelf, store.Name, []byte) []byte { return clear }, "unsealed"},
		"nothing":           {sealing(t, false, false, "k1"), none, "malformed"},
		"another version":   {sealing(t, false, false, "k1"), func(*shelf, store.Name, []byte) []byte { return []byte{9, 0, 0, 1} }, "malformed"},
		"no response in it": {sealing(t, false, false, "k1"), func(_ *shelf, name store.Name, _ []byte) []byte {
			b, err := testSealer(t, "k1").Seal(seal.Result, name, []byte("\xffnonsense"))
			if err != nil {
				t.Error(err)
			}
			return b
		}, "malformed"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShelf()
			expect(t, start(t, s.store(), sealing(t, false, false, "k1")).send(testPolicy(), testOp(wire.Complete, 1)), wire.OK)
			at, stored := s.only(t)
			s.results[at] = tc.spoil(s, at, stored)
			reader := start(t, s.store(), tc.reader)
			for range 3 {
				got := reader.send(testPolicy(), testOp(wire.Claim, 2))
				expect(t, got, wire.ResponseNotKept)
				if got[0].Status != 201 || got[0].Result != nil {
					t.Errorf("%+v", got[0])
				}
			}
			_, metrics := reader.get("/metrics")
			if want := `oncewall_bridge_unreadable_results_total{reason="` + tc.reason + `"} 3`; !strings.Contains(metrics, want) {
				t.Errorf("no %s", want)
			}
			if n := strings.Count(reader.logs.String(), "recorded results do not open"); n != 1 {
				t.Errorf("%d log lines, want 1", n)
			}
		})
	}
}

// TestLogOfAForgedKeyID: an id that no configuration could hold is the store's
// word, and stays out of the log.
func TestLogOfAForgedKeyID(t *testing.T) {
	forged, err := wire.AppendEnvelope(nil, wire.Envelope{Seal: wire.SealAES256GCM, KeyID: "x\nlevel=ERROR"})
	if err != nil {
		t.Fatal(err)
	}
	b := start(t, answering(store.Reply{Code: wire.Replayed, Status: 201, Result: forged}), sealing(t, false, false, "k1"))
	expect(t, b.send(testPolicy(), testOp(wire.Claim, 1)), wire.ResponseNotKept)
	if logs := b.logs.String(); strings.Contains(logs, "level=ERROR") || !strings.Contains(logs, "do not open") {
		t.Error(logs)
	}
}

// TestSealingIsIntroducedAndRotated walks through the steps of docs/security.md,
// one bridge behind the other: at every step each reads what the other wrote.
func TestSealingIsIntroducedAndRotated(t *testing.T) {
	steps := []struct {
		what string
		edit func(*Config)
	}{
		{"no sealing", func(*Config) {}},
		{"readable, not written", sealing(t, true, false, "a1")},
		{"sealing", sealing(t, false, false, "a1")},
		{"next secret readable", sealing(t, false, false, "a1", "b2")},
		{"next secret seals", sealing(t, false, false, "b2", "a1")},
	}
	for i := 1; i < len(steps); i++ {
		for _, pair := range [][2]int{{i - 1, i}, {i, i - 1}} {
			s := newShelf()
			expect(t, start(t, s.store(), steps[pair[0]].edit).send(testPolicy(), testOp(wire.Complete, 1)), wire.OK)
			got := start(t, s.store(), steps[pair[1]].edit).send(testPolicy(), testOp(wire.Claim, 2))
			if got[0].Code != wire.Replayed || !bytes.Equal(got[0].Result, testResult()) {
				t.Errorf("written under %q, read under %q: code %d", steps[pair[0]].what, steps[pair[1]].what, got[0].Code)
			}
		}
	}
}

func TestNewRefusesUnsealedWithoutSealer(t *testing.T) {
	for _, edit := range []func(*Config){sealing(t, true, false), sealing(t, false, true)} {
		c := Config{Store: answering(store.Reply{}), Keys: testRing(t)}
		edit(&c)
		if _, err := New(c); err == nil {
			t.Error("accepted")
		}
	}
}
