// shared is a filter of plugin contexts: configurations, ticks, shared data,
// queues between VMs, metrics, and a plugin context that outlives its
// configuration. The VM configuration says which VM receives.
package main

import (
	"strconv"

	"github.com/tetratelabs/proxy-wasm-go-sdk/proxywasm"
	"github.com/tetratelabs/proxy-wasm-go-sdk/proxywasm/types"
	_ "github.com/tetratelabs/proxy-wasm-go-sdk/proxywasm/wasip1"
)

const queue = "mail"

func main() { proxywasm.SetVMContext(&vm{}) }

type vm struct {
	types.DefaultVMContext
	role string
}

func (v *vm) OnVMStart(size int) types.OnVMStartStatus {
	b := get(proxywasm.GetVMConfiguration())
	v.role = string(b)
	return len(b) == size
}

func (v *vm) NewPluginContext(id uint32) types.PluginContext { return &plugin{vm: v, id: id} }

type plugin struct {
	types.DefaultPluginContext
	vm       *vm
	id       uint32
	config   string
	mail     uint32
	waiting  []uint32
	leaving  bool
	requests proxywasm.MetricCounter
	open     proxywasm.MetricGauge
	sizes    proxywasm.MetricHistogram
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func get[T any](v T, err error) T {
	must(err)
	return v
}

func (p *plugin) OnPluginStart(size int) types.OnPluginStartStatus {
	b := get(proxywasm.GetPluginConfiguration())
	p.config = string(b)
	if p.config == "refuse" || len(b) != size {
		return types.OnPluginStartStatusFailed
	}
	p.requests = proxywasm.DefineCounterMetric("sdk_requests")
	p.open = proxywasm.DefineGaugeMetric("sdk_open")
	p.sizes = proxywasm.DefineHistogramMetric("sdk_sizes")
	must(proxywasm.SetTickPeriodMilliSeconds(20))
	if p.vm.role == "receiver" {
		p.mail = get(proxywasm.RegisterSharedQueue(queue))
	}
	return types.OnPluginStartStatusOK
}

// OnTick resumes what has been postponed.
func (p *plugin) OnTick() {
	for _, id := range p.waiting {
		if proxywasm.SetEffectiveContext(id) == nil {
			must(proxywasm.AddHttpRequestHeader("x-resumed", p.config))
			must(proxywasm.ResumeHttpRequest())
		}
	}
	p.waiting = nil
	if p.leaving {
		p.leaving = false
		must(proxywasm.SetEffectiveContext(p.id))
		proxywasm.LogInfo("leaving " + p.config)
		proxywasm.PluginDone()
	}
}

// OnPluginDone puts the end off to the next tick.
func (p *plugin) OnPluginDone() bool {
	p.leaving = true
	return false
}

func (p *plugin) OnQueueReady(id uint32) {
	for id == p.mail {
		b, err := proxywasm.DequeueSharedQueue(id)
		if err == types.ErrorStatusEmpty {
			return
		}
		must(err)
		proxywasm.LogInfof("mail %q", b)
		add("mails", len(b))
	}
}

// add adds n to a shared number, and returns it.
func add(key string, n int) int {
	for {
		v, cas, err := proxywasm.GetSharedData(key)
		if err != types.ErrorStatusNotFound {
			must(err)
		}
		old, _ := strconv.Atoi(string(v))
		err = proxywasm.SetSharedData(key, []byte(strconv.Itoa(old+n)), cas)
		if err == types.ErrorStatusCasMismatch {
			continue
		}
		must(err)
		return old + n
	}
}

func (p *plugin) NewHttpContext(id uint32) types.HttpContext { return &stream{p: p, id: id} }

type stream struct {
	types.DefaultHttpContext
	p  *plugin
	id uint32
}

func (s *stream) OnHttpRequestHeaders(int, bool) types.Action {
	s.p.requests.Increment(1)
	s.p.open.Add(1)
	s.p.sizes.Record(7)
	switch get(proxywasm.GetHttpRequestHeader(":path")) {
	case "/postpone":
		s.p.waiting = append(s.p.waiting, s.id)
		return types.ActionPause
	case "/data":
		must(proxywasm.AddHttpRequestHeader("x-data", strconv.Itoa(add("requests", 1))))
		if proxywasm.SetSharedData("requests", nil, 999999) == types.ErrorStatusCasMismatch {
			must(proxywasm.AddHttpRequestHeader("x-mismatch", "yes"))
		}
	case "/mail":
		id := get(proxywasm.ResolveSharedQueue("receiver", queue))
		must(proxywasm.EnqueueSharedQueue(id, []byte("hello")))
		if _, err := proxywasm.ResolveSharedQueue("receiver", "none"); err == types.ErrorStatusNotFound {
			must(proxywasm.AddHttpRequestHeader("x-none", "not found"))
		}
	case "/metrics":
		must(proxywasm.AddHttpRequestHeader("x-requests", strconv.FormatBool(s.p.requests.Value() > 0)))
		must(proxywasm.AddHttpRequestHeader("x-open", strconv.FormatInt(s.p.open.Value(), 10)))
	case "/config":
		must(proxywasm.AddHttpRequestHeader("x-config", s.p.vm.role+" "+s.p.config))
	}
	return types.ActionContinue
}

func (s *stream) OnHttpStreamDone() { s.p.open.Add(-1) }
