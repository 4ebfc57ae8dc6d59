//go:build wasip1

package main

import (
	"strconv"

	"github.com/tetratelabs/proxy-wasm-go-sdk/proxywasm"
	"github.com/tetratelabs/proxy-wasm-go-sdk/proxywasm/wasip1"

	"github.com/oncewall/oncewall/filter"
	"github.com/oncewall/oncewall/filter/wire"
)

// perform carries out the core's effects in their order. An effect on a stream
// other than the current one makes that stream's context effective first; the
// host drops that again when the callback returns.
//
// The position is kept in p, so that after a panic (panic.go) the rest is still
// carried out: an effect that is lost is a stream that hangs.
func (p *plugin) perform() {
	var effective *filter.Stream
	for {
		if p.next == len(p.effects) {
			if !p.nextEffects() {
				return
			}
		}
		e := &p.effects[p.next]
		p.next++
		if e.Stream != nil && e.Stream != effective {
			if !wasip1.SetEffectiveContext(e.Stream.ID) {
				continue // gone: its end has been, or will be, told to the core
			}
			effective = e.Stream
		}
		p.do(e)
	}
}

func (p *plugin) do(e *filter.Effect) {
	switch e.Kind {
	case filter.SetRequestHeader:
		check(proxywasm.ReplaceHttpRequestHeader(e.Name, e.Value))
	case filter.RemoveRequestHeader:
		check(proxywasm.RemoveHttpRequestHeader(e.Name))
	case filter.SetResponseHeader:
		check(proxywasm.ReplaceHttpResponseHeader(e.Name, e.Value))
	case filter.SetResponseHeaders:
		p.setResponseHeaders(e.Reply)
	case filter.RemoveResponseHeader:
		check(proxywasm.RemoveHttpResponseHeader(e.Name))
	case filter.RemoveResponseTrailer:
		check(proxywasm.RemoveHttpResponseTrailer(e.Name))
	case filter.ResumeRequest:
		if !open[e.Stream.ID].resumes(e.Kind) {
			check(proxywasm.ResumeHttpRequest())
		}
	case filter.ResumeResponse:
		if !open[e.Stream.ID].resumes(e.Kind) {
			check(proxywasm.ResumeHttpResponse())
		}
	case filter.Reply:
		p.reply(e)
	case filter.Call:
		p.call(&e.Call)
	case filter.Count:
		p.metrics[e.Metric].Increment(uint64(e.N))
	case filter.Decide:
		p.decided(e)
	case filter.HandOn:
		p.handOn(e.Value)
	case filter.Measure:
		p.callouts.Record(uint64(e.N))
	case filter.SetTick:
		p.setTick(e.TickMS)
	}
}

// setResponseHeaders replaces the whole of the current stream's response headers.
func (p *plugin) setResponseHeaders(r *filter.LocalReply) {
	h := make([][2]string, 0, len(r.Headers)+1)
	h = append(h, [2]string{":status", strconv.FormatUint(uint64(r.Status), 10)})
	check(proxywasm.ReplaceHttpResponseHeaders(append(h, r.Headers...)))
}

// check panics on a host call that the host refuses although it is legal here:
// the export's recovery then refuses the stream rather than let it pass.
func check(err error) {
	if err != nil {
		panic("host call refused: " + err.Error())
	}
}

// call sends a batch or a long poll. The answer goes to the core whatever has become of the
// stream that happened to be current.
func (p *plugin) call(c *filter.CallEffect) {
	w, id := p.of, c.ID
	cluster, headers := w.Config().Bridge.Cluster, p.headers
	if c.Wait {
		cluster, headers = w.Config().Bridge.WaitCluster, p.waiting
	}
	st := wasip1.Callout(cluster, headers, c.Body, c.TimeoutMS, func(a wasip1.Answer) {
		p.replied = 0
		p.runs(w)
		defer p.lost(w, id)
		if p.debug {
			p.spring("trap-answer")
		}
		body, status, stamp := bridgeAnswer(a)
		w.BridgeServes(p.now(), stamp)
		switch status {
		case "200":
			w.CallAnswered(p.now(), id, body)
		case "400":
			w.CallRefused(p.now(), id)
		case "413":
			w.CallTooLarge(p.now(), id)
		default:
			w.CallFailed(p.now(), id)
		}
		p.perform()
		p.retire()
		p.tell()
	})
	if st != 0 {
		w.CallFailed(p.now(), id)
	}
}

// bridgeAnswer returns the body, the status and the stamp of a batch's answer; none
// of them where it was not made by a bridge: Envoy makes up answers for refused
// connections and timeouts, and they lack the stamp.
func bridgeAnswer(a wasip1.Answer) (body []byte, status, stamp string) {
	if a.Headers == 0 {
		return nil, "", ""
	}
	pairs, err := proxywasm.GetHttpCallResponseHeaders()
	if err != nil {
		return nil, "", ""
	}
	for _, h := range pairs {
		switch h[0] {
		case wire.StampHeader:
			stamp = h[1]
		case ":status":
			status = h[1]
		}
	}
	if stamp == "" {
		return nil, "", ""
	}
	if status == "200" {
		if body, err = proxywasm.GetHttpCallResponseBody(0, int(a.BodyBytes)); err != nil {
			return nil, "", stamp
		}
	}
	return body, status, stamp
}
