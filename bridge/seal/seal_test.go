package seal

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/filter/wire"
)

func secret(id string, fill byte) Secret {
	return Secret{ID: id, Bytes: bytes.Repeat([]byte{fill}, MinSecretBytes)}
}

func sealer(t testing.TB, secrets ...Secret) *Sealer {
	t.Helper()
	s, err := New(secrets...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func sealed(t testing.TB, s *Sealer, p Purpose, name store.Name, content string) []byte {
	t.Helper()
	b, err := s.Seal(p, name, []byte(content))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

var name1, name2 = store.Name{1}, store.Name{2}

func TestNewRefuses(t *testing.T) {
	for what, tc := range map[string]struct {
		secrets []Secret
		want    string
	}{
		"none":       {nil, "0 secrets: must be 1 to 8"},
		"nine":       {make([]Secret, 9), "9 secrets: must be 1 to 8"},
		"short":      {[]Secret{{"a", make([]byte, 31)}}, `"a": 31 bytes: must be at least 32`},
		"no id":      {[]Secret{secret("", 1)}, "secret 0: id: must be 1 to 32"},
		"long id":    {[]Secret{secret(strings.Repeat("x", 33), 1)}, "secret 0: id"},
		"odd id":     {[]Secret{secret("a b", 1)}, "secret 0: id"},
		"id twice":   {[]Secret{secret("a", 1), secret("a", 2)}, "used twice"},
		"same bytes": {[]Secret{secret("a", 1), secret("b", 1)}, "are the same"},
	} {
		t.Run(what, func(t *testing.T) {
			if _, err := New(tc.secrets...); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("got %v, want %q", err, tc.want)
			}
		})
	}
}

func TestSealAndOpen(t *testing.T) {
	s := sealer(t, secret("k1", 1))
	for _, content := range []string{"", "x", strings.Repeat("long ", 10_000)} {
		b := sealed(t, s, Result, name1, content)
		if len(content) > 1 && bytes.Contains(b, []byte(content[:5])) {
			t.Error("the content stands in the envelope")
		}
		if len(b) > len(content)+Overhead {
			t.Errorf("%d bytes became %d: more than Overhead, %d", len(content), len(b), Overhead)
		}
		if bytes.Equal(b, sealed(t, s, Result, name1, content)) {
			t.Error("sealed twice, the same bytes")
		}
		got, err := s.Open(Result, name1, b)
		if err != nil || string(got) != content {
			t.Errorf("%d bytes back, want %d: %v", len(got), len(content), err)
		}
		if e, err := wire.ParseEnvelope(b); err != nil || e.Seal != wire.SealAES256GCM || e.KeyID != "k1" {
			t.Errorf("envelope %v, %q, %v", e.Seal, e.KeyID, err)
		}
	}
}

// TestRotation: a secret seals while it is the first, opens while it is there,
// and what is under it is lost, not misread, when it has gone.
func TestRotation(t *testing.T) {
	old, fresh := secret("2026-01", 1), secret("2026-07", 2)
	steps := []*Sealer{sealer(t, old), sealer(t, old, fresh), sealer(t, fresh, old), sealer(t, fresh)}
	// opens[i][j]: does step j read what step i wrote? Neighbours up to the third
	// read each other, so that bridges may take these steps one by one; the last
	// is for when nothing under the old secret lives any more.
	opens := [][]bool{
		{true, true, true, false},
		{true, true, true, false},
		{false, true, true, true},
		{false, true, true, true},
	}
	for i, writer := range steps {
		b := sealed(t, writer, Result, name1, "content")
		for j, reader := range steps {
			got, err := reader.Open(Result, name1, b)
			if want := opens[i][j]; want != (err == nil && string(got) == "content") {
				t.Errorf("step %d read by step %d: %q, %v", i, j, got, err)
			} else if !want && !errors.Is(err, ErrUnknownKey) {
				t.Errorf("step %d read by step %d: %v, want ErrUnknownKey", i, j, err)
			}
		}
	}
}

// TestMoved: a sealed result opens for its own record and purpose alone.
func TestMoved(t *testing.T) {
	s := sealer(t, secret("k1", 1))
	b := sealed(t, s, Result, name1, "content")
	if _, err := s.Open(Result, name2, b); !errors.Is(err, ErrForged) {
		t.Errorf("moved to another record: %v", err)
	}
	if _, err := s.Open(Identity, name1, b); !errors.Is(err, ErrForged) {
		t.Errorf("read for another purpose: %v", err)
	}
	other := sealer(t, secret("k1", 2))
	if _, err := other.Open(Result, name1, b); !errors.Is(err, ErrForged) {
		t.Errorf("another secret under the same id: %v", err)
	}
}

// TestEveryBitCounts flips each bit of an envelope and cuts it at each length.
func TestEveryBitCounts(t *testing.T) {
	s := sealer(t, secret("k1", 1), secret("k0", 2)) // the ids differ in one bit
	b := sealed(t, s, Result, name1, "content")
	for bit := range len(b) * 8 {
		b[bit/8] ^= 1 << (bit % 8)
		if got, err := s.Open(Result, name1, b); err == nil {
			t.Errorf("bit %d of byte %d: opened to %q", bit%8, bit/8, got)
		}
		b[bit/8] ^= 1 << (bit % 8)
	}
	for n := range len(b) {
		if _, err := s.Open(Result, name1, b[:n]); err == nil {
			t.Errorf("opened when cut to %d bytes", n)
		}
	}
	if _, err := s.Open(Result, name1, append(b, 0)); err == nil {
		t.Error("opened with a byte more")
	}
}

func TestUnsealed(t *testing.T) {
	clear, err := wire.AppendEnvelope(nil, wire.Envelope{Payload: []byte("content")})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sealer(t, secret("k1", 1)).Open(Result, name1, clear); !errors.Is(err, ErrUnsealed) {
		t.Errorf("%v", err)
	}
	if _, err := sealer(t, secret("k1", 1)).Open(Result, name1, nil); !errors.Is(err, wire.ErrEnvelope) {
		t.Errorf("%v", err)
	}
}

// TestFormIsStable pins the derivation: a change of it makes every stored result
// unreadable. The key is derived here as RFC 5869 spells it, not by the code
// under test.
func TestFormIsStable(t *testing.T) {
	mac := func(key []byte, parts ...[]byte) []byte {
		h := hmac.New(sha256.New, key)
		for _, p := range parts {
			h.Write(p)
		}
		return h.Sum(nil)
	}
	prk := mac(make([]byte, 32), secret("k1", 1).Bytes)
	place := append([]byte("oncewall seal v1\x06result"), name1[:]...)
	block, err := aes.NewCipher(mac(prk, place, []byte{1}))
	if err != nil {
		t.Fatal(err)
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		t.Fatal(err)
	}
	header, err := hex.DecodeString("0101026b31") // version, seal, length, "k1"
	if err != nil {
		t.Fatal(err)
	}
	nonce := []byte("twelve bytes")
	b := append(bytes.Clone(header), nonce...)
	b = gcm.Seal(b, nonce, []byte("content"), append(place, header...))
	if got, err := sealer(t, secret("k1", 1)).Open(Result, name1, b); err != nil || string(got) != "content" {
		t.Errorf("%q, %v", got, err)
	}
}

func FuzzOpen(f *testing.F) {
	s := sealer(f, secret("k1", 1), secret("k2", 2))
	f.Add(sealed(f, s, Result, name2, "content"))
	f.Add([]byte{1, 1, 2, 'k', '2'})
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		if _, err := s.Open(Result, name1, b); err == nil {
			t.Fatal("opened what was never sealed for it")
		}
	})
}

func BenchmarkSeal(b *testing.B) {
	s := sealer(b, secret("k1", 1))
	for _, size := range []int{256, 16 << 10, 1 << 20} {
		content := make([]byte, size)
		b.Run(fmt.Sprintf("seal=%d", size), func(b *testing.B) {
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				s.Seal(Result, name1, content)
			}
		})
		envelope := sealed(b, s, Result, name1, string(content))
		b.Run(fmt.Sprintf("open=%d", size), func(b *testing.B) {
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.Open(Result, name1, envelope); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
