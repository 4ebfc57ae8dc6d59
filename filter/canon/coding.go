package canon

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"io"
	"strings"
	"sync"
)

// coding returns the one content coding that the lines of Content-Encoding name,
// in lower case, "" for none.
func coding(contentEncoding string) string {
	c := strings.ToLower(strings.Trim(contentEncoding, " \t"))
	switch c {
	case "identity":
		return ""
	case "x-gzip":
		return "gzip"
	}
	return c
}

var gzipReaders = sync.Pool{New: func() any { return new(gzip.Reader) }}

// decode returns what a body in the content coding gzip or deflate holds. ok is
// false where it is broken, holds more than limit bytes, has anything behind its
// end or a second member (of which some decoders take no notice), or where the
// coding is another.
func decode(body []byte, coding string, limit int64) (content []byte, ok bool) {
	from := bytes.NewReader(body) // an io.ByteReader: nothing is read past the end
	var r io.Reader
	switch coding {
	case "gzip":
		z := gzipReaders.Get().(*gzip.Reader)
		defer gzipReaders.Put(z)
		if z.Reset(from) != nil {
			return nil, false
		}
		z.Multistream(false)
		r = z
	case "deflate": // zlib's format (RFC 9110, section 8.4.1.2)
		z, err := zlib.NewReader(from)
		if err != nil {
			return nil, false
		}
		r = z
	default:
		return nil, false
	}
	var out bytes.Buffer
	out.Grow(int(min(int64(len(body))*4, limit, 1<<20)) + bytes.MinRead)
	n, err := out.ReadFrom(io.LimitReader(r, limit+1))
	if err != nil || n > limit || from.Len() > 0 {
		return nil, false
	}
	return out.Bytes(), true
}
