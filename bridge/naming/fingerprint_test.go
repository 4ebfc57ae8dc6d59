package naming

import (
	"bytes"
	"testing"

	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/filter/wire"
)

// The tags of a fingerprint are stored as they are and enter no digest: method
// and target of records of the earlier version stay comparable, and a part is
// comparable exactly where it was before it was keyed.
func TestFingerprintKeepsAlgorithms(t *testing.T) {
	k := current(ring(t, 1))
	name := store.Name{1}
	tagged := func(tag wire.Algorithm, target, body byte) []byte {
		fp := wire.AppendPart([]byte{wire.FingerprintVersion}, wire.PartMethod, wire.AlgorithmFixed, [32]byte{1})
		fp = wire.AppendPart(fp, wire.PartTarget, wire.AlgorithmFixed, [32]byte{target})
		return wire.AppendPart(fp, wire.PartBody, tag, [32]byte{body})
	}
	a := k.Fingerprint(name, tagged(0x1234, 2, 3))
	for _, c := range []struct {
		what string
		fp   []byte
		want []byte
	}{
		{"the same", tagged(0x1234, 2, 3), nil},
		{"another body", tagged(0x1234, 2, 4), []byte{byte(wire.PartBody)}},
		{"another body, another algorithm", tagged(0x1235, 2, 4), nil},
		{"the earlier version", wire.DowngradeFingerprint(tagged(0x1234, 2, 4)), nil},
		{"the earlier version, another target", wire.DowngradeFingerprint(tagged(0x1234, 9, 3)), []byte{byte(wire.PartTarget)}},
	} {
		b := k.Fingerprint(name, c.fp)
		if got := wire.Differs(a, b); !bytes.Equal(got, c.want) {
			t.Errorf("%s: differs in %v, want %v", c.what, got, c.want)
		}
		if !wire.ValidFingerprint(b) || b[0] != c.fp[0] {
			t.Errorf("%s: %x", c.what, b)
		}
	}
}
