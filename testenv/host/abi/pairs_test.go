package abi

import (
	"reflect"
	"strings"
	"testing"
)

func TestPairsRoundTrip(t *testing.T) {
	for _, pairs := range [][][2]string{{}, {{"a", "1"}}, {{":path", "/x"}, {"a", ""}, {"", "v"}, {"a\x00b", "\xff\r\n"}}} {
		got, err := DecodePairs(EncodePairs(pairs))
		if err != nil || len(got) != len(pairs) || len(pairs) > 0 && !reflect.DeepEqual(got, pairs) {
			t.Errorf("%q: %q, %v", pairs, got, err)
		}
	}
}

func TestPairsRefused(t *testing.T) {
	good := EncodePairs([][2]string{{"a", "1"}, {"bc", "23"}})
	for n := range len(good) {
		if _, err := DecodePairs(good[:n]); err == nil {
			t.Errorf("%d of %d bytes accepted", n, len(good))
		}
	}
	if _, err := DecodePairs(append(good, 0)); err == nil {
		t.Error("a byte left over accepted")
	}
	if _, err := DecodePairs(EncodePairs(make([][2]string, MaxPairs+1))); err == nil {
		t.Error("1025 pairs accepted")
	}
	if _, err := DecodePairs(EncodePairs([][2]string{{"a", strings.Repeat("v", MaxPairBytes)}})); err == nil {
		t.Error("more than 1 MiB accepted")
	}
}

// Whatever the bytes, decoding ends without a panic, and what it gives encodes
// to them again.
func FuzzDecodePairs(f *testing.F) {
	f.Add(EncodePairs([][2]string{{"a", "1"}}))
	f.Add([]byte{255, 255, 255, 255})
	f.Fuzz(func(t *testing.T, b []byte) {
		if pairs, err := DecodePairs(b); err == nil && string(EncodePairs(pairs)) != string(b) {
			t.Fatalf("%q", b)
		}
	})
}
