package filter

import (
	"bytes"
	"fmt"
	"time"

	"github.com/oncewall/oncewall/filter/rules"
	"github.com/oncewall/oncewall/filter/wire"
)

// failer is what *testing.T and *rapid.T have in common.
type failer interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

// rig drives a worker as Envoy would, with a bridge that keeps records in a
// map. Nothing happens in it by itself: tests deliver each answer and each tick.
type rig struct {
	t       failer
	w       *Worker
	now     int64
	streams map[*Stream]*seen
	flights []sent
	tick    time.Duration
	counts  map[Metric]int
	// decisions in their order, those of streams that are gone too
	decisions []Decision
	records   map[string]*record
	left      map[string]bool // owners that have released, by record: they are granted nothing more
	fence     uint64
	told      map[string]bool // owners that were told of their record what is not so
}

type sent struct {
	id    uint32
	wait  bool
	batch wire.Batch
	until int64
}

// seen is what a stream has been told.
type seen struct {
	core       *Stream
	request    map[string]string // request headers set
	response   map[string]string
	removed    map[string]bool
	trailers   []string // removed
	resumed    int      // requests
	released   int      // responses
	replies    []*LocalReply
	pausedReq  bool
	pausedResp bool
	overtaken  bool // Envoy has answered it
	done       bool
	decided    int
}

// code is the mark that a request was forwarded with, or the code of its answer.
func (s *seen) code() string {
	switch {
	case s.resumed > 0:
		return s.request[HeaderStatus]
	case len(s.replies) != 1:
		return fmt.Sprintf("%d replies", len(s.replies))
	}
	return s.replies[0].header(HeaderStatus)
}

// record is the rig's own, much smaller, idea of a record.
type record struct {
	state  string // P, U, E, C, R
	owner  string
	fence  uint64
	fp     []byte
	status uint16
	result []byte
}

const rigConfig = `{
 "namespace": "edge",
 "bridge": {"cluster": "bridge", "timeout": "200ms"},
 "envoy": {"allow_on_headers_stop_iteration": %t, "buffer_limit": "1MiB"},
 "issue": {"path": "/idempotency-keys"},
 "defaults": {"principal": {"header": "x-user-id", "trusted": true}, "upstream_timeout": "5s"},
 "rules": [
  {"name": "orders", "match": {"path": {"prefix": "/orders"}}, "key": {"from": [{"header": "idempotency-key"}]},
   "fingerprint": {"body": "%s"}, "record": {"max_body": "1KiB"},
   "recovery": {"lease": "10s", "action": "reacquire", "backend_checks_fence": true}, "unavailable": "reject"},
  {"name": "forward", "match": {"path": {"prefix": "/forward"}}, "key": {"from": [{"header": "idempotency-key"}]},
   "fingerprint": {"body": "%s"}, "record": {"max_body": "1KiB"},
   "recovery": {"lease": "10s", "action": "hold"}, "unavailable": "forward"},
  {"name": "after", "match": {"path": {"prefix": "/after"}}, "key": {"from": [{"header": "idempotency-key"}]},
   "fingerprint": {"body": "%s"}, "record": {"max_body": "1KiB", "when": "after_reply"},
   "recovery": {"lease": "10s", "action": "hold"}, "unavailable": "reject"},
  {"name": "wait", "match": {"path": {"prefix": "/wait"}}, "key": {"from": [{"header": "idempotency-key"}]},
   "fingerprint": {"body": "%s"}, "in_flight": {"action": "wait", "max_wait": "2s"},
   "recovery": {"lease": "10s", "action": "hold"}, "unavailable": "reject"},
  {"name": "asked", "match": {"path": {"prefix": "/asked"}}, "key": {"from": [{"header": "idempotency-key"}]},
   "fingerprint": {"body": "%s"}, "in_flight": {"max_wait": "1500ms"},
   "recovery": {"lease": "10s", "action": "hold"}, "unavailable": "reject"},
  {"name": "checkout", "match": {"path": {"prefix": "/checkout"}}, "key": {"from": [{"header": "idempotency-key"}], "issued": true},
   "fingerprint": {"body": "%s"}, "completed": {"action": "reject"},
   "recovery": {"lease": "10s", "action": "hold"}, "unavailable": "reject"}
 ]}`

// parseConfig is the rig's configuration with the flag on, or off with rules
// that need no body.
func parseConfig(t failer, flag bool) *rules.Config {
	body := "json"
	if !flag {
		body = "none"
	}
	cfg, err := rules.Parse(fmt.Appendf(nil, rigConfig, flag, body, body, body, body, body, body))
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

func newRig(t failer, flag bool) *rig { return rigWith(t, parseConfig(t, flag)) }

func rigWith(t failer, cfg *rules.Config) *rig {
	return &rig{t: t, w: NewWorker(cfg, [16]byte{1}), streams: map[*Stream]*seen{},
		counts: map[Metric]int{}, records: map[string]*record{}, left: map[string]bool{}, told: map[string]bool{}, fence: 1000, now: int64(time.Hour)}
}

// headers is a request's or a response's headers.
type headers struct {
	lines  []wire.HeaderLine
	status int
	via    bool
	trail  Trail
}

func (h headers) Header(name string) (out []string) {
	for _, l := range h.lines {
		if l.Name == name {
			out = append(out, l.Value)
		}
	}
	return out
}
func (h headers) Property(...string) (string, bool) { return "", false }
func (h headers) Status() int                       { return h.status }
func (h headers) Lines() []wire.HeaderLine          { return h.lines }
func (h headers) ViaUpstream() bool                 { return h.via }
func (h headers) Trail() Trail                      { return h.trail }

func upstream(status int, lines ...wire.HeaderLine) headers {
	return headers{lines: lines, status: status, via: true, trail: Trail{Attempts: 1}}
}

// perform carries out effects and checks that each is legal.
func (g *rig) perform() {
	for effects := g.w.Effects(); effects != nil; effects = g.w.Effects() {
		for i := range effects {
			e := &effects[i]
			s := g.streams[e.Stream]
			if s != nil && s.done {
				g.t.Fatalf("effect %d on a stream that has ended", e.Kind)
			}
			switch e.Kind {
			case SetRequestHeader:
				if s.resumed > 0 {
					g.t.Fatalf("request header %s set after the request was resumed", e.Name)
				}
				s.request[e.Name] = e.Value
			case RemoveRequestHeader:
				s.removed[e.Name] = true
			case SetResponseHeader:
				if s.released > 0 {
					g.t.Fatalf("response header %s set after the response was resumed", e.Name)
				}
				s.response[e.Name] = e.Value
			case RemoveResponseTrailer:
				s.trailers = append(s.trailers, e.Name)
			case ResumeRequest:
				s.resumed++
				s.pausedReq = false
				if s.resumed > 1 || len(s.replies) > 0 || s.overtaken {
					g.t.Fatalf("request resumed %d times, after %d replies (Envoy's: %v)", s.resumed, len(s.replies), s.overtaken)
				}
				switch r := g.records[recordKey(s.core)]; {
				case s.request[HeaderStatus] == string(CodeUnprotected):
				case s.request[HeaderFence] == "":
					g.t.Fatal("request resumed with neither a fence nor the unprotected mark")
				case r == nil || r.state != "P" || r.owner != string(s.core.owner):
					g.t.Fatalf("request resumed without a live claim: %+v", r)
				}
			case ResumeResponse:
				s.released++
				s.pausedResp = false
				if s.released > 1 {
					g.t.Fatal("response resumed twice")
				}
			case Reply:
				s.replies = append(s.replies, e.Reply)
				s.pausedReq, s.pausedResp = false, false
				if len(s.replies) > 1 || s.resumed > 0 || s.overtaken {
					g.t.Fatalf("%d replies, request resumed %d times (Envoy's reply: %v)", len(s.replies), s.resumed, s.overtaken)
				}
			case Call:
				f := sent{id: e.Call.ID, wait: e.Call.Wait, until: g.now + int64(e.Call.TimeoutMS)*int64(time.Millisecond)}
				if err := wire.DecodeBatch(bytes.Clone(e.Call.Body), &f.batch); err != nil {
					g.t.Fatal(err)
				}
				g.flights = append(g.flights, f)
			case Count:
				g.counts[e.Metric] += int(e.N)
			case Decide:
				g.decisions = append(g.decisions, e.Decision)
				if s == nil {
					break
				}
				if s.decided++; s.decided > 1 || len(s.replies) > 0 {
					g.t.Fatalf("decision %d on a stream, after %d replies: %+v", s.decided, len(s.replies), e.Decision)
				}
			case SetTick:
				g.tick = time.Duration(e.TickMS) * time.Millisecond
			}
		}
	}
}

// open starts a request; its headers are given, its body is not.
func (g *rig) open(method, path, key string, end bool, extra ...wire.HeaderLine) *seen {
	rule := g.w.Match(method, path)
	if rule == nil && !g.w.MatchIssue(method, path) {
		g.t.Fatalf("%s %s is not covered", method, path)
	}
	core := g.w.Open(uint32(len(g.streams)+1), rule, method, path)
	s := &seen{core: core, request: map[string]string{}, response: map[string]string{}, removed: map[string]bool{}}
	g.streams[core] = s
	h := headers{lines: append([]wire.HeaderLine{{Name: "x-user-id", Value: "u"}}, extra...)}
	if key != "" {
		h.lines = append(h.lines, wire.HeaderLine{Name: "idempotency-key", Value: key})
	}
	s.pausedReq = core.RequestHeaders(g.now, h, end) != Continue
	g.perform()
	return s
}

func (g *rig) body(s *seen, b string, end bool) Action {
	a := s.core.RequestBody(g.now, len(b), end, func() []byte { return []byte(b) })
	if a == Continue {
		s.pausedReq = false
	}
	g.perform()
	return a
}

func (g *rig) respond(s *seen, h headers, end bool) {
	if s.core.ResponseHeaders(g.now, h, end) != Continue {
		s.pausedResp = true
	}
	g.perform()
}

// overtaken has Envoy answer a request that is held: its timeout has passed.
func (g *rig) overtaken(s *seen) {
	s.overtaken, s.pausedReq = true, false
	g.respond(s, headers{status: 504}, true)
}

func (g *rig) respondBody(s *seen, b string, end bool) Action {
	a := s.core.ResponseBody(g.now, len(b), end, func() []byte { return []byte(b) })
	g.perform()
	return a
}

func (g *rig) finish(s *seen, trail Trail) {
	s.done = true
	s.core.Done(g.now, func() Trail { return trail })
	g.perform()
}

// answer lets the bridge carry out a flight; lost means that its answer does
// not come back.
func (g *rig) answer(i int, lost bool) {
	f := g.flights[i]
	g.flights = append(g.flights[:i], g.flights[i+1:]...)
	var a wire.Answer
	for j := range f.batch.Ops {
		a.Results = append(a.Results, g.step(&f.batch, &f.batch.Ops[j]))
	}
	if lost {
		g.w.CallFailed(g.now, f.id)
	} else {
		b, err := wire.AppendAnswer(nil, &a)
		if err != nil {
			g.t.Fatal(err)
		}
		g.w.CallAnswered(g.now, f.id, b)
	}
	g.perform()
}

// fail loses a flight before the bridge saw it.
func (g *rig) fail(i int) {
	f := g.flights[i]
	g.flights = append(g.flights[:i], g.flights[i+1:]...)
	g.w.CallFailed(g.now, f.id)
	g.perform()
}

func (g *rig) answerAll() {
	for len(g.flights) > 0 {
		g.answer(0, false)
	}
}

// pass lets time pass, with the ticks that were asked for.
func (g *rig) pass(d time.Duration) {
	for end := g.now + int64(d); g.now < end; {
		step := int64(d)
		if g.tick > 0 {
			step = int64(g.tick)
		}
		g.now = min(g.now+step, end)
		for i := len(g.flights) - 1; i >= 0; i-- {
			if g.flights[i].until <= g.now {
				g.fail(i)
			}
		}
		if g.tick > 0 {
			g.w.Tick(g.now)
			g.perform()
		}
	}
}

// recordKey is the rig's name of a stream's record.
func recordKey(s *Stream) string { return s.rule.Scope + "\x00" + s.principal + "\x00" + s.key }

// settleDown lets everything come to its end: the bridge answers and time
// passes.
func (g *rig) settleDown() {
	for range 40 {
		g.answerAll()
		g.pass(25 * time.Millisecond)
	}
	g.answerAll()
}

func (g *rig) step(b *wire.Batch, op *wire.Operation) wire.Result {
	if op.Kind == wire.Issue {
		return wire.Result{Code: wire.Issued, Key: "ow1.key", ExpiresAtMS: 1}
	}
	id := op.Scope + "\x00" + op.Principal + "\x00" + op.Key
	r := g.records[id]
	owner := string(op.Owner)
	switch op.Kind {
	case wire.Claim:
		if r != nil && wire.Conflict(r.fp, op.Fingerprint) {
			return wire.Result{Code: wire.KeyReused, Differs: wire.Differs(r.fp, op.Fingerprint)}
		}
		switch {
		case g.left[id+owner] && (r == nil || r.owner != owner || r.state == "R"):
			return wire.Result{Code: wire.Stale}
		case r == nil, r.state == "R" && r.owner != owner:
			g.fence++
			g.records[id] = &record{state: "P", owner: owner, fence: g.fence, fp: bytes.Clone(op.Fingerprint)}
			return wire.Result{Code: wire.Created, Fence: g.fence, Attempt: 1, LeaseMS: b.Policies[op.Policy].LeaseMS}
		case r.state == "R":
			return wire.Result{Code: wire.Stale}
		case r.state == "P" && r.owner == owner:
			return wire.Result{Code: wire.Created, Fence: r.fence, Attempt: 1, LeaseMS: b.Policies[op.Policy].LeaseMS}
		case r.state == "P":
			return wire.Result{Code: wire.InFlight, RetryAfterMS: 9000}
		case r.state == "U":
			return wire.Result{Code: wire.OutcomeUnknown, RetryAfterMS: 9000}
		case r.state == "C" && b.Policies[op.Policy].RejectRepeat:
			return wire.Result{Code: wire.KeyUsed, Status: r.status}
		case r.state == "C":
			return wire.Result{Code: wire.Replayed, Status: r.status, Result: r.result, AgeMS: 1500, RemainingMS: 60000}
		}
		return wire.Result{Code: wire.ResponseNotKept, Status: r.status}
	case wire.Wait:
		switch {
		case r == nil, r.state == "R":
			return wire.Result{Code: wire.Free}
		case wire.Conflict(r.fp, op.Fingerprint):
			return wire.Result{Code: wire.KeyReused, Differs: wire.Differs(r.fp, op.Fingerprint)}
		case r.state == "P":
			return wire.Result{Code: wire.InFlight, RetryAfterMS: 9000}
		case r.state == "U":
			return wire.Result{Code: wire.OutcomeUnknown, RetryAfterMS: 9000}
		case r.state == "C":
			return wire.Result{Code: wire.Replayed, Status: r.status, Result: r.result, AgeMS: 1500, RemainingMS: 60000}
		}
		return wire.Result{Code: wire.ResponseNotKept, Status: r.status}
	case wire.Release:
		g.left[id+owner] = true
		if r == nil || r.state == "P" && r.owner == owner {
			g.records[id] = &record{state: "R", owner: owner}
		}
	case wire.Unknown:
		if r == nil || r.state == "P" && r.owner == owner {
			g.records[id] = &record{state: "U", owner: owner, fp: op.Fingerprint}
		}
	case wire.Executed, wire.Complete:
		if r != nil && (r.state == "C" || r.owner != owner && r.state != "U" && r.state != "R") {
			if r.owner == owner {
				return wire.Result{Code: wire.OK}
			}
			return wire.Result{Code: wire.Stale}
		}
		state := "E"
		if op.Kind == wire.Complete {
			state = "C"
		}
		g.records[id] = &record{state: state, owner: owner, fp: bytes.Clone(op.Fingerprint), status: op.Status, result: bytes.Clone(op.Result)}
	case wire.Renew:
		return wire.Result{Code: wire.OK, LeaseMS: b.Policies[op.Policy].LeaseMS}
	}
	return wire.Result{Code: wire.OK}
}
