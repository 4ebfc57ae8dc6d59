//go:build wasip1

package main

import (
	"strconv"

	"github.com/tetratelabs/proxy-wasm-go-sdk/proxywasm"

	"github.com/oncewall/oncewall/filter"
)

// Where access logs find what became of a request:
// %FILTER_STATE(wasm.oncewall_status:PLAIN)% and
// %FILTER_STATE(wasm.oncewall_rule:PLAIN)%.
var (
	statusPath = []string{"oncewall_status"}
	rulePath   = []string{"oncewall_rule"}
)

// labels tell the counters of decisions apart.
type labels struct {
	rule string
	code filter.Code
}

// decided tells a decision to the access log, to the counters by rule and
// outcome, and, where it is a refusal, to the log.
func (p *plugin) decided(e *filter.Effect) {
	d := &e.Decision
	if e.Stream != nil {
		// The host refuses it only for a stream that is gone.
		_ = proxywasm.SetProperty(rulePath, []byte(d.Rule))
		_ = proxywasm.SetProperty(statusPath, []byte(d.Code))
	}
	p.counter(labels{d.Rule, d.Code}).Increment(1)
	if d.Refused() {
		p.logRefusal(d)
	}
}

// counter is the counter of a rule's decisions, made when it is first needed: of
// the product of rules and codes most pairs never occur.
//
// The labels stand in the name as Istio writes them, for Envoy's stats_tags to
// take out (envoy/README.md).
func (p *plugin) counter(l labels) proxywasm.MetricCounter {
	c, ok := p.decisions[l]
	if !ok {
		c = proxywasm.DefineCounterMetric("rule=.=" + l.rule + ";.outcome=.=" + string(l.code) + ";.idempotency.requests")
		p.decisions[l] = c
	}
	return c
}

// logRefusal writes one line of JSON. It holds fixed words and numbers alone, so
// that it needs no escaping and can tell nothing of a client.
func (p *plugin) logRefusal(d *filter.Decision) {
	ok, suppressed := p.lines.Take(p.now())
	if !ok {
		return
	}
	b := append(make([]byte, 0, 128), `{"msg":"refused","rule":"`...)
	b = append(b, d.Rule...)
	b = append(b, `","code":"`...)
	b = append(b, d.Code...)
	b = append(b, `","status":`...)
	b = strconv.AppendUint(b, uint64(d.Status), 10)
	if suppressed > 0 {
		b = append(b, `,"suppressed":`...)
		b = strconv.AppendUint(b, suppressed, 10)
	}
	b = append(b, '}')
	if d.Status >= 500 {
		proxywasm.LogWarn(string(b))
	} else {
		proxywasm.LogInfo(string(b))
	}
}
