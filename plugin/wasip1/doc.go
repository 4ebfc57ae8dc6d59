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
// Two things are added to the SDK. [Callout] dispatches HTTP callouts whose
// answers are delivered whatever became of the stream that asked: the SDK drops
// an answer whose stream is gone. And every export recovers: a panic that left
// an HTTP callout's callback would leave each stream paused on it hanging, so
// the panic is handed to the function set by [OnPanic] and the stream is held
// for it to refuse.
//
// Statuses are those of proxy-wasm: 0 OK, 1 not found, 2 bad argument, 10
// internal failure, 11 broken connection. The host functions follow
// https://github.com/proxy-wasm/spec/tree/main/abi-versions/v0.2.1.
package wasip1
