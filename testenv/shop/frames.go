package shop

import (
	"encoding/binary"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

const frameHeaderBytes = 9

// inbound follows the bytes of the caller: the preface, then frames. It keeps
// the payload of header frames only.
type inbound struct {
	blind   bool // HTTP/1.1, or bytes that cannot be followed: look no further
	preface int  // how many bytes of it have come
	head    []byte
	current frame
	left    uint32 // of the current frame's payload
	payload []byte
	block   []byte // header block, over continuation frames
	decoder *hpack.Decoder
	asks    bool // the block being decoded holds x-shop-fault: refused
}

func (in *inbound) feed(c *conn, p []byte) {
	for in.preface < len(http2.ClientPreface) && len(p) > 0 {
		if p[0] != http2.ClientPreface[in.preface] {
			in.blind = true
			return
		}
		p = p[1:]
		if in.preface++; in.preface == len(http2.ClientPreface) {
			c.h2.Store(true)
		}
	}
	for len(p) > 0 && !in.blind {
		if in.left == 0 {
			n := min(frameHeaderBytes-len(in.head), len(p))
			in.head, p = append(in.head, p[:n]...), p[n:]
			if len(in.head) < frameHeaderBytes {
				return
			}
			in.current = parseFrame(in.head)
			in.head, in.left = in.head[:0], in.current.length
		}
		n := min(int(in.left), len(p))
		if in.current.kind == http2.FrameHeaders || in.current.kind == http2.FrameContinuation {
			in.payload = append(in.payload, p[:n]...)
		}
		p = p[n:]
		if in.left -= uint32(n); in.left == 0 {
			in.end(c)
			in.payload = in.payload[:0]
		}
	}
}

// end handles a frame that has come whole.
func (in *inbound) end(c *conn) {
	p := in.payload
	switch in.current.kind {
	case http2.FrameRSTStream:
		c.mark(in.current.stream, false) // nothing will go out for it
		return
	case http2.FrameHeaders:
		in.block, in.asks = in.block[:0], false
		padding := 0
		if in.current.flags.Has(http2.FlagHeadersPadded) && len(p) > 0 {
			padding, p = int(p[0]), p[1:]
		}
		if in.current.flags.Has(http2.FlagHeadersPriority) {
			p = p[min(5, len(p)):]
		}
		p = p[:max(0, len(p)-padding)]
	case http2.FrameContinuation:
	default:
		return
	}
	in.block = append(in.block, p...)
	if len(in.block) > maxHeaderBlock {
		in.blind = true
		return
	}
	if !in.current.flags.Has(http2.FlagHeadersEndHeaders) {
		return
	}
	if _, err := in.decoder.Write(in.block); err != nil {
		in.blind = true
		return
	}
	if err := in.decoder.Close(); err != nil {
		in.blind = true
		return
	}
	if in.asks {
		c.mark(in.current.stream, true)
	}
}

// outbound follows the frames of the server.
type outbound struct {
	head    []byte
	left    uint32
	rewrite bool // the current payload is an RST_STREAM code to be replaced
}

// pass returns what to send for p: p itself, or a copy with codes replaced.
func (o *outbound) pass(c *conn, p []byte) []byte {
	sent, copied := p, false
	for at := 0; at < len(p); {
		if o.left == 0 {
			n := min(frameHeaderBytes-len(o.head), len(p)-at)
			o.head = append(o.head, p[at:at+n]...)
			at += n
			if len(o.head) < frameHeaderBytes {
				break
			}
			f := parseFrame(o.head)
			o.head, o.left = o.head[:0], f.length
			o.rewrite = f.kind == http2.FrameRSTStream && f.length == 4 && c.takeRefused(f.stream)
			continue
		}
		n := min(int(o.left), len(p)-at)
		if o.rewrite {
			if !copied {
				sent, copied = append([]byte(nil), p...), true
			}
			var code [4]byte
			binary.BigEndian.PutUint32(code[:], uint32(http2.ErrCodeRefusedStream))
			copy(sent[at:at+n], code[4-o.left:])
		}
		at += n
		o.left -= uint32(n)
	}
	return sent
}
