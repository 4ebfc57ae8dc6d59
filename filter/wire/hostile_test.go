package wire

import (
	"bytes"
	"errors"
	"runtime"
	"slices"
	"testing"

	"github.com/tinylib/msgp/msgp"
)

// hostile are bodies of messages, after the version, that declare more than
// they hold.
func hostile() map[string][]byte {
	field := func(name string, value ...byte) []byte {
		return slices.Concat([]byte{0x81, 0xa0 | byte(len(name))}, []byte(name), value)
	}
	max32 := []byte{0xff, 0xff, 0xff, 0xff}
	huge := func(name string, head byte) []byte { return field(name, append([]byte{head}, max32...)...) }
	inResult := func(b []byte) []byte { return append(field("rs", 0x91), b...) }
	inOp := func(b []byte) []byte { return append(field("op", 0x91), b...) }
	return map[string][]byte{
		"map of 4G":              append([]byte{0xdf}, max32...),
		"operations of 4G":       huge("op", 0xdd),
		"policies of 4G":         huge("pl", 0xdd),
		"results of 4G":          huge("rs", 0xdd),
		"lines of 4G":            huge("h", 0xdd),
		"body of 4G":             huge("b", 0xc6),
		"namespace of 4G":        huge("ns", 0xdb),
		"unknown array of 4G":    huge("zz", 0xdd),
		"unknown map of 4G":      huge("zz", 0xdf),
		"unknown bytes of 4G":    huge("zz", 0xc6),
		"unknown extension":      huge("zz", 0xc9),
		"name of 4G":             append([]byte{0x81, 0xdb}, max32...),
		"text of 4G":             inResult(huge("w", 0xdb)),
		"differs of 4G":          inResult(huge("x", 0xc6)),
		"result of 4G":           inResult(huge("d", 0xc6)),
		"result as map of 4G":    inResult(append([]byte{0xdf}, max32...)),
		"key of 4G":              inOp(huge("y", 0xdb)),
		"owner of 4G":            inOp(huge("o", 0xc6)),
		"operation as map of 4G": inOp(append([]byte{0xdf}, max32...)),
		"operations, none there": field("op", 0xdc, 1, 0),
		"lines, none there":      field("h", 0xdc, 4, 0),
		"operations twice":       append([]byte{0x82}, bytes.Repeat([]byte{0xa2, 'o', 'p', 0xdc, 1, 0}, 2)...),
		"wrong type":             append([]byte{0x83}, "\xa2op\xa1x\xa2rs\xa1x\xa1h\xa1x"...),
		"an array":               {0x90},
		"type c1":                {0xc1},
		"nested arrays":          append(field("zz"), bytes.Repeat([]byte{0x91}, 200_000)...),
		"nested maps":            append(field("zz"), bytes.Repeat([]byte{0x81, 0xa0}, 100_000)...),
		"nested wide":            append(field("zz"), bytes.Repeat([]byte{0xdd, 0xff, 0xff, 0xff, 0xff}, 100_000)...),
		"nested in a result":     inResult(append(field("zz"), bytes.Repeat([]byte{0x91}, 200_000)...)),
	}
}

// decodeBound is what decoding may allocate beside a small multiple of the
// input: the slices of one full batch, answer or response.
const decodeBound = 128 << 10

func TestHostile(t *testing.T) {
	for name, body := range hostile() {
		for _, k := range kinds {
			b := append([]byte{Version}, body...)
			got := allocated(func() {
				if _, err := k.decode(b); err == nil {
					t.Errorf("%s: decodes as a %s", name, k.name)
				}
			})
			if limit := decodeBound + 4*uint64(len(b)); got > limit {
				t.Errorf("%s as a %s of %d bytes: allocated %d, want at most %d", name, k.name, len(b), got, limit)
			}
		}
	}
}

func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func TestNesting(t *testing.T) {
	unknown := func(depth int) []byte {
		b := append([]byte{Version, 0x82, 0xa2, 'z', 'z'}, bytes.Repeat([]byte{0x91}, depth)...)
		return append(b, 0xc0, 0xa2, 'r', 's', 0x90)
	}
	// The value itself and the map around it are two levels.
	if err := DecodeAnswer(unknown(maxNesting-2), &Answer{}); err != nil {
		t.Errorf("%d levels: %v", maxNesting, err)
	}
	if err := DecodeAnswer(unknown(maxNesting-1), &Answer{}); !errors.Is(err, ErrNesting) {
		t.Errorf("%d levels: %v, want %v", maxNesting+1, err, ErrNesting)
	}
	for name, body := range hostile() {
		deep := bytes.HasPrefix([]byte(name), []byte("nested"))
		if err := checkNesting(body); (err == ErrNesting) != deep {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestNestingPastEveryType hides the depth behind a value of each type: it is
// found only where the size of that value is known. The filling is c1, which is
// no value.
func TestNestingPastEveryType(t *testing.T) {
	deep := bytes.Repeat([]byte{0x91}, maxNesting)
	filled := func(n int, head ...byte) []byte { return append(head, bytes.Repeat([]byte{0xc1}, n)...) }
	nils := func(n int, head ...byte) []byte { return append(head, bytes.Repeat([]byte{0xc0}, n)...) }
	for _, value := range [][]byte{
		{0x00}, {0x7f}, {0xe0}, {0xff}, {0xc0}, {0xc2}, {0xc3}, {0x80}, {0x90}, {0xa0},
		nils(4, 0x82), nils(3, 0x93), filled(31, 0xbf),
		filled(3, 0xc4, 3), filled(259, 0xc5, 1, 3), filled(259, 0xc6, 0, 0, 1, 3),
		filled(4, 0xc7, 3), filled(260, 0xc8, 1, 3), filled(260, 0xc9, 0, 0, 1, 3),
		filled(4, 0xca), filled(8, 0xcb),
		filled(1, 0xcc), filled(2, 0xcd), filled(4, 0xce), filled(8, 0xcf),
		filled(1, 0xd0), filled(2, 0xd1), filled(4, 0xd2), filled(8, 0xd3),
		filled(2, 0xd4), filled(3, 0xd5), filled(5, 0xd6), filled(9, 0xd7), filled(17, 0xd8),
		filled(3, 0xd9, 3), filled(259, 0xda, 1, 3), filled(259, 0xdb, 0, 0, 1, 3),
		nils(3, 0xdc, 0, 3), nils(259, 0xdd, 0, 0, 1, 3), nils(6, 0xde, 0, 3), nils(518, 0xdf, 0, 0, 1, 3),
	} {
		if rest, err := msgp.Skip(value); err != nil || len(rest) != 0 {
			t.Errorf("the sample %x is not one value: %v", value, err)
		}
		if err := checkNesting(slices.Concat([]byte{0x92}, value, deep)); err != ErrNesting {
			t.Errorf("behind a value of type %x: %v", value[0], err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, k := range kinds {
		enc, _ := k.encode()
		f.Add(enc)
	}
	for _, body := range hostile() {
		if len(body) < 1000 {
			f.Add(append([]byte{Version}, body...))
		}
	}
	deep := append([]byte{Version, 0x81, 0xa2, 'z', 'z'}, bytes.Repeat([]byte{0x91}, 300)...)
	f.Add(deep)
	f.Add([]byte{})
	f.Add([]byte{Version + 1, 0x80})
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, k := range kinds {
			var m any
			var err error
			got := allocated(func() { m, err = k.decode(b) })
			// A short header line takes 3 bytes and becomes 32, an operation 1 and becomes 200.
			if limit := 2*decodeBound + 16*uint64(len(b)); got > limit {
				t.Fatalf("%s of %d bytes: allocated %d, want at most %d", k.name, len(b), got, limit)
			}
			if err != nil {
				continue
			}
			// What was read can be written, and is then read as the same.
			enc, err := k.recode(m)
			if err != nil {
				t.Fatal(err)
			}
			again, err := k.decode(enc)
			if err != nil {
				t.Fatalf("%s: what was decoded does not decode again: %v", k.name, err)
			}
			if enc2, _ := k.recode(again); !bytes.Equal(enc, enc2) {
				t.Fatalf("%s changes: %x, then %x", k.name, enc, enc2)
			}
		}
	})
}

func FuzzEnvelope(f *testing.F) {
	for _, e := range []Envelope{{}, {Payload: []byte("p")}, {Seal: SealAES256GCM, KeyID: "2026-01", Payload: []byte{0}}} {
		b, _ := AppendEnvelope(nil, e)
		f.Add(b)
	}
	f.Add([]byte{1, 0, 255})
	f.Add([]byte{1, 0, 33, 1})
	f.Add([]byte{2, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := ParseEnvelope(b)
		if err != nil {
			return
		}
		if again, err := AppendEnvelope(nil, e); err != nil || !bytes.Equal(again, b) {
			t.Fatalf("%x became %x, %v", b, again, err)
		}
	})
}
