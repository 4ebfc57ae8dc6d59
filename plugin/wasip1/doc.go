// Package wasip1 lets the unmodified proxy-wasm Go SDK run under the standard
// Go compiler (GOOS=wasip1 GOARCH=wasm, -buildmode=c-shared).
//
// The SDK targets TinyGo. Built by the standard compiler it sends every host
// call through an interface that its own tests register, and exports its
// callbacks as plain Go functions. This module's path lies below the SDK's, so
// it may import the SDK's internal package: it implements that interface with
// //go:wasmimport and calls those functions from //go:wasmexport. A blank import
// is enough to use it: the program's main, which the host does not call, runs
// before the first callback.
//
// In wasm, Go's int and pointers are 64 bits wide in memory while the host
// reads and writes 32: every out-parameter is therefore a local uint32. What
// the host allocates through proxy_on_memory_allocate stays reachable until
// the host call that returns it has claimed it.
//
// Three things are added to the SDK. [Callout] dispatches HTTP callouts whose
// answers are delivered whatever became of the stream that asked: the SDK drops
// an answer whose stream is gone. Attributes that Envoy has moved under xds
// since the SDK named them are found under their old names too. And every export
// recovers, since a panic that left a callback would end the VM and leave each
// stream paused in it hanging:
//
//   - The panic is logged at critical level, with the callback and the stack.
//   - A stream whose callback panicked, or whose callout's callback did, is
//     refused: status 500 with the details "wasm_filter_panic" (a reset where the
//     response has begun), or the TCP connection closed. Its later callbacks do
//     not reach the filter, save those of its end.
//   - After a panic in another callback of a root context (a tick, a queue, a
//     callout of its own) every stream of that context that is paused is refused,
//     since any may have waited for it.
//   - A panic in proxy_on_vm_start or proxy_on_configure refuses the load.
//
// [OnPanic] takes this over. What Go cannot recover from (memory exhausted, a
// panic in a goroutine of the filter's own) still ends the VM.
//
// Statuses are those of proxy-wasm: 0 OK, 1 not found, 2 bad argument, 3
// serialization failure, 10 internal failure, 11 broken connection. The SDK makes
// an error with the number of those it has no name for (3 and 11), never a panic,
// so all are passed on as they are. The host functions follow
// https://github.com/proxy-wasm/spec/tree/main/abi-versions/v0.2.1.
package wasip1
