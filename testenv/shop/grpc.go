package shop

import (
	"encoding/binary"
	"net/http"
)

// answerGRPC answers the unary method /shop.Shop/Order. The framing is written
// by hand: five bytes of prefix before a message of three fields is no reason
// for a dependency.
//
//	message OrderReply {
//	  string execution = 1;
//	  int64  fence     = 2;
//	  string effect    = 3;
//	}
//
// A stale fence is ABORTED (10), every other refusal FAILED_PRECONDITION (9),
// x-shop-status of 400 and above UNKNOWN (2). x-shop-trailer replaces
// grpc-status like any other line.
func (s *Shop) answerGRPC(w http.ResponseWriter, q *request, out outcome) {
	k := &q.knobs
	h := w.Header()
	h.Set("Content-Type", "application/grpc")
	h.Set("X-Shop-Execution", q.id)
	h.Set("Trailer", "Grpc-Status")
	code := "0"
	switch {
	case out.effect == effectStale:
		code = "10"
		h.Set("Idempotency-Outcome", "not-executed")
	case out.refused():
		code = "9"
	case q.fails():
		code = "2"
	}
	s.setLines(h, k)
	w.WriteHeader(http.StatusOK)
	if code == "0" {
		m := message(orderReply(q, out))
		if k.fault == half {
			m = m[:len(m)/2]
		}
		w.Write(m) // an error here means that the caller left
	}
	cutIfHalf(w, k)
	h.Set("Grpc-Status", code)
	setTrailers(h, k)
}

// message frames an uncompressed gRPC message.
func message(m []byte) []byte {
	b := binary.BigEndian.AppendUint32([]byte{0}, uint32(len(m)))
	return append(b, m...)
}

func orderReply(q *request, out outcome) []byte {
	b := appendString(nil, 1, q.id)
	b = append(b, 2<<3) // field 2, varint
	b = binary.AppendUvarint(b, uint64(q.fence))
	return appendString(b, 3, out.effect)
}

// appendString adds a length-delimited protobuf field.
func appendString(b []byte, field byte, s string) []byte {
	b = append(b, field<<3|2)
	b = binary.AppendUvarint(b, uint64(len(s)))
	return append(b, s...)
}
