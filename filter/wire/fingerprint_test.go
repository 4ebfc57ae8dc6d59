package wire

import (
	"bytes"
	"crypto/sha256"
	"slices"
	"testing"
)

func untagged(ids ...PartID) []byte {
	fp := []byte{FingerprintUntagged}
	for _, id := range ids {
		fp = append(fp, byte(id))
		fp = append(fp, make([]byte, DigestBytes)...)
	}
	return fp
}

func tagged(ids ...PartID) []byte {
	fp := []byte{FingerprintVersion}
	for _, id := range ids {
		fp = AppendPart(fp, id, AlgorithmFixed, [DigestBytes]byte{})
	}
	return fp
}

func TestValidFingerprint(t *testing.T) {
	for _, tt := range []struct {
		name string
		fp   []byte
		want bool
	}{
		{"nil", nil, false},
		{"version only", []byte{2}, true},
		{"earlier version only", []byte{1}, true},
		{"version 0", []byte{0}, false},
		{"version 3", append([]byte{3}, tagged(1)[1:]...), false},
		{"sample", sampleFingerprint(1), true},
		{"one part", tagged(3), true},
		{"one part, untagged", untagged(3), true},
		{"descending", tagged(2, 1), false},
		{"twice", tagged(1, 1), false},
		{"twice, untagged", untagged(1, 1), false},
		{"part zero", tagged(0), false},
		{"later part", tagged(1, 200), true},
		{"cut", sampleFingerprint(1)[:40], false},
		{"tagged parts under the earlier version", append([]byte{1}, tagged(1)[1:]...), false},
		{"one byte more", append(sampleFingerprint(1), 4), false},
	} {
		if got := ValidFingerprint(tt.fp); got != tt.want {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
	if n := len(tagged(1, 2, 3, 4)); n != MaxFingerprintBytes {
		t.Errorf("four parts take %d bytes, want %d", n, MaxFingerprintBytes)
	}
}

func TestDiffers(t *testing.T) {
	const tag = AlgorithmConfigured
	type parts map[PartID]Part
	build := func(p parts) []byte {
		fp := []byte{FingerprintVersion}
		for id := PartMethod; id <= PartHeaders; id++ {
			if q, ok := p[id]; ok {
				fp = AppendPart(fp, id, q.Algorithm, [DigestBytes]byte(append(make([]byte, DigestBytes-1), q.Digest[0])))
			}
		}
		return fp
	}
	d := func(b byte, a Algorithm) Part { return Part{Algorithm: a, Digest: []byte{b}} }
	base := parts{1: d(1, AlgorithmFixed), 2: d(2, AlgorithmFixed), 3: d(3, tag), 4: d(4, tag)}
	with := func(id PartID, p Part) []byte {
		q := parts{}
		for k, v := range base {
			q[k] = v
		}
		q[id] = p
		return build(q)
	}
	a := build(base)
	none := func() []byte { p := parts{1: base[1], 2: base[2]}; return build(p) }()
	old := DowngradeFingerprint(a)
	for _, tt := range []struct {
		name   string
		a, b   []byte
		want   []byte
		reused bool
	}{
		{"same", a, bytes.Clone(a), nil, false},
		{"method", a, with(1, d(9, AlgorithmFixed)), []byte{1}, true},
		{"target", a, with(2, d(9, AlgorithmFixed)), []byte{2}, true},
		{"body", a, with(3, d(9, tag)), []byte{3}, true},
		{"headers", a, with(4, d(9, tag)), []byte{4}, true},
		{"all", a, build(parts{1: d(9, AlgorithmFixed), 2: d(9, AlgorithmFixed), 3: d(9, tag), 4: d(9, tag)}), []byte{1, 2, 3, 4}, true},
		{"body of another algorithm", a, with(3, d(9, tag+1)), nil, false},
		{"one digest under two algorithms", a, with(3, d(3, tag+1)), nil, false},
		{"headers of another algorithm, body differs", with(4, d(4, tag+1)), with(3, d(9, tag)), []byte{3}, true},
		{"parts that one alone has", a, none, nil, false},
		{"the earlier version", old, a, nil, false},
		{"the earlier version, method", old, with(1, d(9, AlgorithmFixed)), []byte{1}, true},
		{"the earlier version, target", old, with(2, d(9, AlgorithmFixed)), []byte{2}, true},
		{"the earlier version, body", old, with(3, d(9, tag)), nil, false},
		{"both of the earlier version", old, DowngradeFingerprint(with(3, d(9, tag))), []byte{3}, true},
		{"none at all", a, nil, nil, false},
		{"both empty", nil, nil, nil, false},
		{"an unknown version", a, append([]byte{3}, a[1:]...), nil, true},
		{"an unknown version, the same", []byte{3, 1}, []byte{3, 1}, nil, false},
	} {
		for _, turn := range []struct {
			how  string
			a, b []byte
		}{{"", tt.a, tt.b}, {", other way round", tt.b, tt.a}} {
			if got := Differs(turn.a, turn.b); !bytes.Equal(got, tt.want) {
				t.Errorf("%s%s: %v, want %v", tt.name, turn.how, got, tt.want)
			}
			if got := Conflict(turn.a, turn.b); got != tt.reused {
				t.Errorf("%s%s: reused %v", tt.name, turn.how, got)
			}
		}
	}
}

func TestMapParts(t *testing.T) {
	for name, a := range map[string][]byte{"tagged": sampleFingerprint(1), "untagged": DowngradeFingerprint(sampleFingerprint(1))} {
		before := bytes.Clone(a)
		var ids []PartID
		mapped := MapParts(a, func(id PartID, digest []byte) [DigestBytes]byte {
			ids = append(ids, id)
			return sha256.Sum256(append([]byte{byte(id)}, digest...))
		})
		if !slices.Equal(ids, []PartID{PartMethod, PartTarget, PartBody}) {
			t.Errorf("%s: mapped %v", name, ids)
		}
		if !bytes.Equal(a, before) {
			t.Errorf("%s: the original was changed", name)
		}
		if !ValidFingerprint(mapped) || mapped[0] != a[0] || len(mapped) != len(a) {
			t.Errorf("%s: mapped to %x", name, mapped)
		}
		for p := range Parts(a) {
			want := sha256.Sum256(append([]byte{byte(p.ID)}, p.Digest...))
			if q, ok := part(mapped, p.ID); !ok || !bytes.Equal(q.Digest, want[:]) || q.Algorithm != p.Algorithm {
				t.Errorf("%s: %v is not mapped by its own digest, or lost its algorithm", name, p.ID)
			}
		}
	}
	for _, empty := range [][]byte{nil, {}} {
		if got := MapParts(empty, nil); len(got) != 0 {
			t.Errorf("an empty fingerprint became %x", got)
		}
	}
}

// The earlier version's bytes are spelled out: a bridge of that version compares
// nothing else.
func TestDowngradeFingerprint(t *testing.T) {
	one, two := [DigestBytes]byte{7}, [DigestBytes]byte{8}
	fp := AppendPart([]byte{FingerprintVersion}, PartMethod, AlgorithmFixed, one)
	fp = AppendPart(fp, PartBody, 0xabcd, two)
	before := bytes.Clone(fp)
	want := slices.Concat([]byte{1, 1}, one[:], []byte{3}, two[:])
	got := DowngradeFingerprint(fp)
	if !bytes.Equal(got, want) {
		t.Errorf("%x, want %x", got, want)
	}
	if !bytes.Equal(DowngradeFingerprint(got), want) || len(DowngradeFingerprint(nil)) != 0 {
		t.Error("what has no algorithms changed")
	}
	if !bytes.Equal(fp, before) {
		t.Error("the original was changed")
	}
}

func TestPartNames(t *testing.T) {
	for id, want := range map[PartID]string{PartMethod: "method", PartTarget: "target", PartBody: "body", PartHeaders: "headers", 0: "unknown", 99: "unknown"} {
		if got := id.String(); got != want {
			t.Errorf("%d is called %q, want %q", id, got, want)
		}
	}
}
