package server

import (
	"strconv"
	"strings"
	"testing"

	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/filter/wire"
)

// TestPreviousVersion: a batch of the previous version is served, and answered in
// it; a retry in either version of a request that was claimed in the other is told
// the same.
func TestPreviousVersion(t *testing.T) {
	b := start(t, embedded(t))
	send := func(version uint8, op wire.Operation) wire.Result {
		t.Helper()
		batch := &wire.Batch{Namespace: "edge", Policies: []wire.Policy{testPolicy()}, Ops: []wire.Operation{op}}
		body := encode(t, batch)
		if version == wire.PreviousVersion {
			var err error
			if body, err = wire.AppendPrevious(nil, batch); err != nil {
				t.Fatal(err)
			}
		}
		resp, answer := b.post(body)
		if resp.StatusCode != 200 || wire.VersionOf(answer) != version {
			t.Fatalf("status %d, answered in version %d to %d", resp.StatusCode, wire.VersionOf(answer), version)
		}
		if got := resp.Header.Get(wire.StampHeader); got != strconv.Itoa(wire.Version) {
			t.Errorf("stamp %q", got)
		}
		var a wire.Answer
		if err := wire.DecodeAnswer(answer, &a); err != nil {
			t.Fatal(err)
		}
		return a.Results[0]
	}
	for i, v := range []struct{ first, second uint8 }{
		{wire.PreviousVersion, wire.Version}, {wire.Version, wire.PreviousVersion}, {wire.PreviousVersion, wire.PreviousVersion},
	} {
		claim := func(owner, body byte) wire.Operation {
			op := testOp(wire.Claim, owner)
			op.Key += strconv.Itoa(i)
			op.Fingerprint = testFingerprint(body)
			return op
		}
		if r := send(v.first, claim(1, 1)); r.Code != wire.Created {
			t.Fatalf("%+v: claim: %+v", v, r)
		}
		if r := send(v.second, claim(2, 1)); r.Code != wire.InFlight {
			t.Errorf("%+v: concurrent: %+v", v, r)
		}
		final := testOp(wire.Complete, 1)
		final.Key += strconv.Itoa(i)
		if r := send(v.first, final); r.Code != wire.OK {
			t.Errorf("%+v: complete: %+v", v, r)
		}
		if r := send(v.second, claim(3, 1)); r.Code != wire.Replayed || string(r.Result) != string(testResult()) {
			t.Errorf("%+v: retry: %+v", v, r)
		}
	}
}

// TestLaterRecordIsToldInClear: who claims is told that the record is of a later
// version, and what settles a claim is tried again.
func TestLaterRecordIsToldInClear(t *testing.T) {
	b := start(t, answering(store.Reply{Code: wire.Invalid}))
	if r := b.send(testPolicy(), testOp(wire.Claim, 1))[0]; r.Code != wire.Invalid || !strings.Contains(r.Text, "later version") {
		t.Errorf("claim: %+v", r)
	}
	expect(t, b.send(testPolicy(), testOp(wire.Release, 1)), wire.Unavailable)
	if !strings.Contains(b.logs.String(), "record: of a later version than 1") {
		t.Error("no line tells of it")
	}
}
