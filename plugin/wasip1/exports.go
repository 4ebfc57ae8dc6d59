//go:build wasip1

package wasip1

import (
	"github.com/tetratelabs/proxy-wasm-go-sdk/proxywasm/internal"
	"github.com/tetratelabs/proxy-wasm-go-sdk/proxywasm/types"
)

// pause is what a stream's callback returns after a panic: the stream is held
// for the panic function to answer.
const pause = uint32(types.ActionPause)

var panicked = func(context uint32, callback string, value any) {}

// OnPanic sets what is called after a panic in a callback, with the callback's
// context, its name in the interface and the panic's value. A stream whose
// callback panicked is paused: f must answer it. f itself must not panic.
func OnPanic(f func(context uint32, callback string, value any)) { panicked = f }

// guard recovers a panic of the export that defers it.
func guard(context uint32, callback string) {
	if v := recover(); v != nil {
		panicked(context, callback, v)
	}
}

func flag(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}

//go:wasmexport proxy_on_vm_start
func onVMStart(context, configurationSize uint32) (ok uint32) {
	defer guard(context, "proxy_on_vm_start")
	start()
	return flag(bool(internal.ProxyOnVMStart(context, int(configurationSize))))
}

//go:wasmexport proxy_on_configure
func onConfigure(context, configurationSize uint32) (ok uint32) {
	defer guard(context, "proxy_on_configure")
	return flag(bool(internal.ProxyOnConfigure(context, int(configurationSize))))
}

//go:wasmexport proxy_on_context_create
func onContextCreate(context, root uint32) {
	defer guard(context, "proxy_on_context_create")
	start()
	internal.ProxyOnContextCreate(context, root)
}

//go:wasmexport proxy_on_request_headers
func onRequestHeaders(context, count, end uint32) (action uint32) {
	action = pause
	defer guard(context, "proxy_on_request_headers")
	return uint32(internal.ProxyOnRequestHeaders(context, int(count), end != 0))
}

//go:wasmexport proxy_on_request_body
func onRequestBody(context, size, end uint32) (action uint32) {
	action = pause
	defer guard(context, "proxy_on_request_body")
	return uint32(internal.ProxyOnRequestBody(context, int(size), end != 0))
}

//go:wasmexport proxy_on_request_trailers
func onRequestTrailers(context, count uint32) (action uint32) {
	action = pause
	defer guard(context, "proxy_on_request_trailers")
	return uint32(internal.ProxyOnRequestTrailers(context, int(count)))
}

//go:wasmexport proxy_on_response_headers
func onResponseHeaders(context, count, end uint32) (action uint32) {
	action = pause
	defer guard(context, "proxy_on_response_headers")
	return uint32(internal.ProxyOnResponseHeaders(context, int(count), end != 0))
}

//go:wasmexport proxy_on_response_body
func onResponseBody(context, size, end uint32) (action uint32) {
	action = pause
	defer guard(context, "proxy_on_response_body")
	return uint32(internal.ProxyOnResponseBody(context, int(size), end != 0))
}

//go:wasmexport proxy_on_response_trailers
func onResponseTrailers(context, count uint32) (action uint32) {
	action = pause
	defer guard(context, "proxy_on_response_trailers")
	return uint32(internal.ProxyOnResponseTrailers(context, int(count)))
}

//go:wasmexport proxy_on_http_call_response
func onHTTPCallResponse(context, call, headers, bodySize, trailers uint32) {
	defer guard(context, "proxy_on_http_call_response")
	if done, ok := calls[call]; ok {
		delete(calls, call)
		done(Answer{Headers: headers, BodyBytes: bodySize, Trailers: trailers})
		return
	}
	internal.ProxyOnHttpCallResponse(context, call, int(headers), int(bodySize), int(trailers))
}

//go:wasmexport proxy_on_tick
func onTick(context uint32) {
	defer guard(context, "proxy_on_tick")
	internal.ProxyOnTick(context)
}

//go:wasmexport proxy_on_queue_ready
func onQueueReady(context, queue uint32) {
	defer guard(context, "proxy_on_queue_ready")
	internal.ProxyOnQueueReady(context, queue)
}

//go:wasmexport proxy_on_log
func onLog(context uint32) {
	defer guard(context, "proxy_on_log")
	internal.ProxyOnLog(context)
}

//go:wasmexport proxy_on_done
func onDone(context uint32) (done uint32) {
	done = 1
	defer guard(context, "proxy_on_done")
	return flag(internal.ProxyOnDone(context))
}

//go:wasmexport proxy_on_delete
func onDelete(context uint32) {
	defer guard(context, "proxy_on_delete")
	internal.ProxyOnDelete(context)
}
