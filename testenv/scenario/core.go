package scenario

import (
	"fmt"
	"slices"
	"time"

	"github.com/oncewall/oncewall/filter"
	"github.com/oncewall/oncewall/filter/rules"
	"github.com/oncewall/oncewall/filter/wire"
)

// coreWorld drives the filter's core without WebAssembly: as much of Envoy as a
// story needs, and the adapter's duties of carrying effects out.
type coreWorld struct {
	clock
	w       *filter.Worker
	flag    bool // allow_on_headers_stop_iteration
	backend *backend
	bridge  *bridge
	real    *inProcess
	streams map[string]*coreStream
	byCore  map[*filter.Stream]*coreStream
	counts  [64]int
	tick    time.Duration
	ticks   int // tells a timer from those that replaced it
	ways    map[string]access
	ids     uint32
	faults  []error
}

// newCore makes the stage of the native runner.
func newCore(config []byte, flag bool) (*stage, error) {
	cfg, err := rules.Parse(config)
	if err != nil {
		return nil, err
	}
	w := &coreWorld{w: filter.NewWorker(cfg, [16]byte{1}), flag: flag, ways: map[string]access{},
		streams: map[string]*coreStream{}, byCore: map[*filter.Stream]*coreStream{}}
	if w.real, err = newInProcess(); err != nil {
		return nil, err
	}
	w.bridge = newBridge(func() time.Duration { return w.now }, func(batch []byte, _ Lines) bridgeAnswer { return w.real.serve(w.now, batch) })
	w.bridge.look = func(batch *wire.Batch) wire.Result { return w.real.look(w.now, batch) }
	w.w.SetClock(w.at(), start.UnixNano())
	w.backend = newBackend(w.bridge)
	return &stage{w: w, backend: w.backend, bridge: w.bridge}, nil
}

// at is the core's clock.
func (w *coreWorld) at() int64 { return int64(time.Hour + w.now) }

func (w *coreWorld) fault(format string, args ...any) {
	w.faults = append(w.faults, fmt.Errorf(format, args...))
}

// perform carries out what the core asked for. A reply is an event for the core
// at once, which asks for more within it; so the list is a copy.
func (w *coreWorld) perform() {
	for effects := w.w.Effects(); effects != nil; effects = w.w.Effects() {
		effects = slices.Clone(effects)
		for i := range effects {
			w.do(&effects[i])
		}
	}
}

func (w *coreWorld) do(e *filter.Effect) {
	switch e.Kind {
	case filter.Call:
		w.call(&e.Call)
		return
	case filter.Count:
		w.counts[e.Metric] += int(max(e.N, 1))
		return
	case filter.SetTick:
		w.tick = time.Duration(e.TickMS) * time.Millisecond
		w.ticks++
		w.ticking(w.ticks)
		return
	}
	s := w.byCore[e.Stream]
	if s == nil || s.over {
		return
	}
	switch e.Kind {
	case filter.ResumeRequest:
		s.resumeRequest()
	case filter.ResumeResponse:
		s.resumeResponse()
	case filter.Reply:
		s.localReply(e.Reply)
	case filter.SetRequestHeader:
		s.req.Headers = s.req.Headers.set(e.Name, e.Value)
	case filter.RemoveRequestHeader:
		s.req.Headers = s.req.Headers.without(e.Name)
	case filter.SetResponseHeader:
		s.resp = s.resp.set(e.Name, e.Value)
	case filter.SetResponseHeaders:
		s.resp = append(Lines(nil), e.Reply.Headers...)
	case filter.RemoveResponseHeader:
		s.resp = s.resp.without(e.Name)
	}
}

func (w *coreWorld) ticking(n int) {
	if w.tick == 0 {
		return
	}
	w.after(w.tick, func() {
		if n == w.ticks {
			w.w.Tick(w.at())
			w.perform()
			if n == w.ticks {
				w.ticking(n)
			}
		}
	})
}

// coreCall is a callout of the core.
type coreCall struct {
	w    *coreWorld
	id   uint32
	over bool
}

func (w *coreWorld) call(e *filter.CallEffect) {
	c := &coreCall{w: w, id: e.ID}
	if w.ways[toBridge] == absent {
		c.over = true
		w.w.CallFailed(w.at(), e.ID)
		return
	}
	body := append([]byte(nil), e.Body...)
	w.after(time.Duration(e.TimeoutMS)*time.Millisecond, c.reset)
	w.after(0, func() {
		if w.ways[toBridge] == refuses {
			c.reset()
			return
		}
		w.bridge.arrive(body, nil, c)
	})
}

func (c *coreCall) after(d time.Duration, f func()) { c.w.after(d, f) }
func (c *coreCall) cut(bridgeAnswer)                { c.reset() }

// reset tells the core that no answer comes: reset, timeout, refused.
func (c *coreCall) reset() {
	if !c.over {
		c.over = true
		c.w.w.CallFailed(c.w.at(), c.id)
		c.w.perform()
	}
}

// answer judges an answer as the adapter does: without the stamp, or with
// another status than 200, it is no bridge's.
func (c *coreCall) answer(a bridgeAnswer) {
	stamp := a.headers.Get(wire.StampHeader)
	c.w.w.BridgeServes(c.w.at(), stamp)
	if a.status != 200 || stamp == "" || len(a.body) > maxCallBody {
		c.reset()
		return
	}
	if !c.over {
		c.over = true
		c.w.w.CallAnswered(c.w.at(), c.id, append([]byte(nil), a.body...))
		c.w.perform()
	}
}

func (w *coreWorld) stat(name string) int {
	for i, n := range filter.Metrics() {
		if n == name {
			return w.counts[i]
		}
	}
	return 0
}

func (w *coreWorld) block(who string, how access) error {
	w.ways[who] = how
	return nil
}

func (w *coreWorld) slack() time.Duration { return 0 }

func (w *coreWorld) close() { w.real.close() }

// end lets everything come to its end. Nothing may hang, and every claim must
// have had its last word.
func (w *coreWorld) end() error {
	w.advance(time.Minute)
	for name, s := range w.streams {
		if !s.over {
			w.fault("the stream of %s has not ended", name)
		}
	}
	if n := w.w.Pending(); n != 0 {
		w.fault("%d operations are not acknowledged", n)
	}
	if len(w.faults) > 0 {
		return w.faults[0]
	}
	return nil
}

func (w *coreWorld) send(r Request) {
	w.ids++
	s := &coreStream{w: w, id: w.ids, req: r, began: w.now}
	s.req.Body = nil
	w.streams[r.Client] = s
	if len(r.Body) > 0 && !r.Open {
		s.req.Headers = s.req.Headers.set("content-length", fmt.Sprint(len(r.Body)))
	}
	whole := !r.Open && len(r.Body) == 0
	s.begin(whole)
	if whole {
		return
	}
	s.input(r.Body, !r.Open)
}

func (w *coreWorld) more(client string, body []byte, end bool) { w.streams[client].input(body, end) }
func (w *coreWorld) leave(client string)                       { w.streams[client].cut(0x4000) }
func (w *coreWorld) response(client string) Response           { return w.streams[client].client }
func (w *coreWorld) took(client string) time.Duration {
	s := w.streams[client]
	return s.ended - s.began
}
