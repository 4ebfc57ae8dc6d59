package canon

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// part spells one part; lines are its headers.
func part(content string, lines ...string) string {
	return strings.Join(lines, "\r\n") + "\r\n\r\n" + content
}

func multipartBody(boundary string, parts ...string) string {
	var b strings.Builder
	for _, p := range parts {
		fmt.Fprintf(&b, "--%s\r\n%s\r\n", boundary, p)
	}
	fmt.Fprintf(&b, "--%s--\r\n", boundary)
	return b.String()
}

func field(name, value string) string {
	return part(value, `Content-Disposition: form-data; name="`+name+`"`)
}

func file(name, filename, content string) string {
	return part(content, `Content-Disposition: form-data; name="`+name+`"; filename="`+filename+`"`, "Content-Type: text/plain")
}

func hashOf(body, boundary string, ignore ...string) (sum [32]byte, err error) {
	h := sha256.New()
	err = hashMultipart(h, []byte(body), boundary, ignore)
	return [32]byte(h.Sum(nil)), err
}

func TestMultipart(t *testing.T) {
	a, b, f := field("a", "1"), field("b", "2"), file("f", "x.txt", "hello")
	base := multipartBody("x", a, b, f)
	for name, c := range map[string]struct {
		body, boundary string
		ignore         []string
		equal          bool
	}{
		"the same":                 {base, "x", nil, true},
		"another boundary":         {multipartBody("--y z", a, b, f), "--y z", nil, true},
		"no line break at the end": {strings.TrimSuffix(base, "\r\n"), "x", nil, true},
		"order of fields":          {multipartBody("x", b, a, f), "x", nil, true},
		"a field behind the file":  {multipartBody("x", a, f, b), "x", nil, false},
		"case and order of headers": {multipartBody("x", a, b, part("hello",
			"content-type:text/plain", "CONTENT-DISPOSITION:  Form-Data ;filename=x.txt; name=f ")), "x", nil, true},
		"content":               {multipartBody("x", a, b, file("f", "x.txt", "Hello")), "x", nil, false},
		"filename":              {multipartBody("x", a, b, file("f", "y.txt", "hello")), "x", nil, false},
		"name":                  {multipartBody("x", a, b, file("g", "x.txt", "hello")), "x", nil, false},
		"type":                  {multipartBody("x", a, b, part("hello", `Content-Disposition: form-data; name="f"; filename="x.txt"`, "Content-Type: text/html")), "x", nil, false},
		"no type":               {multipartBody("x", a, b, part("hello", `Content-Disposition: form-data; name="f"; filename="x.txt"`)), "x", nil, false},
		"another header":        {multipartBody("x", a, b, part("hello", `Content-Disposition: form-data; name="f"; filename="x.txt"`, "Content-Type: text/plain", "X: 1")), "x", nil, false},
		"a part less":           {multipartBody("x", a, f), "x", nil, false},
		"a part twice":          {multipartBody("x", a, a, b, f), "x", nil, false},
		"ignored":               {multipartBody("x", field("t", "9"), a, b, f), "x", []string{"t"}, true},
		"ignored, another case": {multipartBody("x", field("T", "9"), a, b, f), "x", []string{"t"}, false},
		"ignored, twice":        {multipartBody("x", field("t", "9"), field("t", "9"), a, b, f), "x", []string{"t"}, false},
		"ignored, but a file":   {multipartBody("x", file("t", "t", "9"), a, b, f), "x", []string{"t"}, false},
		"not ignored":           {multipartBody("x", field("t", "9"), a, b, f), "x", nil, false},
	} {
		one, err1 := hashOf(base, "x", c.ignore...)
		two, err2 := hashOf(c.body, c.boundary, c.ignore...)
		if err1 != nil || err2 != nil {
			t.Errorf("%s: %v, %v", name, err1, err2)
		} else if (one == two) != c.equal {
			t.Errorf("%s: equal is %v", name, !c.equal)
		}
	}
	ab, _ := hashOf(multipartBody("x", field("a", "1"), field("A", "2")), "x")
	ba, _ := hashOf(multipartBody("x", field("A", "2"), field("a", "1")), "x")
	if ab == ba {
		t.Error("the order of fields that some parsers take for one does not count")
	}
}

func TestMultipartRefuses(t *testing.T) {
	a := field("a", "1")
	many := strings.Repeat("--x\r\n"+a+"\r\n", MaxPairs+1) + "--x--"
	for name, c := range map[string]struct {
		body, boundary string
		err            error
	}{
		"empty":                     {"", "x", ErrMultipart},
		"no boundary":               {multipartBody("", a), "", ErrMultipart},
		"a long boundary":           {multipartBody(strings.Repeat("x", 71), a), strings.Repeat("x", 71), ErrMultipart},
		"a boundary with a quote":   {multipartBody(`x"`, a), `x"`, ErrMultipart},
		"a boundary ends in space":  {multipartBody("x ", a), "x ", ErrMultipart},
		"a preamble":                {"hi\r\n" + multipartBody("x", a), "x", ErrMultipart},
		"an epilogue":               {multipartBody("x", a) + "hi", "x", ErrMultipart},
		"not closed":                {"--x\r\n" + a, "x", ErrMultipart},
		"line feeds alone":          {strings.ReplaceAll(multipartBody("x", a), "\r\n", "\n"), "x", ErrMultipart},
		"a line feed in front":      {multipartBody("x", field("a", "1\n--x\r\nb")), "x", ErrMultipart},
		"spaces behind":             {strings.Replace(multipartBody("x", a, a), "1\r\n--x\r\n", "1\r\n--x \r\n", 1), "x", ErrMultipart},
		"a longer boundary inside":  {multipartBody("x", field("a", "1\r\n--xy\r\n2")), "x", ErrMultipart},
		"no line break for content": {"--x\r\nContent-Disposition: form-data; name=a\r\n\r\n--x--\r\n", "x", ErrMultipart},
		"no headers":                {"--x\r\n\r\n1\r\n--x--\r\n", "x", ErrMultipart},
		"no disposition":            {multipartBody("x", part("1", "Content-Type: a/b")), "x", ErrMultipart},
		"two dispositions":          {multipartBody("x", part("1", "Content-Disposition: form-data; name=a", "content-disposition: form-data; name=b")), "x", ErrMultipart},
		"two names":                 {multipartBody("x", part("1", "Content-Disposition: form-data; name=a; name=b")), "x", ErrMultipart},
		"no name":                   {multipartBody("x", part("1", "Content-Disposition: form-data; filename=a")), "x", ErrMultipart},
		"an escape in the name":     {multipartBody("x", part("1", `Content-Disposition: form-data; name="a\"b"`)), "x", ErrMultipart},
		"attachment":                {multipartBody("x", part("1", "Content-Disposition: attachment; name=a")), "x", ErrMultipart},
		"a folded header":           {multipartBody("x", part("1", "Content-Disposition: form-data;", " name=a")), "x", ErrMultipart},
		"a bare carriage return":    {multipartBody("x", part("1", "Content-Disposition: form-data; name=a", "X: a\rb")), "x", ErrMultipart},
		"a space before the colon":  {multipartBody("x", part("1", "Content-Disposition : form-data; name=a")), "x", ErrMultipart},
		"17 headers":                {multipartBody("x", part("1", append(strings.Split("a:,b:,c:,d:,e:,f:,g:,h:,i:,j:,k:,l:,m:,n:,o:,p:", ","), "Content-Disposition: form-data; name=a")...)), "x", ErrMultipart},
		"long headers":              {multipartBody("x", part("1", "Content-Disposition: form-data; name=a", "X: "+strings.Repeat("y", maxPartHeaderBytes))), "x", ErrMultipart},
		"too many parts":            {many, "x", ErrPairs},
	} {
		if _, err := parseMultipart([]byte(c.body), c.boundary); !errors.Is(err, c.err) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestMediaType(t *testing.T) {
	for _, c := range []struct {
		text, media, boundary string
		ok                    bool
	}{
		{"Multipart/Form-Data; Boundary=Ab", "multipart/form-data", "Ab", true},
		{`multipart/form-data; boundary="a b"; charset="UTF-8"`, "multipart/form-data", "a b", true},
		{"text/plain", "text/plain", "", true},
		{" text/plain ;charset=utf-8 ", "text/plain", "", true},
		{"text/plain; charset=latin1", "", "", false},
		{"text/plain; q=1", "", "", false},
		{"a/b; boundary=x; boundary=y", "", "", false},
		{`a/b; boundary="x\"y"`, "", "", false},
		{`a/b; boundary="x`, "", "", false},
		{`a/b; boundary="x"y`, "", "", false},
		{`a/b; boundary=x"y`, "", "", false},
		{"a/b; boundary=", "", "", false},
		{"a/b;", "", "", false},
		{"a/b; =x", "", "", false},
	} {
		if media, boundary, ok := mediaType(c.text); media != c.media || boundary != c.boundary || ok != c.ok {
			t.Errorf("%q: %q %q %v", c.text, media, boundary, ok)
		}
	}
}

// The parser copies no content.
func TestMultipartSharesItsBody(t *testing.T) {
	body := []byte(multipartBody("x", file("f", "a", strings.Repeat("y", 1000))))
	parts, err := parseMultipart(body, "x")
	if err != nil || len(parts) != 1 {
		t.Fatal(err)
	}
	at := bytes.Index(body, []byte("yyy"))
	body[at] = 'z'
	if parts[0].content[0] != 'z' {
		t.Error("the content was copied")
	}
}
