//go:build wasip1

package main

import (
	"strconv"

	"github.com/tetratelabs/proxy-wasm-go-sdk/proxywasm"

	"github.com/oncewall/oncewall/filter"
)

// statePath is where access logs find what became of a request, as
// "rule=orders outcome=replayed": %FILTER_STATE(wasm.oncewall:PLAIN)%. It is one
// property, since setting one costs Envoy more than all else that is told here.
var statePath = []string{"oncewall"}

// labels tell the counters of decisions apart.
type labels struct {
	rule string
	code filter.Code
}

// decided tells a decision to the access log, to the counters by rule and
// outcome, and, where it is a refusal, to the log.
func (p *plugin) decided(e *filter.Effect) {
	d := &e.Decision
	t := p.teller(labels{d.Rule, d.Code})
	if e.Stream != nil {
		// The host refuses it only for a stream that is gone.
		_ = proxywasm.SetProperty(statePath, t.state)
	}
	t.counter.Increment(1)
	if d.Refused() {
		p.logRefusal(d)
	}
}

// teller is what one pair of labels is told with.
type teller struct {
	counter proxywasm.MetricCounter
	state   []byte
}

// teller returns that of a rule's decisions, made when it is first needed: of the
// product of rules and codes most pairs never occur.
//
// The labels stand in the counter's name as Istio writes them, for Envoy's
// stats_tags to take out (envoy/README.md).
func (p *plugin) teller(l labels) *teller {
	t, ok := p.decisions[l]
	if !ok {
		t = &teller{
			counter: proxywasm.DefineCounterMetric("rule=.=" + l.rule + ";.outcome=.=" + string(l.code) + ";.idempotency.requests"),
			state:   []byte("rule=" + l.rule + " outcome=" + string(l.code)),
		}
		p.decisions[l] = t
	}
	return t
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
