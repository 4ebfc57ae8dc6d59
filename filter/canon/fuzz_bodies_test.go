package canon

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"io"
	"mime"
	"mime/multipart"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// FuzzForm: what two forms share in canonical form, net/url reads alike.
func FuzzForm(f *testing.F) {
	for _, pair := range [][2]string{
		{"a=1&b=2", "b=2&a=1"}, {"a=x+y", "%61=x%20y"}, {"a=1&a=2", "a=2&a=1"}, {"a", "a="}, {"&&a=1", "a=1&"},
		{"a[]=1&a[b]=2", "a[b]=2&a[]=1"}, {"a.b=1&a_b=2", "a_b=2&a.b=1"}, {"a=%2541", "a=%41"}, {"%", ";"}, {"=", "[]=1"},
	} {
		f.Add([]byte(pair[0]), []byte(pair[1]))
	}
	f.Fuzz(func(t *testing.T, one, two []byte) {
		a, err := AppendForm(nil, one, nil)
		if err != nil {
			return
		}
		values, err := url.ParseQuery(string(one))
		if err != nil {
			t.Fatalf("%q is no form to net/url: %v", one, err)
		}
		pairs, _ := ParseForm(one)
		read := url.Values{}
		for _, p := range pairs {
			read.Add(string(p.Name), string(p.Value))
		}
		if read.Encode() != values.Encode() {
			t.Fatalf("%q: %v, net/url reads %v", one, read, values)
		}
		b, err := AppendForm(nil, two, nil)
		if err != nil || !bytes.Equal(a, b) {
			return
		}
		others, err := url.ParseQuery(string(two))
		if err != nil || values.Encode() != others.Encode() {
			t.Fatalf("%q and %q are one form", one, two)
		}
	})
}

// oracleParts is what mime/multipart reads, in its order.
func oracleParts(body []byte, boundary string) (parts [][4]string, err error) {
	r := multipart.NewReader(bytes.NewReader(body), boundary)
	for {
		p, err := r.NextRawPart()
		if err == io.EOF {
			return parts, nil
		}
		if err != nil {
			return nil, err
		}
		content, err := io.ReadAll(p)
		if err != nil {
			return nil, err
		}
		_, params, _ := mime.ParseMediaType(p.Header.Get("Content-Disposition"))
		parts = append(parts, [4]string{p.FormName(), params["filename"], p.Header.Get("Content-Type"), string(content)})
	}
}

// FuzzMultipart: what the parser accepts, mime/multipart reads alike, and two
// bodies of one hash have the same parts.
func FuzzMultipart(f *testing.F) {
	a, b := multipartBody("x", field("a", "1"), file("f", "n", "c")), multipartBody("x", field("a", "1"), field("b", "\r\n"))
	f.Add([]byte(a), []byte(b), "x")
	f.Add([]byte(b), []byte(multipartBody("x", field("b", "\r\n"), field("a", "1"))), "x")
	f.Add([]byte("--x--"), []byte("--x--\r\n"), "x")
	f.Add([]byte(strings.ReplaceAll(a, "\r\n", "\n")), []byte(a+a), "x")
	f.Add([]byte(multipartBody("x", field("a", "1\r\n--xy"))), []byte("--x\r\n\r\n--x--"), "x")
	f.Fuzz(func(t *testing.T, one, two []byte, boundary string) {
		h, err := hashOf(string(one), boundary)
		if err != nil {
			return
		}
		parts, _ := parseMultipart(one, boundary)
		want, err := oracleParts(one, boundary)
		if len(parts) > 0 && (err != nil || len(parts) != len(want)) {
			t.Fatalf("%q: %d parts, mime/multipart reads %d (%v)", one, len(parts), len(want), err)
		}
		for i, p := range parts {
			if p.name != want[i][0] && !strings.ContainsAny(want[i][0]+p.name, "%*") || string(p.content) != want[i][3] {
				t.Fatalf("%q: part %d is %q=%q, mime/multipart reads %q", one, i, p.name, p.content, want[i])
			}
		}
		if other, err := hashOf(string(two), boundary); err != nil || other != h {
			return
		}
		others, err := oracleParts(two, boundary)
		order := func(a, b [4]string) int {
			return strings.Compare(strings.Join(a[:], "\x00"), strings.Join(b[:], "\x00"))
		}
		slices.SortFunc(want, order)
		slices.SortFunc(others, order)
		if len(parts) > 0 && (err != nil || !slices.Equal(want, others)) {
			t.Fatalf("%q and %q have one hash", one, two)
		}
	})
}

// FuzzDecode: what is decoded is what the standard library reads to the end, and
// never more than the limit.
func FuzzDecode(f *testing.F) {
	const limit = 4 << 10
	f.Add(gzipped(f, "hello"))
	f.Add(gzipped(f, strings.Repeat("0", limit+1)))
	f.Add(append(gzipped(f, "a"), gzipped(f, "b")...))
	f.Add(packed(f, "hello", func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) }))
	f.Add([]byte{0x1f, 0x8b})
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, coding := range []string{"gzip", "deflate"} {
			got, ok := decode(body, coding, limit)
			if !ok {
				continue
			}
			var r io.Reader
			var err error
			if coding == "gzip" {
				r, err = gzip.NewReader(bytes.NewReader(body))
			} else {
				r, err = zlib.NewReader(bytes.NewReader(body))
			}
			if err != nil {
				t.Fatal(err)
			}
			want, err := io.ReadAll(r)
			if err != nil || len(got) > limit || !bytes.Equal(got, want) {
				t.Fatalf("%s: %d bytes, want %d, %v", coding, len(got), len(want), err)
			}
		}
	})
}

// FuzzIgnore: leaving members out never breaks the text.
func FuzzIgnore(f *testing.F) {
	f.Add([]byte(`{"t":1,"a":{"t":[{}],"b":2}}`), "/a/t")
	f.Add([]byte(`{"a":[{"t":{"t":1}}]}`), "/a/0/t")
	f.Add([]byte(`{"t":{}}`), "/t")
	f.Add([]byte(`{"":{"":1,"~":2}}`), "//~0")
	f.Fuzz(func(t *testing.T, body []byte, pointer string) {
		if CheckPointer(pointer) != nil {
			return
		}
		text, err := appendWithout(nil, body, []string{pointer, pointer + "/a", "/t"})
		if err != nil {
			return
		}
		again, err := Append(nil, text)
		if err != nil || !bytes.Equal(text, again) {
			t.Fatalf("%q without %q is %q: %v", body, pointer, text, err)
		}
	})
}
