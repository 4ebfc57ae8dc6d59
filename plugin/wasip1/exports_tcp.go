//go:build wasip1

package wasip1

import (
	"github.com/tetratelabs/proxy-wasm-go-sdk/proxywasm/internal"
	"github.com/tetratelabs/proxy-wasm-go-sdk/proxywasm/types"
)

//go:wasmexport proxy_on_new_connection
func onNewConnection(context uint32) (action uint32) {
	action = pause
	defer guard(context, "proxy_on_new_connection")
	return uint32(internal.ProxyOnNewConnection(context))
}

//go:wasmexport proxy_on_downstream_data
func onDownstreamData(context, size, end uint32) (action uint32) {
	action = pause
	defer guard(context, "proxy_on_downstream_data")
	return uint32(internal.ProxyOnDownstreamData(context, int(size), end != 0))
}

//go:wasmexport proxy_on_upstream_data
func onUpstreamData(context, size, end uint32) (action uint32) {
	action = pause
	defer guard(context, "proxy_on_upstream_data")
	return uint32(internal.ProxyOnUpstreamData(context, int(size), end != 0))
}

//go:wasmexport proxy_on_downstream_connection_close
func onDownstreamConnectionClose(context, peer uint32) {
	defer guard(context, "proxy_on_downstream_connection_close")
	internal.ProxyOnDownstreamConnectionClose(context, types.PeerType(peer))
}

//go:wasmexport proxy_on_upstream_connection_close
func onUpstreamConnectionClose(context, peer uint32) {
	defer guard(context, "proxy_on_upstream_connection_close")
	internal.ProxyOnUpstreamConnectionClose(context, types.PeerType(peer))
}
