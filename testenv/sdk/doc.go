// Package sdk tests the adapter that lets the proxy-wasm Go SDK run under the
// standard compiler (plugin/wasip1). It has no code of its own.
//
// The filters under testdata are written as the SDK's documentation shows, and
// together use every host call and callback that the SDK has; a test reads the
// SDK's source for what there is and the host's trace for what was used. One
// table of requests runs in the real Envoy and in the harness (testenv/host);
// TCP runs in Envoy alone.
//
// The tests build the filters with the go command, and take Envoy from
// build/envoy.sh. All of them listen on ports of the kernel's choice.
package sdk
