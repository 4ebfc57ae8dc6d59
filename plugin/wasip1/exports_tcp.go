//go:build wasip1 && go1.24 && !tinygo

package wasip1

import (
	"github.com/tetratelabs/proxy-wasm-go-sdk/proxywasm/internal"
	"github.com/tetratelabs/proxy-wasm-go-sdk/proxywasm/types"
)

//go:wasmexport proxy_on_new_connection
func onNewConnection(context uint32) uint32 {
	return act(context, "proxy_on_new_connection", kindTCP, request, func() types.Action {
		return internal.ProxyOnNewConnection(context)
	})
}

//go:wasmexport proxy_on_downstream_data
func onDownstreamData(context, size, end uint32) uint32 {
	return act(context, "proxy_on_downstream_data", kindTCP, request, func() types.Action {
		return internal.ProxyOnDownstreamData(context, int(size), end != 0)
	})
}

//go:wasmexport proxy_on_upstream_data
func onUpstreamData(context, size, end uint32) uint32 {
	return act(context, "proxy_on_upstream_data", kindTCP, response, func() types.Action {
		return internal.ProxyOnUpstreamData(context, int(size), end != 0)
	})
}

//go:wasmexport proxy_on_downstream_connection_close
func onDownstreamConnectionClose(context, peer uint32) {
	event(context, "proxy_on_downstream_connection_close", func() {
		internal.ProxyOnDownstreamConnectionClose(context, types.PeerType(peer))
	})
}

//go:wasmexport proxy_on_upstream_connection_close
func onUpstreamConnectionClose(context, peer uint32) {
	event(context, "proxy_on_upstream_connection_close", func() {
		internal.ProxyOnUpstreamConnectionClose(context, types.PeerType(peer))
	})
}
