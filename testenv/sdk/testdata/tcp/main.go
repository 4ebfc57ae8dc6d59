// tcp is a network filter written as the SDK's documentation shows. What the
// client sends says which of the SDK's TCP calls it makes.
package main

import (
	"strings"

	"github.com/tetratelabs/proxy-wasm-go-sdk/proxywasm"
	"github.com/tetratelabs/proxy-wasm-go-sdk/proxywasm/types"
	_ "github.com/tetratelabs/proxy-wasm-go-sdk/proxywasm/wasip1"
)

func main() { proxywasm.SetVMContext(&vm{}) }

type vm struct{ types.DefaultVMContext }

func (*vm) NewPluginContext(uint32) types.PluginContext { return &plugin{} }

type plugin struct {
	types.DefaultPluginContext
	hold bool // each new connection until a callout is answered
}

func (p *plugin) OnPluginStart(int) types.OnPluginStartStatus {
	b, err := proxywasm.GetPluginConfiguration()
	must(err)
	p.hold = string(b) == "hold"
	return types.OnPluginStartStatusOK
}

func (p *plugin) NewTcpContext(uint32) types.TcpContext { return &connection{hold: p.hold} }

type connection struct {
	types.DefaultTcpContext
	hold  bool
	asked string
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func (c *connection) OnNewConnection() types.Action {
	proxywasm.LogInfo("new connection")
	if !c.hold {
		return types.ActionContinue
	}
	_, err := proxywasm.DispatchHttpCall("upstream", [][2]string{
		{":method", "GET"}, {":path", "/callout"}, {":authority", "callout"},
	}, nil, nil, 5000, func(int, int, int) {
		must(proxywasm.ContinueTcpStream())
		proxywasm.LogInfo("continued")
	})
	must(err)
	return types.ActionPause
}

func (c *connection) OnDownstreamData(size int, end bool) types.Action {
	if size == 0 {
		return types.ActionContinue
	}
	b, err := proxywasm.GetDownstreamData(0, size)
	must(err)
	c.asked = strings.TrimSpace(string(b))
	switch c.asked {
	case "append":
		must(proxywasm.AppendDownstreamData([]byte("]")))
	case "prepend":
		must(proxywasm.PrependDownstreamData([]byte("[")))
	case "replace":
		must(proxywasm.ReplaceDownstreamData([]byte("other")))
	case "close downstream":
		must(proxywasm.CloseDownstream())
	case "close upstream":
		must(proxywasm.CloseUpstream())
	}
	return types.ActionContinue
}

func (c *connection) OnUpstreamData(size int, end bool) types.Action {
	if size == 0 {
		return types.ActionContinue
	}
	b, err := proxywasm.GetUpstreamData(0, size)
	must(err)
	switch c.asked {
	case "append":
		must(proxywasm.AppendUpstreamData([]byte(">")))
	case "prepend":
		must(proxywasm.PrependUpstreamData([]byte("<")))
	case "replace":
		must(proxywasm.ReplaceUpstreamData([]byte("(" + string(b) + ")")))
	}
	return types.ActionContinue
}

func (c *connection) OnDownstreamClose(p types.PeerType) {
	proxywasm.LogInfof("downstream close after %q by %d", c.asked, p)
}

func (c *connection) OnUpstreamClose(p types.PeerType) {
	proxywasm.LogInfof("upstream close after %q by %d", c.asked, p)
}

func (c *connection) OnStreamDone() { proxywasm.LogInfof("done after %q", c.asked) }
