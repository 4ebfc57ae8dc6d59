//go:build wasip1 && go1.24 && !tinygo

package wasip1

import (
	"unsafe"

	"github.com/tetratelabs/proxy-wasm-go-sdk/proxywasm/internal"
)

//go:wasmimport env proxy_http_call
func proxyHttpCall(upstream unsafe.Pointer, upstreamSize uint32, headers unsafe.Pointer, headersSize uint32, body unsafe.Pointer, bodySize uint32, trailers unsafe.Pointer, trailersSize uint32, timeout uint32, id unsafe.Pointer) uint32

// ProxyHttpCall is the SDK's own way to a callout; its answer is dropped when
// the calling stream is gone. See Callout.
func (host) ProxyHttpCall(upstream *byte, upstreamSize int, headers *byte, headersSize int, body *byte, bodySize int, trailers *byte, trailersSize int, timeout uint32, id *uint32) internal.Status {
	return internal.Status(proxyHttpCall(ptr(upstream), uint32(upstreamSize), ptr(headers), uint32(headersSize), ptr(body), uint32(bodySize), ptr(trailers), uint32(trailersSize), timeout, unsafe.Pointer(id)))
}

// Answer is what a callout came back with. Headers 0 means that there is no
// answer to read: the connection was reset after the response's headers, or the
// response was larger than Envoy buffers (32 MiB by default). A refused
// connection and a timeout arrive as answers that Envoy made up.
type Answer struct{ Headers, BodyBytes, Trailers uint32 }

// calls holds the callbacks of callouts under way, by the host's id.
var calls = map[uint32]func(Answer){}

// Callout sends an HTTP request to cluster. headers is an encoded header map
// ([EncodePairs]) with :method, :path and :authority; it and body are read
// before Callout returns. timeoutMS 0 means no timeout.
//
// A status other than 0 means that nothing was sent and done will not be
// called: 2 for an unknown cluster or a missing pseudo header, 10 for a cluster
// without a healthy host or with an open circuit breaker. Otherwise done is
// called exactly once with the root context effective, whatever has become of
// the stream that was current, unless the root context is destroyed first.
func Callout(cluster string, headers, body []byte, timeoutMS uint32, done func(Answer)) uint32 {
	var id uint32
	st := proxyHttpCall(stringPtr(cluster), uint32(len(cluster)), bytesPtr(headers), uint32(len(headers)),
		bytesPtr(body), uint32(len(body)), nil, 0, timeoutMS, unsafe.Pointer(&id))
	if st == 0 {
		calls[id] = done
	}
	return st
}

// EncodePairs encodes a header map as the host reads it, so that headers which
// never change are encoded once.
func EncodePairs(pairs [][2]string) []byte { return internal.SerializeMap(pairs) }

// SetEffectiveContext makes later host calls act on a stream. It reports
// whether the stream still exists.
func SetEffectiveContext(context uint32) bool {
	return host{}.ProxySetEffectiveContext(context) == internal.StatusOK
}
