//go:build wasip1

package main

import "unsafe"

// held keeps what the host allocated reachable for ever: a probe does not live
// long.
var held = map[uint32][]byte{}

//go:wasmexport proxy_on_memory_allocate
func allocate(size uint32) uint32 {
	b := make([]byte, max(size, 1))
	at := uint32(uintptr(unsafe.Pointer(unsafe.SliceData(b))))
	held[at] = b
	return at
}

//go:wasmexport proxy_abi_version_0_2_1
func abiVersion() {}

//go:wasmexport proxy_on_context_create
func onContextCreate(ctx, root uint32) {
	if root != 0 {
		streams[ctx] = &stream{root: root, calls: map[string]int{}}
	}
	note(ctx, "create", root)
}

//go:wasmexport proxy_on_vm_start
func onVMStart(ctx, size uint32) uint32 {
	note(ctx, "vmstart", size)
	return 1
}

//go:wasmexport proxy_on_configure
func onConfigure(ctx, size uint32) uint32 {
	note(ctx, "configure", size)
	configure(ctx, size)
	return play(ctx, ctx, "configure", false, 1)
}

//go:wasmexport proxy_on_tick
func onTick(ctx uint32) { note(ctx, "tick"); play(ctx, ctx, "tick", false, 0) }

//go:wasmexport proxy_on_queue_ready
func onQueueReady(ctx, token uint32) {
	note(ctx, "queue", token)
	lastToken = token
	play(ctx, ctx, "queue", false, 0)
}

//go:wasmexport proxy_on_request_headers
func onRequestHeaders(ctx, n, end uint32) uint32 {
	note(ctx, "rqh", n, end)
	if s := streams[ctx]; s != nil {
		if v, st := header(0, "x-probe"); st == 0 {
			s.script = parse(v)
		}
	}
	return play(ctx, ctx, "rqh", end != 0, 0)
}

//go:wasmexport proxy_on_request_body
func onRequestBody(ctx, n, end uint32) uint32 {
	note(ctx, "rqb", n, end)
	return play(ctx, ctx, "rqb", end != 0, 0)
}

//go:wasmexport proxy_on_request_trailers
func onRequestTrailers(ctx, n uint32) uint32 {
	note(ctx, "rqt", n)
	return play(ctx, ctx, "rqt", false, 0)
}

//go:wasmexport proxy_on_response_headers
func onResponseHeaders(ctx, n, end uint32) uint32 {
	note(ctx, "rsh", n, end)
	return play(ctx, ctx, "rsh", end != 0, 0)
}

//go:wasmexport proxy_on_response_body
func onResponseBody(ctx, n, end uint32) uint32 {
	note(ctx, "rsb", n, end)
	return play(ctx, ctx, "rsb", end != 0, 0)
}

//go:wasmexport proxy_on_response_trailers
func onResponseTrailers(ctx, n uint32) uint32 {
	note(ctx, "rst", n)
	return play(ctx, ctx, "rst", false, 0)
}

//go:wasmexport proxy_on_http_call_response
func onHTTPCall(ctx, token, headers, body, trailers uint32) {
	note(ctx, "cb", token, headers, body, trailers)
	owner, ok := owners[token]
	if !ok {
		return
	}
	delete(owners, token)
	play(owner.ctx, owner.ctx, "cb", false, 0, owner.script)
}

//go:wasmexport proxy_on_grpc_receive_initial_metadata
func onGRPCInitial(ctx, token, n uint32) {
	note(ctx, "ginit", token, n)
	play(ctx, ctx, "ginit", false, 0)
}

//go:wasmexport proxy_on_grpc_receive
func onGRPCReceive(ctx, token, n uint32) {
	note(ctx, "grecv", token, n)
	play(ctx, ctx, "grecv", false, 0)
}

//go:wasmexport proxy_on_grpc_receive_trailing_metadata
func onGRPCTrailing(ctx, token, n uint32) {
	note(ctx, "gtrail", token, n)
	play(ctx, ctx, "gtrail", false, 0)
}

//go:wasmexport proxy_on_grpc_close
func onGRPCClose(ctx, token, status uint32) {
	note(ctx, "gclose", token, status)
	play(ctx, ctx, "gclose", false, 0)
}

//go:wasmexport proxy_on_log
func onLog(ctx uint32) { note(ctx, "log"); play(ctx, ctx, "log", false, 0) }

//go:wasmexport proxy_on_done
func onDone(ctx uint32) uint32 { note(ctx, "done"); return play(ctx, ctx, "done", false, 1) }

//go:wasmexport proxy_on_delete
func onDelete(ctx uint32) {
	note(ctx, "delete")
	play(ctx, ctx, "delete", false, 0)
	delete(streams, ctx)
}

//go:wasmexport proxy_on_new_connection
func onNewConnection(ctx uint32) uint32 {
	note(ctx, "newconn")
	return playRoot(ctx, "newconn", false)
}

//go:wasmexport proxy_on_downstream_data
func onDownstreamData(ctx, n, end uint32) uint32 {
	note(ctx, "down", n, end)
	return playRoot(ctx, "down", end != 0)
}

//go:wasmexport proxy_on_upstream_data
func onUpstreamData(ctx, n, end uint32) uint32 {
	note(ctx, "up", n, end)
	return playRoot(ctx, "up", end != 0)
}

//go:wasmexport proxy_on_downstream_connection_close
func onDownstreamClose(ctx, by uint32) {
	note(ctx, "downclose", by)
	playRoot(ctx, "downclose", false)
}

//go:wasmexport proxy_on_upstream_connection_close
func onUpstreamClose(ctx, by uint32) {
	note(ctx, "upclose", by)
	playRoot(ctx, "upclose", false)
}
