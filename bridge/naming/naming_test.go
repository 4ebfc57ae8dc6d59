package naming

import (
	"bytes"
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/oncewall/oncewall/filter/wire"
)

var noon = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)

func ring(t testing.TB, fills ...byte) *Ring {
	t.Helper()
	var secrets []Secret
	for _, f := range fills {
		secrets = append(secrets, Secret{ID: string('a' + rune(f)), Bytes: bytes.Repeat([]byte{f}, MinSecretBytes)})
	}
	r, err := NewRing(secrets...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// current is the key under which r names new records of client keys.
func current(r *Ring) *Key {
	keys := r.Clients(noon)
	return keys[len(keys)-1]
}

func TestNewRingRefuses(t *testing.T) {
	good := bytes.Repeat([]byte{1}, MinSecretBytes)
	other := bytes.Repeat([]byte{2}, MinSecretBytes)
	for name, tc := range map[string]struct {
		secrets []Secret
		want    string
	}{
		"none":       {nil, "0 secrets: must be 1 to 2"},
		"three":      {make([]Secret, 3), "3 secrets: must be 1 to 2"},
		"short":      {[]Secret{{ID: "a", Bytes: good[:31]}}, `"a": 31 bytes: must be at least 32`},
		"no id":      {[]Secret{{Bytes: good}}, "id of 0 bytes: must be 1 to 32"},
		"long id":    {[]Secret{{ID: strings.Repeat("x", 33), Bytes: good}}, "id of 33 bytes"},
		"id twice":   {[]Secret{{ID: "a", Bytes: good}, {ID: "a", Bytes: other}}, "used twice"},
		"same bytes": {[]Secret{{ID: "a", Bytes: good}, {ID: "b", Bytes: good}}, "are the same"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := NewRing(tc.secrets...)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("got %v, want %q", err, tc.want)
			}
		})
	}
}

func TestNamesDiffer(t *testing.T) {
	k := current(ring(t, 1))
	seen := map[[32]byte][4]string{}
	for _, parts := range [][4]string{
		{"n", "s", "p", "k"},
		{"ns", "", "p", "k"}, {"n", "sp", "", "k"}, {"n", "s", "pk", ""}, {"", "ns", "p", "k"},
		{"n", "s", "p", "k\x00"}, {"n", "s", "p", ""}, {"n", "s", "k", "p"}, {"n", "p", "s", "k"},
		{"n", "s", "p", "\x00\x00\x00\x01k"},
	} {
		name := k.Name(parts[0], parts[1], parts[2], parts[3])
		if before, ok := seen[name]; ok {
			t.Errorf("%q and %q share a name", before, parts)
		}
		seen[name] = parts
		if again := k.Name(parts[0], parts[1], parts[2], parts[3]); again != name {
			t.Errorf("%q: two names for the same parts", parts)
		}
	}
}

// TestNameIsStable pins the derivation: a change of it forgets every record.
func TestNameIsStable(t *testing.T) {
	name := current(ring(t, 7)).Name("edge", "payments", "header:u1", "k-1")
	const want = "cdTu36Hgf1UgLNuZ1lZezTiRpLp7Zu6GDpODuOSbZS0"
	if got := base64.RawURLEncoding.EncodeToString(name[:]); got != want {
		t.Fatalf("name is %s, was %s", got, want)
	}
}

func TestRingRoles(t *testing.T) {
	old, both := ring(t, 1), ring(t, 2, 1)
	if current(both).Name("n", "s", "p", "k") != current(old).Name("n", "s", "p", "k") {
		t.Error("adding a secret renames the records of client keys")
	}
	key := old.Issuer(noon).Issue("n", "s", "p", time.UnixMilli(1))
	got := both.Check("n", "s", "p", key)
	if got.Verdict != Genuine || got.Key.ID() != old.Issuer(noon).ID() {
		t.Errorf("key of the previous secret: %+v", got)
	}
	if got.Key.Name("n", "s", "p", key) != old.Issuer(noon).Name("n", "s", "p", key) {
		t.Error("an issued key's record is renamed by a new secret")
	}
	if v := ring(t, 2).Check("n", "s", "p", key).Verdict; v != NotIssued {
		t.Errorf("key under a removed secret: verdict %d", v)
	}
}

// TestIssueFrom: a bridge that knows the new secret goes on issuing under the old
// one until the time set, so that bridges without it accept what it issues.
func TestIssueFrom(t *testing.T) {
	old := ring(t, 1)
	both, err := NewRing(
		Secret{ID: "new", Bytes: bytes.Repeat([]byte{2}, MinSecretBytes), IssueFrom: noon},
		Secret{ID: "old", Bytes: bytes.Repeat([]byte{1}, MinSecretBytes)})
	if err != nil {
		t.Fatal(err)
	}
	for at, want := range map[time.Duration]Verdict{-time.Nanosecond: Genuine, 0: NotIssued} {
		key := both.Issuer(noon.Add(at)).Issue("n", "s", "p", noon)
		if got := old.Check("n", "s", "p", key).Verdict; got != want {
			t.Errorf("%s from the time set: verdict %d without the new secret, want %d", at, got, want)
		}
		if got := both.Check("n", "s", "p", key).Verdict; got != Genuine {
			t.Errorf("%s from the time set: verdict %d with both", at, got)
		}
	}
	if alone, err := NewRing(Secret{ID: "a", Bytes: bytes.Repeat([]byte{2}, MinSecretBytes), IssueFrom: noon}); err != nil {
		t.Error(err)
	} else if alone.Issuer(noon.Add(-1)).ID() != "a" {
		t.Error("a single secret does not issue")
	}
}

func TestFingerprint(t *testing.T) {
	k := current(ring(t, 1))
	fp := func(body byte) []byte {
		b := wire.AppendPart([]byte{wire.FingerprintVersion}, wire.PartMethod, wire.AlgorithmFixed, [32]byte{1})
		return wire.AppendPart(b, wire.PartBody, wire.AlgorithmConfigured, [32]byte{body})
	}
	name := k.Name("n", "s", "p", "k")
	a, b := k.Fingerprint(name, fp(1)), k.Fingerprint(name, fp(2))
	if !wire.ValidFingerprint(a) || len(a) != len(fp(1)) {
		t.Fatalf("form lost: %x", a)
	}
	if got := wire.Differs(a, b); !bytes.Equal(got, []byte{byte(wire.PartBody)}) {
		t.Errorf("differs: %v", got)
	}
	if bytes.Contains(a, bytes.Repeat([]byte{0}, 16)) {
		t.Error("a digest was stored as it came")
	}
	if bytes.Equal(a, k.Fingerprint(k.Name("n", "s", "p", "k2"), fp(1))) {
		t.Error("two records with one request have the same fingerprint")
	}
	if k.Fingerprint(name, nil) != nil {
		t.Error("an empty fingerprint became one")
	}
}

func TestIssuedKeys(t *testing.T) {
	r := ring(t, 1)
	expires := time.UnixMilli(1_700_000_000_123)
	key := r.Issuer(noon).Issue("n", "s", "p", expires)
	if len(key) != IssuedLength {
		t.Fatalf("length %d, want %d", len(key), IssuedLength)
	}
	if r.Issuer(noon).Issue("n", "s", "p", expires) == key {
		t.Fatal("two keys are the same")
	}
	if got := r.Check("n", "s", "p", key); got.Verdict != Genuine || !got.Expires.Equal(expires) || got.Key != r.Issuer(noon) {
		t.Fatalf("own key: %+v", got)
	}
	for name, tc := range map[string]struct {
		ns, scope, principal, key string
		want                      Verdict
	}{
		"other principal": {"n", "s", "q", key, Foreign},
		"other scope":     {"n", "t", "p", key, Foreign},
		"shifted parts":   {"n", "sp", "", key, Foreign},
		"other namespace": {"m", "s", "p", key, NotIssued},
		"empty":           {"n", "s", "p", "", NotIssued},
		"prefix only":     {"n", "s", "p", IssuedPrefix, NotIssued},
		"cut":             {"n", "s", "p", key[:len(key)-1], NotIssued},
		"longer":          {"n", "s", "p", key + "A", NotIssued},
		"line break":      {"n", "s", "p", key[:len(key)-1] + "\n", NotIssued},
		"other prefix":    {"n", "s", "p", "ow2." + key[4:], NotIssued},
		"not base64":      {"n", "s", "p", key[:10] + "*" + key[11:], NotIssued},
		"client's own":    {"n", "s", "p", strings.Repeat("k", IssuedLength), NotIssued},
	} {
		t.Run(name, func(t *testing.T) {
			got := r.Check(tc.ns, tc.scope, tc.principal, tc.key)
			if got.Verdict != tc.want {
				t.Fatalf("verdict %d, want %d", got.Verdict, tc.want)
			}
			if (got.Key == nil) != (tc.want == NotIssued) {
				t.Fatalf("key %v with verdict %d", got.Key, got.Verdict)
			}
		})
	}
}

// TestEveryBitOfAnIssuedKeyCounts flips each bit: a key that was changed is
// forged, not foreign.
func TestEveryBitOfAnIssuedKeyCounts(t *testing.T) {
	r := ring(t, 1)
	raw, err := base64.RawURLEncoding.DecodeString(r.Issuer(noon).Issue("n", "s", "p", time.UnixMilli(5))[len(IssuedPrefix):])
	if err != nil {
		t.Fatal(err)
	}
	for bit := range len(raw) * 8 {
		raw[bit/8] ^= 1 << (bit % 8)
		if got := r.Check("n", "s", "p", IssuedPrefix+base64.RawURLEncoding.EncodeToString(raw)).Verdict; got != NotIssued {
			t.Errorf("bit %d: verdict %d, want %d", bit, got, NotIssued)
		}
		raw[bit/8] ^= 1 << (bit % 8)
	}
}

func FuzzCheck(f *testing.F) {
	r := ring(f, 1, 2)
	f.Add(r.Issuer(noon).Issue("n", "s", "p", time.UnixMilli(1)))
	f.Add(IssuedPrefix)
	f.Add("")
	f.Fuzz(func(t *testing.T, text string) {
		if r.Check("m", "s", "p", text).Verdict != NotIssued {
			t.Fatalf("a key of another namespace passed")
		}
	})
}

func BenchmarkName(b *testing.B) {
	k := current(ring(b, 1))
	b.ReportAllocs()
	for b.Loop() {
		k.Name("edge", "payments", "header:user-1", "0123456789abcdef0123456789abcdef")
	}
}
