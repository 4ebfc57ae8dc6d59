package scenario

import (
	"fmt"
	"strconv"
	"sync"
	"time"
)

// upstreamRequest is one request as upstream has it, complete with its body.
// Its methods may be called after its end; they do nothing then.
type upstreamRequest interface {
	request() Request
	after(d time.Duration, f func())
	head(status int, h Lines, end bool)
	data(b []byte, end bool)
	trailers(t Lines)
	reset()
}

// behaviour is what upstream does with a request that arrives.
type behaviour struct {
	kind   string // answers, half, holds, resets, refuses
	answer Answer
}

// backend is the upstream of a scenario in every runner. It counts a request
// when all of it has arrived.
type backend struct {
	mu     sync.Mutex
	now    behaviour
	seen   []Request
	held   map[string]upstreamRequest
	faults []string
	bridge *bridge
}

func newBackend(b *bridge) *backend {
	return &backend{now: behaviour{kind: "answers", answer: Answer{Status: 200}},
		held: map[string]upstreamRequest{}, bridge: b}
}

// arrive takes a request.
func (b *backend) arrive(x upstreamRequest) {
	r := x.request()
	r.Client = r.Headers.Get("x-client")
	b.mu.Lock()
	b.seen = append(b.seen, r)
	if err := b.bridge.mayRun(r); err != nil {
		b.faults = append(b.faults, err.Error())
	}
	now := b.now
	if now.kind == "holds" {
		b.held[r.Client] = x
	}
	b.mu.Unlock()
	switch now.kind {
	case "answers":
		answerTo(x, now.answer)
	case "half":
		a := now.answer
		x.head(a.Status, withLength(a), false)
		x.data(a.Body[:len(a.Body)/2], false)
		x.reset()
	case "resets":
		x.reset()
	}
}

// answerTo gives the whole of an answer.
func answerTo(x upstreamRequest, a Answer) {
	if a.After > 0 {
		d := a.After
		a.After = 0
		x.after(d, func() { answerTo(x, a) })
		return
	}
	bodiless := len(a.Body) == 0 || x.request().Method == "HEAD"
	h := a.Headers
	if len(a.Trailers) == 0 {
		h = withLength(a)
	}
	x.head(a.Status, h, bodiless && len(a.Trailers) == 0)
	if !bodiless {
		x.data(a.Body, len(a.Trailers) == 0)
	}
	if len(a.Trailers) > 0 {
		x.trailers(a.Trailers)
	}
}

func withLength(a Answer) Lines {
	if a.Status == 204 || a.Status == 304 || len(a.Headers.All("content-length")) > 0 {
		return a.Headers
	}
	return append(append(Lines(nil), a.Headers...), [2]string{"content-length", strconv.Itoa(len(a.Body))})
}

// does carries on with a request that upstream holds.
func (b *backend) does(verb, client string, a Answer) error {
	b.mu.Lock()
	x := b.held[client]
	b.mu.Unlock()
	if x == nil {
		return fmt.Errorf("upstream holds no request of %s", client)
	}
	switch verb {
	case "answers":
		answerTo(x, a)
	case "begins":
		x.head(a.Status, a.Headers, false)
	case "sends":
		x.data(a.Body, false)
	case "ends":
		x.data(a.Body, true)
	case "resets":
		x.reset()
	}
	return nil
}

func (b *backend) behave(n behaviour) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.now = n
}

func (b *backend) count() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.seen)
}

func (b *backend) holds(client string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.held[client] != nil
}

// last is a client's newest request.
func (b *backend) last(client string) (Request, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := len(b.seen) - 1; i >= 0; i-- {
		if b.seen[i].Client == client {
			return b.seen[i], true
		}
	}
	return Request{}, false
}

func (b *backend) wrong() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.faults
}
