// panics is a filter that panics where the path of a request, or what a TCP
// client sends, says. It sets no OnPanic.
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
	tick bool // the next tick panics
	tcp  bool
}

func (p *plugin) OnPluginStart(int) types.OnPluginStartStatus {
	b, _ := proxywasm.GetPluginConfiguration()
	p.tcp = string(b) == "tcp"
	return proxywasm.SetTickPeriodMilliSeconds(20) == nil
}

func (p *plugin) OnTick() {
	if p.tick {
		p.tick = false
		panic("asked for in OnTick")
	}
}

// The SDK asks for an HTTP context first.
func (p *plugin) NewHttpContext(uint32) types.HttpContext {
	if p.tcp {
		return nil
	}
	return &stream{p: p}
}

func (p *plugin) NewTcpContext(uint32) types.TcpContext { return &connection{} }

type connection struct{ types.DefaultTcpContext }

func (*connection) OnDownstreamData(size int, _ bool) types.Action {
	if b, err := proxywasm.GetDownstreamData(0, size); err == nil && string(b) == "panic" {
		panic("asked for in OnDownstreamData")
	}
	return types.ActionContinue
}

func (*connection) OnUpstreamData(size int, _ bool) types.Action {
	if b, err := proxywasm.GetUpstreamData(0, size); err == nil && string(b) == "later" {
		panic("asked for in OnUpstreamData")
	}
	return types.ActionContinue
}

type stream struct {
	types.DefaultHttpContext
	p    *plugin
	path string
}

// at panics where the path names this callback.
func (s *stream) at(callback string) types.Action {
	for _, p := range strings.Split(s.path, "/") {
		if p == callback {
			panic("asked for in " + callback)
		}
	}
	return types.ActionContinue
}

func (s *stream) OnHttpRequestHeaders(int, bool) types.Action {
	s.path, _ = proxywasm.GetHttpRequestHeader(":path")
	switch s.path {
	case "/wait":
		return types.ActionPause
	case "/tick":
		s.p.tick = true
		return types.ActionPause
	case "/callout":
		proxywasm.DispatchHttpCall("upstream", [][2]string{
			{":method", "GET"}, {":path", "/callout"}, {":authority", "callout"},
		}, nil, nil, 5000, func(int, int, int) { panic("asked for in callout") })
		return types.ActionPause
	}
	return s.at("rqh")
}

func (s *stream) OnHttpRequestBody(int, bool) types.Action     { return s.at("rqb") }
func (s *stream) OnHttpRequestTrailers(int) types.Action       { return s.at("rqt") }
func (s *stream) OnHttpResponseHeaders(int, bool) types.Action { return s.at("rsh") }
func (s *stream) OnHttpResponseBody(int, bool) types.Action    { return s.at("rsb") }
func (s *stream) OnHttpResponseTrailers(int) types.Action      { return s.at("rst") }
func (s *stream) OnHttpStreamDone()                            { s.at("done") }
