package filter

import (
	"time"

	"pgregory.net/rapid"
)

// play is a random schedule on a rig: requests for few keys, bodies in chunks,
// answers of the bridge in any order, lost before or after their effect, clients
// that go, upstreams that answer in every way. The rig checks that each effect is
// legal, and that a request is forwarded only by the owner of a live claim.
type play struct {
	*rig
	t      *rapid.T
	flag   bool // allow_on_headers_stop_iteration
	paths  []string
	keys   []string
	actors []*actor
}

// actor is one client's request in a schedule.
type actor struct {
	*seen
	left     int  // chunks of the request body still to come
	answered bool // response headers came
	rest     int  // chunks of the response body still to come
	complete bool
}

func (p *play) pick(n int, label string) int { return rapid.IntRange(0, n-1).Draw(p.t, label) }

// run plays up to 60 steps and calls after, if there is one, behind each.
func (p *play) run(after func()) {
	for range rapid.IntRange(1, 60).Draw(p.t, "steps") {
		switch p.pick(6, "what") {
		case 0:
			p.arrive()
		case 1, 2:
			p.advance()
		case 3:
			p.bridge()
		case 4:
			p.pass(p.upTo(300))
		case 5:
			p.leave()
		}
		if after != nil {
			after()
		}
	}
}

func (p *play) upTo(ms int) time.Duration {
	return time.Duration(rapid.IntRange(1, ms).Draw(p.t, "ms")) * time.Millisecond
}

// arrive starts a request.
func (p *play) arrive() {
	a := &actor{left: p.pick(3, "chunks")}
	path, key := p.paths[p.pick(len(p.paths), "path")], p.keys[p.pick(len(p.keys), "key")]
	a.seen = p.open("POST", path, key, a.left == 0)
	p.actors = append(p.actors, a)
}

// somebody is a request that has not ended; nil: the one picked has.
func (p *play) somebody() *actor {
	if len(p.actors) == 0 {
		return nil
	}
	if a := p.actors[p.pick(len(p.actors), "who")]; !a.done {
		return a
	}
	return nil
}

// bridge lets one callout fail, take effect without an answer, meet one of odd, or
// be answered.
func (p *play) bridge(odd ...func(flight int)) {
	n := len(p.flights)
	if n == 0 {
		return
	}
	switch i, how := p.pick(n, "flight"), p.pick(4+len(odd), "how"); {
	case how == 0:
		p.fail(i)
	case how == 1:
		p.answer(i, true)
	case how-2 < len(odd):
		odd[how-2](i)
	default:
		p.answer(i, false)
	}
}

// leave lets a client go, or Envoy answer a request that is held, now and then.
func (p *play) leave() {
	a := p.somebody()
	if a == nil {
		return
	}
	switch how := p.pick(6, "goes"); {
	case how < 2:
		p.finish(a.seen, a.trail())
	case how == 2 && a.pausedReq:
		a.answered, a.complete, a.left = true, true, 0
		p.overtaken(a.seen)
	}
}

// end lets everything come to its end, and fails if a stream still waits then.
func (p *play) end() {
	p.runOut()
	for i, a := range p.actors {
		if a.done {
			continue
		}
		if a.pausedReq || a.pausedResp {
			p.t.Fatalf("stream %d of %s hangs in state %d (request %v, response %v)", i, a.core.rule.Name, a.core.state, a.pausedReq, a.pausedResp)
		}
		p.finish(a.seen, a.trail())
	}
	p.runOut()
	if h := p.w.Held(); h.Pending != 0 || h.Bodies != 0 || h.Waiting != 0 || h.Callouts != 0 || p.w.pendingTexts != 0 {
		p.t.Fatalf("left behind: %+v, texts %d", h, p.w.pendingTexts)
	}
}

// runOut ends every body and lets everything come to its end.
func (p *play) runOut() {
	for range 12 {
		p.settleDown()
		for _, a := range p.actors {
			p.finishBodies(a)
		}
	}
	p.settleDown()
}

// trail is how far a request got; observed ones are always on their way.
func (a *actor) trail() Trail {
	if a.resumed > 0 || a.core.observed != nil {
		return Trail{Attempts: 1}
	}
	return Trail{}
}

// takesBody reports whether Envoy would hand over a chunk of the request body.
func (p *play) takesBody(a *actor) bool {
	return !a.done && a.left > 0 && len(a.replies) == 0 && (p.flag || !a.pausedReq)
}

func (p *play) takesResponseBody(a *actor) bool {
	return !a.done && a.answered && !a.complete && (p.flag || !a.pausedResp)
}

// sendBody sends the next chunk of a request's body; a body of one chunk holds a key.
func (p *play) sendBody(a *actor) {
	a.left--
	p.body(a.seen, `{"id":1}`, a.left == 0)
}

func (p *play) finishBodies(a *actor) {
	for p.takesBody(a) {
		p.sendBody(a)
	}
	if !a.done && a.resumed > 0 && !a.answered && a.left == 0 {
		a.answered, a.complete = true, true
		p.respond(a.seen, upstream(200), true)
	}
	for p.takesResponseBody(a) {
		a.rest--
		a.complete = a.rest <= 0
		p.respondBody(a.seen, "y", a.complete)
	}
}

// mayAnswer reports whether upstream answers now: an observed request also before
// it is whole.
func (p *play) mayAnswer(a *actor) bool {
	switch {
	case a.answered:
		return false
	case a.core.observed != nil:
		return a.left == 0 || p.pick(4, "early") == 0
	}
	return a.resumed > 0 && a.left == 0
}

// advance gives a stream the next event that Envoy could give it.
func (p *play) advance() {
	a := p.somebody()
	switch {
	case a == nil:
	case p.mayAnswer(a):
		a.answered = true
		statuses := []int{200, 201, 404, 429, 500, 503}
		h := upstream(statuses[p.pick(len(statuses), "status")])
		if p.pick(5, "made") == 0 {
			h = headers{status: 503, trail: Trail{Attempts: p.pick(2, "attempts"), Flags: flagUF}}
		}
		a.rest = p.pick(4, "rest")
		a.complete = a.rest == 0
		p.respond(a.seen, h, a.complete)
	case p.takesBody(a):
		p.sendBody(a)
	case p.takesResponseBody(a):
		a.rest--
		n := []int{1, 600}[p.pick(2, "size")]
		a.complete = a.rest <= 0 && p.pick(6, "trailers") != 0
		if a.rest <= 0 && !a.complete {
			a.complete = true
			if a.core.ResponseTrailers(p.now, sumTrailers) != Continue {
				a.pausedResp = a.pausedResp || a.released == 0
			}
			p.perform()
			return
		}
		p.respondBody(a.seen, string(make([]byte, n)), a.complete)
	}
}
