package wire

import (
	"bytes"
	"crypto/sha256"
	"slices"
	"testing"
)

func TestValidFingerprint(t *testing.T) {
	part := func(id byte) []byte { return append([]byte{id}, make([]byte, DigestBytes)...) }
	for _, tt := range []struct {
		name string
		fp   []byte
		want bool
	}{
		{"nil", nil, false},
		{"version only", []byte{1}, true},
		{"sample", sampleFingerprint(1), true},
		{"one part", slices.Concat([]byte{1}, part(3)), true},
		{"descending", slices.Concat([]byte{1}, part(2), part(1)), false},
		{"twice", slices.Concat([]byte{1}, part(1), part(1)), false},
		{"part zero", slices.Concat([]byte{1}, part(0)), false},
		{"later part", slices.Concat([]byte{2}, part(1), part(200)), true},
		{"cut", sampleFingerprint(1)[:40], false},
		{"one byte more", append(sampleFingerprint(1), 4), false},
	} {
		if got := ValidFingerprint(tt.fp); got != tt.want {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
}

func TestDiffers(t *testing.T) {
	a := sampleFingerprint(1)
	with := func(id PartID) []byte {
		b := bytes.Clone(a)
		b[1+int(id-1)*partBytes+1+DigestBytes-1] ^= 1 // the last byte of its digest
		return b
	}
	method := AppendPart([]byte{FingerprintVersion}, PartMethod, [DigestBytes]byte{1, byte(PartMethod)})
	for _, tt := range []struct {
		name string
		a, b []byte
		want []byte
	}{
		{"same", a, bytes.Clone(a), nil},
		{"method", a, with(PartMethod), []byte{1}},
		{"target", a, with(PartTarget), []byte{2}},
		{"body", a, with(PartBody), []byte{3}},
		{"all", a, sampleFingerprint(2), []byte{1, 2, 3}},
		{"part missing", a, method, []byte{2, 3}},
		{"part added", a, AppendPart(bytes.Clone(a), PartHeaders, [DigestBytes]byte{}), []byte{4}},
		{"none at all", a, nil, []byte{1, 2, 3}},
		{"both empty", nil, nil, nil},
	} {
		if got := Differs(tt.a, tt.b); !bytes.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
		if got := Differs(tt.b, tt.a); !bytes.Equal(got, tt.want) {
			t.Errorf("%s, other way round: %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestMapParts(t *testing.T) {
	a := sampleFingerprint(1)
	before := bytes.Clone(a)
	var ids []PartID
	mapped := MapParts(a, func(id PartID, digest []byte) [DigestBytes]byte {
		ids = append(ids, id)
		return sha256.Sum256(append([]byte{byte(id)}, digest...))
	})
	if !slices.Equal(ids, []PartID{PartMethod, PartTarget, PartBody}) {
		t.Errorf("mapped %v", ids)
	}
	if !bytes.Equal(a, before) {
		t.Error("the original was changed")
	}
	if !ValidFingerprint(mapped) || mapped[0] != a[0] || len(mapped) != len(a) {
		t.Errorf("mapped to %x", mapped)
	}
	for id := PartMethod; id <= PartBody; id++ {
		want := sha256.Sum256(append([]byte{byte(id)}, part(a, id)...))
		if !bytes.Equal(part(mapped, id), want[:]) {
			t.Errorf("%v is not mapped by its own digest", id)
		}
	}
	for _, empty := range [][]byte{nil, {}} {
		if got := MapParts(empty, nil); len(got) != 0 {
			t.Errorf("an empty fingerprint became %x", got)
		}
	}
}

func TestPartNames(t *testing.T) {
	for id, want := range map[PartID]string{PartMethod: "method", PartTarget: "target", PartBody: "body", PartHeaders: "headers", 0: "unknown", 99: "unknown"} {
		if got := id.String(); got != want {
			t.Errorf("%d is called %q, want %q", id, got, want)
		}
	}
}
