package filter

import (
	"encoding/base64"
	"encoding/binary"
	"strconv"
	"strings"

	"github.com/oncewall/oncewall/filter/wire"
)

// A gRPC request is answered by trailers alone: Envoy makes grpc-status of the
// reply's GRPC, and grpc-message of its body. What a problem document says stands
// in grpc-status-details-bin, where gRPC libraries look for it: a
// google.rpc.Status with
//
//	ErrorInfo{reason: the code in UPPER_SNAKE_CASE, domain: "oncewall",
//	          metadata: http_status, original_status, parts}
//	RetryInfo{retry_delay}   where waiting helps
//	Help{links: the problem's page}
const (
	headerGRPCStatus  = "grpc-status"
	headerGRPCDetails = "grpc-status-details-bin"
	grpcDomain        = "oncewall"
	grpcTypes         = "type.googleapis.com/google.rpc."
)

// problemReply renders a refusal in the form that the request's protocol has.
func (s *Stream) problemReply(p *problem, x extra) *LocalReply {
	if s.rule != nil {
		p = s.rule.problem(p)
	}
	r := p.reply(x)
	if !s.grpc {
		return r
	}
	message := p.title
	if x.reason != "" {
		message += ". " + x.reason
	}
	r.Body = []byte(message)
	r.Headers = append(r.Headers, [2]string{headerGRPCDetails, base64.RawStdEncoding.EncodeToString(p.rpcStatus(x, message))})
	return r
}

// rpcStatus is the google.rpc.Status of a refusal.
func (p *problem) rpcStatus(x extra, message string) []byte {
	meta := [][2]string{{"http_status", strconv.Itoa(int(p.status))}}
	if x.status != 0 {
		meta = append(meta, [2]string{"original_status", strconv.Itoa(int(x.status))})
	}
	if len(x.parts) > 0 {
		var parts []string
		for _, id := range x.parts {
			parts = append(parts, wire.PartID(id).String())
		}
		meta = append(meta, [2]string{"parts", strings.Join(parts, ",")})
	}
	info := protoText(nil, 1, strings.ToUpper(strings.ReplaceAll(string(p.code), "-", "_")))
	info = protoText(info, 2, grpcDomain)
	for _, m := range meta {
		info = protoBytes(info, 3, protoText(protoText(nil, 1, m[0]), 2, m[1]))
	}
	b := protoNumber(nil, 1, uint64(p.grpc))
	b = protoText(b, 2, message)
	b = protoBytes(b, 3, protoAny("ErrorInfo", info))
	if p.retryable && x.retryAfterMS > 0 {
		d := protoNumber(nil, 1, uint64(x.retryAfterMS+999)/1000) // as Retry-After has it
		b = protoBytes(b, 3, protoAny("RetryInfo", protoBytes(nil, 1, d)))
	}
	link := protoText(protoText(nil, 1, string(p.code)), 2, problemBase+string(p.code)+".md")
	return protoBytes(b, 3, protoAny("Help", protoBytes(nil, 1, link)))
}

func protoAny(name string, message []byte) []byte {
	return protoBytes(protoText(nil, 1, grpcTypes+name), 2, message)
}

func protoText(b []byte, field byte, s string) []byte { return protoBytes(b, field, []byte(s)) }

// protoBytes adds a length-delimited field.
func protoBytes(b []byte, field byte, v []byte) []byte {
	b = binary.AppendUvarint(append(b, field<<3|2), uint64(len(v)))
	return append(b, v...)
}

// protoNumber adds a varint field.
func protoNumber(b []byte, field byte, v uint64) []byte {
	return binary.AppendUvarint(append(b, field<<3), v)
}
