//go:build wasip1 && go1.24 && !tinygo

package wasip1

import "github.com/tetratelabs/proxy-wasm-go-sdk/proxywasm/internal"

// host implements the SDK's host interface, each method by one import.
type host struct{}

var _ internal.ProxyWasmHost = host{}

// The SDK's registration takes a lock that its tests release; here the host
// stays for the life of the VM.
func init() { internal.RegisterMockWasmHost(host{}) }

// abiVersion names the version of the interface that the exports follow. Its
// name is all that the host looks at.
//
//go:wasmexport proxy_abi_version_0_2_1
func abiVersion() {}
