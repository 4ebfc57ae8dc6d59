//go:build wasip1

// Command plugin is the filter as Envoy loads it: it turns proxy-wasm callbacks
// into events of the core (package filter) and the core's effects into host
// calls. It decides nothing.
//
// It is built with
//
//	GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared
package main

import (
	"os"
	"time"

	"github.com/tetratelabs/proxy-wasm-go-sdk/proxywasm"
	"github.com/tetratelabs/proxy-wasm-go-sdk/proxywasm/types"
	"github.com/tetratelabs/proxy-wasm-go-sdk/proxywasm/wasip1"

	"github.com/oncewall/oncewall/filter"
	"github.com/oncewall/oncewall/filter/rules"
	"github.com/oncewall/oncewall/filter/wire"
)

// Names in the VM's environment (Envoy's vm_config.environment_variables).
const (
	// envSecret holds the secret that the bridge expects; empty where the bridge
	// knows Envoy by its certificate.
	envSecret = "ONCEWALL_BRIDGE_SECRET"
	// envDebug set to 1 lets a request header make the filter panic.
	envDebug = "ONCEWALL_DEBUG"
)

func main() {
	proxywasm.SetVMContext(&vm{})
	wasip1.OnPanic(panicked)
}

type vm struct{ types.DefaultVMContext }

func (*vm) NewPluginContext(id uint32) types.PluginContext { return &plugin{id: id} }

// plugin is one plugin context: one configuration on one worker. A change of
// the configuration makes a new one beside it in the same VM.
type plugin struct {
	types.DefaultPluginContext
	id uint32
	// worker takes new requests; workers are all that have something to do, it last
	// (reload.go). of is whose effects are carried out, running who runs otherwise.
	worker      *filter.Worker
	workers     []*filter.Worker
	of, running *filter.Worker
	ticks       map[*filter.Worker]uint32 // milliseconds that each wants
	reloaded    time.Time
	replaced    map[*filter.Worker]time.Time // since when each of the others ends
	board       *board
	start       time.Time
	headers     []byte // of every batch, encoded once
	waiting     []byte // of every long poll
	metrics     []proxywasm.MetricCounter
	// decisions are the counters by rule and outcome, callouts the distribution of
	// callout times.
	decisions map[labels]*teller
	callouts  proxywasm.MetricHistogram
	lines     filter.Lines
	debug     bool
	trap      string // see trap.go
	done      bool
	effects   []filter.Effect // what the core asked for last, done up to next
	next      int
	replied   int // streams answered by the callback at hand; see maxReplies
	later     []filter.Effect
	tick      uint32 // that the workers want
}

// OnPluginStart reads the configuration; a fault in it refuses the load, with
// every fault in one log line.
func (p *plugin) OnPluginStart(int) types.OnPluginStartStatus {
	b, err := proxywasm.GetPluginConfiguration()
	if err != nil {
		proxywasm.LogCritical("config: no plugin configuration: " + err.Error())
		return types.OnPluginStartStatusFailed
	}
	cfg, err := rules.Parse(b)
	if err != nil {
		proxywasm.LogCritical(err.Error())
		return types.OnPluginStartStatusFailed
	}
	p.start = time.Now()
	if p.worker = p.newWorker(cfg); p.worker == nil {
		proxywasm.LogCritical("no randomness: the host refused random_get")
		return types.OnPluginStartStatusFailed
	}
	p.workers, p.ticks, p.board = []*filter.Worker{p.worker}, map[*filter.Worker]uint32{}, newBoard()
	p.replaced = map[*filter.Worker]time.Time{}
	p.debug = os.Getenv(envDebug) == "1"
	p.headers = calloutHeaders(cfg, wire.BatchPath, os.Getenv(envSecret))
	p.waiting = calloutHeaders(cfg, wire.WaitPath, os.Getenv(envSecret))
	keepHanded()
	p.decisions = map[labels]*teller{}
	p.callouts = proxywasm.DefineHistogramMetric("idempotency.callout_ms")
	for _, name := range filter.Metrics() {
		p.metrics = append(p.metrics, proxywasm.DefineCounterMetric(name))
	}
	plugins[p.id] = p
	return types.OnPluginStartStatusOK
}

func calloutHeaders(cfg *rules.Config, path, secret string) []byte {
	h := [][2]string{
		{":method", "POST"}, {":path", path}, {":authority", cfg.Bridge.Authority},
		{"content-type", wire.ContentType},
	}
	if secret != "" {
		h = append(h, [2]string{"authorization", "Bearer " + secret})
	}
	return wasip1.EncodePairs(h)
}

// now is the core's clock: nanoseconds since the plugin context started, on the
// monotonic clock.
func (p *plugin) now() int64 { return int64(time.Since(p.start)) }

// OnTick lets time pass in the core.
func (p *plugin) OnTick() {
	p.runs(p.worker)
	if p.debug && p.trap == "trap-tick" {
		p.retick()
		p.spring("trap-tick")
	}
	p.replied = 0
	p.replyLater()
	for i := len(p.workers) - 1; i >= 0; i-- {
		p.runs(p.workers[i])
		p.running.SetClock(p.now(), time.Now().UnixNano())
		p.running.Tick(p.now())
	}
	p.perform()
	p.endOld()
	p.retire()
	p.tell()
}

// retire lets the host delete the context of an old configuration once nothing
// of it is pending.
func (p *plugin) retire() {
	if p.done && plugins[p.id] != nil && p.pending() == 0 {
		p.board.set([filter.GaugeCount]int64{})
		delete(plugins, p.id)
		wasip1.SetEffectiveContext(p.id)
		proxywasm.PluginDone()
	}
}

// OnPluginDone holds the context of an old configuration until what it has
// forwarded is recorded.
func (p *plugin) OnPluginDone() bool {
	if p.worker == nil || p.pending() == 0 {
		if p.board != nil {
			p.board.set([filter.GaugeCount]int64{})
		}
		delete(plugins, p.id)
		return true
	}
	p.done = true
	return false
}

// NewHttpContext makes the context of one stream. Most are not covered by a
// rule; they cost one small allocation.
func (p *plugin) NewHttpContext(id uint32) types.HttpContext { return &stream{p: p, id: id} }
