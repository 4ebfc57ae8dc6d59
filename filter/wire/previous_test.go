package wire

import (
	"errors"
	"reflect"
	"testing"
)

// TestPrevious: a batch for a bridge of the previous version says the same, but for
// what that version lacks.
func TestPrevious(t *testing.T) {
	sent := sampleBatch()
	enc, err := AppendPrevious(nil, sent)
	if err != nil || enc[0] != PreviousVersion || VersionOf(enc) != PreviousVersion {
		t.Fatalf("% x: %v", enc[:1], err)
	}
	var got Batch
	if err := DecodeBatch(enc, &got); err != nil {
		t.Fatal(err)
	}
	want := sampleBatch()
	want.Tallies = nil
	for i := range want.Ops {
		want.Ops[i].Fingerprint = DowngradeFingerprint(want.Ops[i].Fingerprint)
		if fp := got.Ops[i].Fingerprint; len(fp) > 0 && fp[0] != FingerprintUntagged {
			t.Errorf("operation %d: fingerprint of version %d", i, fp[0])
		}
	}
	if got.Tallies = nil; !reflect.DeepEqual(&got, want) {
		t.Errorf("got %+v\nwant %+v", &got, want)
	}
	var kept Batch
	if DecodeBatch(enc, &kept); len(kept.Tallies) != 0 {
		t.Errorf("%d tallies, want none", len(kept.Tallies))
	}
}

func TestInPrevious(t *testing.T) {
	for kind := Issue; kind <= Get; kind++ {
		if got, want := InPrevious(&Operation{Kind: kind}, &Policy{}), kind != Wait && kind != Get; got != want {
			t.Errorf("kind %d: %v, want %v", kind, got, want)
		}
	}
	if InPrevious(&Operation{Kind: Claim}, &Policy{PreviousScopes: "old"}) {
		t.Error("a claim in a scope with previous ones")
	}
}

// TestAnswerAs: who asks in one version is answered in it.
func TestAnswerAs(t *testing.T) {
	for _, v := range []uint8{PreviousVersion, Version} {
		enc, err := AppendAnswerAs(nil, v, sampleAnswer())
		if err != nil || enc[0] != v {
			t.Fatalf("version %d: % x, %v", v, enc[:1], err)
		}
		var a Answer
		if err := DecodeAnswer(enc, &a); err != nil || !reflect.DeepEqual(&a, sampleAnswer()) {
			t.Errorf("version %d: %+v, %v", v, a, err)
		}
	}
}

// TestResponseVersionIsItsOwn: a result that is stored outlives versions of batches.
func TestResponseVersionIsItsOwn(t *testing.T) {
	enc, _ := AppendResponse(nil, sampleResponse())
	enc[0] = Version
	var version *VersionError
	if err := DecodeResponse(enc, new(Response)); !errors.As(err, &version) {
		t.Errorf("a response of version %d: %v", Version, err)
	}
}
