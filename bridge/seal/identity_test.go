package seal

import (
	"errors"
	"strings"
	"testing"
)

// A subject comes back whole, from its own record alone, and shows nowhere.
func TestSubject(t *testing.T) {
	s := sealer(t, secret("k1", 1))
	for _, who := range []Subject{
		{},
		{Namespace: "shop", Scope: "payments", Principal: "\x01\x00\xff", Key: "key-in-clear"},
		{Key: strings.Repeat("k", 1024), Principal: strings.Repeat("p", 4096)},
	} {
		b, err := s.SealSubject(name1, who)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(b), "key-in-clear") {
			t.Error("the key stands in the envelope")
		}
		if got, err := s.OpenSubject(name1, b); err != nil || got != who {
			t.Errorf("%+v, %v, want %+v", got, err, who)
		}
		if _, err := s.OpenSubject(name2, b); !errors.Is(err, ErrForged) {
			t.Errorf("opened for another record: %v", err)
		}
	}
}

// What opens and is no subject is refused: cut, longer, of another version, or
// with a length beyond its end.
func TestSubjectRefuses(t *testing.T) {
	s := sealer(t, secret("k1", 1))
	for _, content := range []string{
		"", "\x01", "\x02\x00\x00\x00\x00", "\x01\x00\x00\x00", "\x01\x00\x00\x00\x00x", "\x01\x05abcd\x00\x00\x00",
		"\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
	} {
		b := sealed(t, s, Identity, name1, content)
		if got, err := s.OpenSubject(name1, b); !errors.Is(err, ErrIdentity) {
			t.Errorf("%q: %+v, %v", content, got, err)
		}
	}
}
