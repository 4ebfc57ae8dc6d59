package wire

import (
	"bytes"
	"strings"
	"testing"
)

func TestEnvelope(t *testing.T) {
	for _, e := range []Envelope{
		{Payload: []byte("payload")},
		{Payload: []byte{}},
		{Seal: SealAES256GCM, KeyID: "2026-01", Payload: []byte{0, 1}},
		{Seal: SealAES256GCM, KeyID: strings.Repeat("k", MaxKeyIDBytes), Payload: []byte("p")},
	} {
		b, err := AppendEnvelope([]byte("before"), e)
		if err != nil || !bytes.HasPrefix(b, []byte("before")) {
			t.Fatalf("%+v: %v", e, err)
		}
		got, err := ParseEnvelope(b[6:])
		if err != nil || got.Seal != e.Seal || got.KeyID != e.KeyID || !bytes.Equal(got.Payload, e.Payload) {
			t.Errorf("got %+v, %v, want %+v", got, err, e)
		}
	}
	if _, err := AppendEnvelope(nil, Envelope{KeyID: strings.Repeat("k", MaxKeyIDBytes+1)}); err != ErrEnvelope {
		t.Errorf("key id too long: %v", err)
	}
	for name, b := range map[string][]byte{
		"empty":           nil,
		"cut header":      {1, 0},
		"version 0":       {0, 0, 0},
		"version 2":       {2, 0, 0},
		"unknown seal":    {1, 2, 0},
		"key id cut":      {1, 1, 3, 'a', 'b'},
		"key id too long": append([]byte{1, 1, MaxKeyIDBytes + 1}, make([]byte, 64)...),
	} {
		if _, err := ParseEnvelope(b); err != ErrEnvelope {
			t.Errorf("%s: %v", name, err)
		}
	}
}
