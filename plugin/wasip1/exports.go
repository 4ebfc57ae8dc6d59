//go:build wasip1 && go1.24 && !tinygo

package wasip1

import (
	"github.com/tetratelabs/proxy-wasm-go-sdk/proxywasm/internal"
	"github.com/tetratelabs/proxy-wasm-go-sdk/proxywasm/types"
)

func flag(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}

//go:wasmexport proxy_on_vm_start
func onVMStart(context, configurationSize uint32) (ok uint32) {
	event(context, "proxy_on_vm_start", func() {
		start()
		ok = flag(bool(internal.ProxyOnVMStart(context, int(configurationSize))))
	})
	return ok
}

//go:wasmexport proxy_on_configure
func onConfigure(context, configurationSize uint32) (ok uint32) {
	event(context, "proxy_on_configure", func() {
		ok = flag(bool(internal.ProxyOnConfigure(context, int(configurationSize))))
	})
	return ok
}

//go:wasmexport proxy_on_context_create
func onContextCreate(context, root uint32) {
	event(context, "proxy_on_context_create", func() {
		start()
		if root == 0 || panicked != nil {
			internal.ProxyOnContextCreate(context, root)
			return
		}
		s := &stream{root: root, absent: true}
		streams[context] = s
		internal.ProxyOnContextCreate(context, root)
		s.absent = false
	})
}

//go:wasmexport proxy_on_request_headers
func onRequestHeaders(context, count, end uint32) uint32 {
	return act(context, "proxy_on_request_headers", kindHTTP, request, func() types.Action {
		return internal.ProxyOnRequestHeaders(context, int(count), end != 0)
	})
}

//go:wasmexport proxy_on_request_body
func onRequestBody(context, size, end uint32) uint32 {
	return act(context, "proxy_on_request_body", kindHTTP, request, func() types.Action {
		return internal.ProxyOnRequestBody(context, int(size), end != 0)
	})
}

//go:wasmexport proxy_on_request_trailers
func onRequestTrailers(context, count uint32) uint32 {
	return act(context, "proxy_on_request_trailers", kindHTTP, request, func() types.Action {
		return internal.ProxyOnRequestTrailers(context, int(count))
	})
}

//go:wasmexport proxy_on_response_headers
func onResponseHeaders(context, count, end uint32) uint32 {
	return act(context, "proxy_on_response_headers", kindHTTP, response, func() types.Action {
		return internal.ProxyOnResponseHeaders(context, int(count), end != 0)
	})
}

//go:wasmexport proxy_on_response_body
func onResponseBody(context, size, end uint32) uint32 {
	return act(context, "proxy_on_response_body", kindHTTP, response, func() types.Action {
		return internal.ProxyOnResponseBody(context, int(size), end != 0)
	})
}

//go:wasmexport proxy_on_response_trailers
func onResponseTrailers(context, count uint32) uint32 {
	return act(context, "proxy_on_response_trailers", kindHTTP, response, func() types.Action {
		return internal.ProxyOnResponseTrailers(context, int(count))
	})
}

//go:wasmexport proxy_on_http_call_response
func onHTTPCallResponse(context, call, headers, bodySize, trailers uint32) {
	event(context, "proxy_on_http_call_response", func() {
		// The SDK takes the context that asked from its own table; until then,
		// and for a Callout, the root context is the active one.
		internal.VMStateSetActiveContextID(context)
		if done, ok := calls[call]; ok {
			delete(calls, call)
			done(Answer{Headers: headers, BodyBytes: bodySize, Trailers: trailers})
			return
		}
		internal.ProxyOnHttpCallResponse(context, call, int(headers), int(bodySize), int(trailers))
	})
}

//go:wasmexport proxy_on_tick
func onTick(context uint32) {
	event(context, "proxy_on_tick", func() { internal.ProxyOnTick(context) })
}

//go:wasmexport proxy_on_queue_ready
func onQueueReady(context, queue uint32) {
	event(context, "proxy_on_queue_ready", func() { internal.ProxyOnQueueReady(context, queue) })
}

//go:wasmexport proxy_on_log
func onLog(context uint32) {
	event(context, "proxy_on_log", func() { internal.ProxyOnLog(context) })
}

//go:wasmexport proxy_on_done
func onDone(context uint32) (done uint32) {
	done = 1 // nothing is left to wait for after a panic
	event(context, "proxy_on_done", func() { done = flag(internal.ProxyOnDone(context)) })
	return done
}

//go:wasmexport proxy_on_delete
func onDelete(context uint32) {
	event(context, "proxy_on_delete", func() {
		s := streams[context]
		delete(streams, context)
		if s == nil || !s.absent {
			internal.ProxyOnDelete(context)
		}
	})
}
