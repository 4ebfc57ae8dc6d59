package scenario

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// hangs is how long a client waits before its request counts as hanging. No
// rule of a story may allow more.
const hangs = 10 * time.Second

// world is what a story plays in.
type world interface {
	send(Request)
	more(client string, body []byte, end bool)
	leave(client string)
	response(client string) Response
	// took is how long a client waited for the end of its answer.
	took(client string) time.Duration
	// advance lets time pass; until lets it pass until cond holds, and is false
	// if that takes longer than limit.
	advance(time.Duration)
	until(limit time.Duration, cond func() bool) bool
	stat(counter string) int
	// block closes the way to upstream or to the bridge.
	block(who string, how access) error
	// slack is what may be added to times that a story states.
	slack() time.Duration
	// end is called when the story has been told and nothing is wrong any more:
	// an error is what was left behind.
	end() error
	close()
}

// access says whether connections are to be had.
type access uint8

const (
	open    access = iota
	refuses        // connections are refused
	absent         // Envoy sends nothing: no healthy host, or its circuit breaker is open
)

var accesses = map[string]access{"refuses": refuses, "absent": absent}

// Where the ways lead that may be closed.
const (
	toUpstream = "upstream"
	toBridge   = "bridge"
)

// stage is one telling of a story.
type stage struct {
	w       world
	backend *backend
	bridge  *bridge
	sent    map[string]Request
	order   []string
	runs    int // as the story said last; -1: it did not
	narrate func(Step)
}

// play tells a story; the error says which line was not so.
func (s *stage) play(v *Variant) error {
	s.sent, s.runs = map[string]Request{}, -1
	for _, step := range v.Steps {
		if s.narrate != nil {
			s.narrate(step)
		}
		if err := step.do(s); err != nil {
			return fmt.Errorf("line %d: %s\n\t%w", step.Line, step.Text, err)
		}
		if wrong := s.backend.wrong(); len(wrong) > 0 {
			return fmt.Errorf("line %d: %s\n\t%s", step.Line, step.Text, strings.Join(wrong, "\n\t"))
		}
	}
	if err := s.finish(); err != nil {
		return fmt.Errorf("after the end: %w", err)
	}
	return nil
}

// finish lets everything go right from now on, and looks at what is left.
func (s *stage) finish() error {
	if s.narrate != nil {
		s.narrate(Step{Text: "the end"})
	}
	s.bridge.spoil(fault{kind: "answers"})
	s.bridge.letGo(false)
	for _, who := range []string{toUpstream, toBridge} {
		if err := s.w.block(who, open); err != nil {
			return err
		}
	}
	for _, name := range s.order {
		if r := s.w.response(name); !r.Complete && !r.Cut {
			s.w.leave(name)
		}
	}
	if err := s.bridgeIsQuiet(); err != nil {
		return err
	}
	if err := s.w.end(); err != nil {
		return err
	}
	if n := s.backend.count(); s.runs >= 0 && n != s.runs {
		return fmt.Errorf("the backend ran %d times in all, not %d", n, s.runs)
	}
	if wrong := s.backend.wrong(); len(wrong) > 0 {
		return fmt.Errorf("%s", strings.Join(wrong, "; "))
	}
	return nil
}

// send sends a request. A key that is written @a is the one issued to a.
func (s *stage) send(r Request) error {
	if from, ok := strings.CutPrefix(r.Headers.Get("idempotency-key"), "@"); ok {
		var issued struct{ Key string }
		if err := json.Unmarshal(s.w.response(from).Body, &issued); err != nil || issued.Key == "" {
			return fmt.Errorf("%s was issued no key", from)
		}
		r.Headers = r.Headers.set("idempotency-key", issued.Key)
	}
	s.sent[r.Client] = r
	s.order = append(s.order, r.Client)
	s.w.send(r)
	return nil
}

func (s *stage) sees(name string, e expectation) error {
	var r Response
	if !s.w.until(hangs, func() bool { r = s.w.response(name); return r.Complete || r.Cut }) {
		return fmt.Errorf("%s hangs: %s after %s", name, r, hangs)
	}
	code := r.Headers.Get("idempotency-status")
	switch {
	case r.Cut:
		return fmt.Errorf("the answer is cut: %s", r)
	case r.Status != e.status:
		return fmt.Errorf("the status is %d: %s", r.Status, r)
	case e.code == "-" && code != "" || e.code != "-" && e.code != "" && code != e.code:
		return fmt.Errorf("the code is %q: %s", code, r)
	}
	if err := e.check(r.Headers, r.Body); err != nil {
		return err
	}
	if t := s.w.took(name); e.within > 0 && t > e.within+s.w.slack() {
		return fmt.Errorf("it took %s", t)
	}
	return nil
}

func (r Response) String() string {
	return fmt.Sprintf("%d %v %s", r.Status, r.Headers, show(r.Body))
}

func (s *stage) isCut(name string) error {
	var r Response
	if !s.w.until(hangs, func() bool { r = s.w.response(name); return r.Complete || r.Cut }) {
		return fmt.Errorf("%s hangs: %s after %s", name, r, hangs)
	}
	if !r.Cut {
		return fmt.Errorf("the answer is whole: %s", r)
	}
	return nil
}

func (s *stage) waits(name string) error {
	if r := s.w.response(name); r.Status != 0 || r.Cut {
		return fmt.Errorf("%s has an answer: %s", name, r)
	}
	return nil
}

func (s *stage) behave(b behaviour) error {
	if err := s.w.block(toUpstream, accesses[b.kind]); err != nil {
		return err
	}
	s.backend.behave(b)
	return nil
}

func (s *stage) upstreamDoes(verb, name string, a Answer) error {
	if !s.w.until(hangs, func() bool { return s.backend.holds(name) }) {
		return fmt.Errorf("no request of %s reached upstream", name)
	}
	return s.backend.does(verb, name, a)
}

func (s *stage) ran(n int) error {
	s.runs = n
	if !s.w.until(hangs, func() bool { return s.backend.count() >= n }) || s.backend.count() != n {
		return fmt.Errorf("the backend ran %d times", s.backend.count())
	}
	return nil
}

func (s *stage) saw(name string, e expectation) error {
	r, ok := s.backend.last(name)
	if !ok {
		return fmt.Errorf("no request of %s reached the backend", name)
	}
	return e.check(r.Headers, r.Body)
}

func (s *stage) spoil(f fault) error {
	if how := accesses[f.kind]; how != open || f.kind == "answers" && f.on == nil {
		if err := s.w.block(toBridge, how); err != nil || how != open {
			return err
		}
	}
	s.bridge.spoil(f)
	return nil
}

func (s *stage) letGo(backwards bool) { s.bridge.letGo(backwards) }

func (s *stage) bridgeHas(n int) error {
	if !s.w.until(hangs, func() bool { return s.bridge.holding() >= n }) || s.bridge.holding() != n {
		return fmt.Errorf("the bridge holds %d answers", s.bridge.holding())
	}
	return nil
}

// bridgeIsQuiet waits until every last word on a claim is acknowledged.
func (s *stage) bridgeIsQuiet() error {
	if !s.w.until(hangs, s.bridge.quiet) {
		return fmt.Errorf("a last word on a claim was not repeated until acknowledged")
	}
	return nil
}
