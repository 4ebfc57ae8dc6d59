//go:build wasip1 && go1.24 && !tinygo

package wasip1

import (
	"unsafe"

	"github.com/tetratelabs/proxy-wasm-go-sdk/proxywasm/internal"
)

//go:wasmimport env proxy_send_local_response
func proxySendLocalResponse(status uint32, details unsafe.Pointer, detailsSize uint32, body unsafe.Pointer, bodySize uint32, headers unsafe.Pointer, headersSize uint32, grpcStatus int32) uint32

// ProxySendLocalResponse answers the effective stream from here, once the
// current callback has returned. Envoy validates nothing: a body with 204 or
// 304 and a line break in a value reach the wire. From a root context it is OK
// and does nothing.
func (host) ProxySendLocalResponse(status uint32, details *byte, detailsSize int, body *byte, bodySize int, headers *byte, headersSize int, grpcStatus int32) internal.Status {
	st := internal.Status(proxySendLocalResponse(status, ptr(details), uint32(detailsSize), ptr(body), uint32(bodySize), ptr(headers), uint32(headersSize), grpcStatus))
	if st == internal.StatusOK {
		resumed(request, response)
	}
	return st
}

//go:wasmimport env proxy_continue_stream
func proxyContinueStream(streamType uint32) uint32

// ProxyContinueStream resumes the paused request (0) or response (1) of the
// effective stream.
func (host) ProxyContinueStream(t internal.StreamType) internal.Status {
	st := internal.Status(proxyContinueStream(uint32(t)))
	if st == internal.StatusOK {
		resumed(side(t & 1)) // request and downstream are even
	}
	return st
}

//go:wasmimport env proxy_close_stream
func proxyCloseStream(streamType uint32) uint32

// ProxyCloseStream resets the effective stream.
func (host) ProxyCloseStream(t internal.StreamType) internal.Status {
	st := internal.Status(proxyCloseStream(uint32(t)))
	if st == internal.StatusOK {
		resumed(request, response)
	}
	return st
}

//go:wasmimport env proxy_set_effective_context
func proxySetEffectiveContext(context uint32) uint32

// ProxySetEffectiveContext makes later host calls act on that context. Bad
// argument: the context is gone.
func (host) ProxySetEffectiveContext(context uint32) internal.Status {
	st := internal.Status(proxySetEffectiveContext(context))
	if st == internal.StatusOK {
		effective = context
	}
	return st
}

//go:wasmimport env proxy_done
func proxyDone() uint32

// ProxyDone says that a context which answered proxy_on_done with false is
// ready to be deleted.
func (host) ProxyDone() internal.Status { return internal.Status(proxyDone()) }

// LocalReply answers the effective stream with response code details, which the
// SDK's SendHttpResponse leaves empty. Envoy turns spaces in details into
// underscores. A gRPC request is answered by trailers alone: grpcStatus, or where
// that is -1 a mapping of status, with the body as its message.
func LocalReply(status uint32, details string, headers [][2]string, body []byte, grpcStatus int32) uint32 {
	h := internal.SerializeMap(headers)
	return proxySendLocalResponse(status, stringPtr(details), uint32(len(details)), bytesPtr(body), uint32(len(body)), bytesPtr(h), uint32(len(h)), grpcStatus)
}
