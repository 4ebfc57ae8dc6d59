package wire

import (
	"bytes"
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// whole puts the header of a message before its fields.
func whole(fields ...byte) []byte {
	b := append([]byte{Version, 0, 0, 0, 0}, fields...)
	closeElement(b, messageHeader)
	return b
}

func tag(num protowire.Number, typ protowire.Type) []byte { return protowire.AppendTag(nil, num, typ) }

// element returns a field that holds a message.
func inside(num protowire.Number, b []byte) []byte {
	return protowire.AppendBytes(tag(num, protowire.BytesType), b)
}

// hostile are fields that declare more than they hold, hold what their field
// cannot, or nest. Each is wrong for the message that its name begins with.
func hostile() map[string][]byte {
	huge := []byte{0xff, 0xff, 0xff, 0xff, 0x0f}
	long := func(num protowire.Number) []byte { return append(tag(num, protowire.BytesType), huge...) }
	number := func(num protowire.Number, n uint64) []byte {
		return protowire.AppendVarint(tag(num, protowire.VarintType), n)
	}
	twice := func(b []byte) []byte { return append(slices.Clone(b), b...) }
	return map[string][]byte{
		"batch namespace of 4G":      long(1),
		"batch operations of 4G":     long(3),
		"batch key of 4G":            inside(3, long(6)),
		"batch owner of 4G":          inside(3, long(7)),
		"batch kind beyond a byte":   inside(3, number(1, 256)),
		"batch policy beyond 16":     inside(3, number(2, 1<<16)),
		"batch budget beyond 32":     inside(3, number(3, 1<<32)),
		"batch flag of 2":            inside(3, number(11, 2)),
		"batch life beyond 63":       inside(2, number(2, 1<<63)),
		"batch namespace twice":      twice(inside(1, []byte("a"))),
		"batch key twice":            inside(3, twice(inside(6, []byte("a")))),
		"batch namespace a number":   number(1, 7),
		"batch operation a number":   number(3, 7),
		"batch key fixed":            inside(3, append(tag(6, protowire.Fixed32Type), 1, 2, 3, 4)),
		"batch of groups":            bytes.Repeat(tag(9, protowire.StartGroupType), 200_000),
		"batch of an end":            tag(9, protowire.EndGroupType),
		"batch of field zero":        {0x02, 0x00},
		"batch varint without end":   bytes.Repeat([]byte{0xff}, 200_000),
		"batch with 257 operations":  bytes.Repeat(inside(3, nil), MaxOperations+1),
		"batch with 100k operations": bytes.Repeat(inside(3, nil), 100_000),
		"answer results of 4G":       long(1),
		"answer text of 4G":          inside(1, long(14)),
		"answer result of 4G":        inside(1, long(10)),
		"answer status beyond 16":    inside(1, number(6, 1<<16)),
		"answer with 257 results":    bytes.Repeat(inside(1, nil), MaxOperations+1),
		"response lines of 4G":       long(2),
		"response body of 4G":        long(3),
		"response body twice":        twice(inside(3, []byte("a"))),
		"response with 1025 lines":   bytes.Repeat(inside(2, nil), MaxHeaderLines+1),
		"response line of groups":    inside(2, bytes.Repeat(tag(9, protowire.StartGroupType), 200_000)),
	}
}

// decodeBound is what decoding may allocate beside a small multiple of the
// input: the slices of one full batch, answer or response as they grow.
const decodeBound = 256 << 10

func TestHostile(t *testing.T) {
	for name, fields := range hostile() {
		for _, k := range kinds {
			b := whole(fields...)
			if strings.HasPrefix(name, "response") {
				b[0] = ResponseVersion
			}
			var err error
			got := allocated(func() { _, err = k.decode(b) })
			if err == nil && bytes.HasPrefix([]byte(name), []byte(k.name)) {
				t.Errorf("%s decodes", name)
			}
			if limit := decodeBound + 4*uint64(len(b)); got > limit {
				t.Errorf("%s as a %s of %d bytes: allocated %d, want at most %d", name, k.name, len(b), got, limit)
			}
		}
	}
}

// TestHeader: a length that is not the message's, or not of its fixed width.
func TestHeader(t *testing.T) {
	for name, c := range map[string]struct {
		b    []byte
		want error
	}{
		"no length":    {[]byte{Version}, ErrMalformed},
		"half of it":   {[]byte{Version, 0x80, 0x80}, ErrMalformed},
		"shorter form": {[]byte{Version, 0, 0, 0, 0}, ErrMalformed},
		"no end":       {[]byte{Version, 0x80, 0x80, 0x80, 0x80}, ErrMalformed},
		"too long":     {[]byte{Version, 0x81, 0x80, 0x80, 0}, ErrMalformed},
		"too short":    {append(whole(), 0), ErrTrailing},
		"right":        {whole(), nil},
	} {
		if err := DecodeAnswer(c.b, &Answer{}); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
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

func FuzzDecode(f *testing.F) {
	for _, k := range kinds {
		enc, _ := k.encode()
		f.Add(enc)
	}
	for _, body := range hostile() {
		if len(body) < 1000 {
			f.Add(whole(body...))
		}
	}
	f.Add([]byte{})
	f.Add([]byte{Version + 1, 0x80})
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, k := range kinds {
			var m any
			var err error
			got := allocated(func() { m, err = k.decode(b) })
			// An empty header line takes 2 bytes and becomes 32, an operation 200.
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
