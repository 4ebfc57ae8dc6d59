package host

import (
	"fmt"
	"time"
)

// plugin is one configuration of the filter.
type plugin struct {
	config []byte
	number int // counts from 1
}

// fctx is one context inside a VM: id 0 of the VM itself, a root context per
// configuration, and one per stream.
type fctx struct {
	vm      *vm
	id      uint32
	root    *fctx // itself for a root context
	plugin  *plugin
	stream  *Stream // of an HTTP stream; else nil
	conn    *Conn   // of a TCP connection; else nil
	created bool    // proxy_on_context_create has been called
	deleted bool    // the host's side is gone: no more callbacks

	// starting is the configuration during proxy_on_configure.
	starting *plugin

	// What of a stream the filter may touch now; nil where not.
	reqHeaders, reqTrailers, respHeaders, respTrailers *Headers
	reqBody, respBody                                  *buffer
	// bufferingReq and bufferingResp say that the filter answered the last body
	// callback with 1: the body it sees is the buffered one.
	bufferingReq, bufferingResp bool
	// staleReq and staleResp say that it answered with 2 or 3: the body it sees is
	// a chunk that is gone.
	staleReq, staleResp bool
	end                 bool // the last callback's end_of_stream
	logging             bool // in proxy_on_log
	// failed and refused: the VM trapped, and the 503 for it was sent.
	failed, refused bool

	// Of a root context.
	calls         map[uint32]*callout
	answer        *callAnswer // in proxy_on_http_call_response
	grpcCalls     map[uint32]*grpcCall
	grpcInitial   *Headers
	grpcTrailing  *Headers
	grpcMessage   []byte
	statusCode    uint32
	statusMessage string
	tick          *timer
	tickEvery     time.Duration
	declared      map[string]bool
}

// The statuses of callbacks on a stream, as Envoy's filter manager takes them.
type (
	headersStatus  int
	dataStatus     int
	trailersStatus int
)

const (
	headersContinue headersStatus = iota
	headersStop
	headersContinueAndEnd // a filter's 2; Envoy takes it for continue
	headersStopAllBuffer
	headersStopAllWatermark
)

const (
	dataContinue dataStatus = iota
	dataStopAndBuffer
	dataStopAndWatermark
	dataStopNoBuffer
)

const (
	trailersContinue trailersStatus = iota
	trailersStop
)

func showHeaders(r uint64) string {
	return show(r, "continue", "pause", "continue_and_end", "stop_all_and_buffer", "stop_all_and_watermark")
}

func showData(r uint64) string {
	return show(r, "continue", "stop_and_buffer", "stop_and_watermark", "stop_no_buffer")
}

func showTrailers(r uint64) string { return show(r, "continue", "pause") }

func showBool(r uint64) string { return show(r, "false", "true") }

func show(r uint64, names ...string) string {
	if r < uint64(len(names)) {
		return names[r]
	}
	return fmt.Sprint(r)
}

func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// newContext makes the host's side of a context; the filter is not told yet.
func (v *vm) newContext(p *plugin, root *fctx, s *Stream) *fctx {
	x := &fctx{vm: v, id: v.allocID(), plugin: p, root: root, stream: s}
	if root == nil {
		x.root = x
		x.calls, x.grpcCalls = map[uint32]*callout{}, map[uint32]*grpcCall{}
		x.declared = map[string]bool{}
	}
	v.contexts[x.id] = x
	return x
}

// create tells the filter of the context, once.
func (x *fctx) create() {
	if x.vm != nil && !x.vm.failed && !x.created && x.vm.has("proxy_on_context_create") {
		parent := uint32(0)
		if x.root != x {
			parent = x.root.id
		}
		x.vm.invoke(x, "proxy_on_context_create", fmt.Sprintf("root=%d", parent), nil, uint64(parent))
		x.created = true
		x.vm.afterCall()
	}
	x.created = true
}

// headers calls proxy_on_request_headers or proxy_on_response_headers.
func (x *fctx) headers(name string, n int, end bool) headersStatus {
	if x.trapped() {
		return headersStopAllWatermark
	}
	if !x.vm.has(name) {
		return headersContinue
	}
	defer x.vm.afterCall()
	r := x.vm.invoke(x, name, fmt.Sprintf("n=%d, end=%d", n, bit(end)), showHeaders, uint64(n), bit(end))
	if x.trapped() {
		return headersStopAllWatermark
	}
	switch st := headersStatus(r); {
	case x.vm.stop || r > uint64(headersStopAllWatermark):
		return headersStopAllWatermark
	case st == headersStop && !x.vm.h.o.AllowOnHeadersStopIteration:
		return headersStopAllWatermark
	case st == headersContinueAndEnd:
		return headersContinue
	default:
		return st
	}
}

// body calls proxy_on_request_body or proxy_on_response_body.
func (x *fctx) body(name string, n int, end bool) dataStatus {
	if x.trapped() {
		return dataStopNoBuffer
	}
	if !x.vm.has(name) {
		return dataContinue
	}
	defer x.vm.afterCall()
	r := x.vm.invoke(x, name, fmt.Sprintf("n=%d, end=%d", n, bit(end)), showData, uint64(n), bit(end))
	if x.trapped() || x.vm.stop || r > uint64(dataStopNoBuffer) {
		return dataStopNoBuffer
	}
	return dataStatus(r)
}

// trailers calls proxy_on_request_trailers or proxy_on_response_trailers.
func (x *fctx) trailers(name string, n int) trailersStatus {
	if x.trapped() {
		return trailersStop
	}
	if !x.vm.has(name) {
		return trailersContinue
	}
	defer x.vm.afterCall()
	r := x.vm.invoke(x, name, fmt.Sprintf("n=%d", n), showTrailers, uint64(n))
	if x.trapped() || x.vm.stop || r > uint64(trailersStop) {
		return trailersStop
	}
	return trailersStatus(r)
}

// event calls a callback that returns nothing, in a VM that lives.
func (x *fctx) event(name, args string, params ...uint64) {
	if x.vm.failed || !x.vm.has(name) {
		return
	}
	defer x.vm.afterCall()
	x.vm.invoke(x, name, args, nil, params...)
}

func (x *fctx) onQueueReady(token uint32) {
	x.event("proxy_on_queue_ready", fmt.Sprintf("queue=%d", token), uint64(token))
}

// log calls proxy_on_log; a stream that never reached the filter is made known
// to it first.
func (x *fctx) log() {
	if !x.created {
		x.create()
	}
	x.logging = true
	x.event("proxy_on_log", "")
	x.logging = false
}

// done calls proxy_on_done; true means that the filter is done with the context.
func (x *fctx) done() bool {
	if x.vm.failed || !x.vm.has("proxy_on_done") {
		return true
	}
	defer x.vm.afterCall()
	return x.vm.invoke(x, "proxy_on_done", "", showBool) != 0
}

// delete calls proxy_on_delete and ends the context. Callouts of a root context
// are given up without a callback.
func (x *fctx) delete() {
	if x.deleted {
		return
	}
	if x.created {
		x.event("proxy_on_delete", "")
	}
	x.end = true
	x.deleted = true
	delete(x.vm.contexts, x.id)
	x.cancelCalls()
	x.vm.h.stopTimer(x.tick)
}

// setTick arms, changes or ends the timer of a root context.
func (x *fctx) setTick(every time.Duration) {
	h := x.vm.h
	h.stopTimer(x.tick)
	x.tickEvery = every
	if every > 0 {
		x.tick = h.setTimer(every, x.ticked)
	}
}

func (x *fctx) ticked() {
	if x.deleted || x.vm.failed || !x.vm.has("proxy_on_tick") {
		return
	}
	x.event("proxy_on_tick", "")
	if x.tickEvery > 0 && !x.deleted {
		x.vm.h.stopTimer(x.tick)
		x.tick = x.vm.h.setTimer(x.tickEvery, x.ticked)
	}
}
