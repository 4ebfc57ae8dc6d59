package canon

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"crypto/sha256"
	"io"
	"strings"
	"testing"
)

func packed(t testing.TB, content string, open func(io.Writer) io.WriteCloser) []byte {
	var b bytes.Buffer
	w := open(&b)
	if _, err := io.WriteString(w, content); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func gzipped(t testing.TB, content string) []byte {
	return packed(t, content, func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) })
}

func TestDecode(t *testing.T) {
	const text = "some content, some content"
	gz := gzipped(t, text)
	z := packed(t, text, func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) })
	bare := packed(t, text, func(w io.Writer) io.WriteCloser { f, _ := flate.NewWriter(w, 9); return f })
	broken := bytes.Clone(gz)
	broken[len(broken)-5] ^= 1 // its checksum
	for _, c := range []struct {
		name, coding string
		body         []byte
		limit        int64
		ok           bool
	}{
		{"gzip", "gzip", gz, 1000, true},
		{"deflate", "deflate", z, 1000, true},
		{"exactly the limit", "gzip", gz, int64(len(text)), true},
		{"one byte more", "gzip", gz, int64(len(text)) - 1, false},
		{"deflate without zlib", "deflate", bare, 1000, false},
		{"cut", "gzip", gz[:len(gz)-1], 1000, false},
		{"cut in the header", "gzip", gz[:5], 1000, false},
		{"empty", "gzip", nil, 1000, false},
		{"checksum", "gzip", broken, 1000, false},
		{"a byte behind", "gzip", append(bytes.Clone(gz), 0), 1000, false},
		{"a second member", "gzip", append(bytes.Clone(gz), gz...), 1000, false},
		{"a byte behind zlib", "deflate", append(bytes.Clone(z), 0), 1000, false},
		{"unknown", "br", gz, 1000, false},
	} {
		content, ok := decode(c.body, c.coding, c.limit)
		if ok != c.ok || ok && string(content) != text {
			t.Errorf("%s: %q, %v", c.name, content, ok)
		}
	}
}

// A bomb is decoded no further than the limit, and takes no more memory.
func TestBomb(t *testing.T) {
	const limit = 1 << 20
	bomb := gzipped(t, strings.Repeat("0", 64<<20))
	r := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, ok := decode(bomb, "gzip", limit); ok {
				b.Fatal("decoded")
			}
		}
	})
	if got := r.AllocedBytesPerOp(); got > 8*limit {
		t.Errorf("%d bytes for a limit of %d", got, limit)
	}
}

// Bodies of one kind are equal by their content, of two never.
func TestComparison(t *testing.T) {
	form, parts := "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"
	part := "--x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--x--\r\n"
	digest := func(k Kind, body, media, encoding string) [32]byte {
		c := Comparison{Kind: k, MaxDecoded: 1 << 20}
		sum, _ := c.Digest([]byte(body), media, encoding)
		return sum
	}
	for _, c := range []struct {
		name     string
		one, two [32]byte
		equal    bool
	}{
		{"compressed JSON", digest(JSON, `{"a":1}`, "", ""), digest(JSON, string(gzipped(t, `{ "a": 1.0 }`)), "", " GZip "), true},
		{"identity", digest(JSON, `{"a":1}`, "", ""), digest(JSON, `{"a":1}`, "", "identity"), true},
		{"compressed raw", digest(Raw, "x", "", ""), digest(Raw, string(gzipped(t, "x")), "", "gzip"), true},
		{"a label alone", digest(Raw, "x", "", ""), digest(Raw, "x", "", "br"), false},
		{"two labels", digest(Raw, "x", "", "br"), digest(Raw, "x", "", "zstd"), false},
		{"a label's case", digest(Raw, "x", "", "BR"), digest(Raw, "x", "", "br"), true},
		{"label and body", digest(Raw, "bc", "", "a"), digest(Raw, "c", "", "ab"), false},
		{"a form, and the same bytes", digest(Form, "a=1", form, ""), digest(Form, "a=1", "text/plain", ""), false},
		{"a form, and a parameter", digest(Form, "a=1", form, ""), digest(Form, "a=1", form+"; x=y", ""), false},
		{"a form, and its charset", digest(Form, "a=1", form, ""), digest(Form, "a=1", form+`; charset="utf-8"`, ""), true},
		{"a form in another charset", digest(Form, "a=1", form, ""), digest(Form, "a=1", form+"; charset=latin1", ""), false},
		{"a form, and a raw body of its canonical form", digest(Form, "a=1", form, ""), digest(Form, "\x01a\x021", "", ""), false},
		{"multipart of another type", digest(Multipart, part, parts, ""), digest(Multipart, part, "multipart/mixed; boundary=x", ""), false},
		{"multipart without a boundary", digest(Multipart, part, parts, ""), digest(Multipart, part, "multipart/form-data", ""), false},
	} {
		if (c.one == c.two) != c.equal {
			t.Errorf("%s: equal is %v", c.name, !c.equal)
		}
	}
	if digest(Raw, "x", "", "") != RawDigest([]byte("x")) {
		t.Error("raw bodies have another digest than before")
	}
	if sum, _ := Digest([]byte(`{}`)); digest(JSON, `{}`, "", "") != sum {
		t.Error("JSON bodies have another digest than before")
	}
}

// What stands for a long body is never taken for one.
func TestSubstitutes(t *testing.T) {
	sum := sha256.Sum256([]byte("x"))
	all := [][32]byte{
		RawDigest([]byte("x")), PrefixDigest([]byte("x"), 1, ""), PrefixDigest([]byte("x"), 2, ""), PrefixDigest([]byte("y"), 2, ""),
		PrefixDigest([]byte("x"), 2, "gzip"), ClaimedDigest("sha-256", sum[:], ""), ClaimedDigest("sha-512", sum[:], ""), ClaimedDigest("sha-256", sum[:], "br"),
	}
	for i := range all {
		for j := range i {
			if all[i] == all[j] {
				t.Errorf("%d and %d are equal", i, j)
			}
		}
	}
	if PrefixDigest([]byte("x"), 2, "identity") != PrefixDigest([]byte("x"), 2, "") {
		t.Error("identity is an encoding")
	}
}
