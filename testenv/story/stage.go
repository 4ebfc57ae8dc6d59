package story

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/oncewall/oncewall/testenv/stack"
)

// pollEvery is the pause between two looks at something awaited.
const pollEvery = 50 * time.Millisecond

// stage is what one scene acts on. It remembers the first thing that went wrong,
// and from then on does nothing, so that a scene reads as a story without a
// condition on every line.
type stage struct {
	ctx    context.Context
	w      *World
	stack  *stack.Stack
	shop   Shop
	door   *Client // to the first gateway, HTTP/1.1
	result Result
	over   bool
}

// begin opens a scene in one of the world's stacks.
func (w *World) begin(ctx context.Context, s *stack.Stack, title string) *stage {
	return &stage{
		ctx: ctx, w: w, stack: s, shop: Shop{s.Shop()},
		door: NewClient(s.Gateway(0), HTTP1, 64), result: Result{Title: title},
	}
}

// end closes the scene.
func (s *stage) end() Result {
	s.door.Close()
	if s.result.Err == nil && s.ctx.Err() != nil {
		s.result.Err = context.Cause(s.ctx)
	}
	return s.result
}

// must ends the scene on a failure of what the scene is played with.
func (s *stage) must(err error) {
	if err != nil && !s.over {
		s.over, s.result.Err = true, err
	}
}

// send sends one request through the first gateway.
func (s *stage) send(r Request) Answer { return s.sendTo(s.door, r) }

func (s *stage) sendTo(c *Client, r Request) Answer {
	if s.over {
		return Answer{}
	}
	return c.Send(s.ctx, r)
}

// sendAll sends n equal requests at one instant.
func (s *stage) sendAll(n int, r Request) []Answer {
	if s.over {
		return nil
	}
	return s.door.SendAll(s.ctx, n, r)
}

// later sends a request and returns at once; the answer is had by calling what
// it returns.
func (s *stage) later(c *Client, r Request) func() Answer {
	if s.over {
		return func() Answer { return Answer{} }
	}
	got := make(chan Answer, 1)
	go func() { got <- c.Send(s.ctx, r) }()
	return func() Answer { return <-got }
}

// row notes what the clients saw and how often the backend ran for a key.
func (s *stage) row(step string, want Expected, key string, runs int, got ...Answer) {
	if s.over {
		return
	}
	x, err := s.shop.Executions(s.ctx, key)
	if s.must(err); err != nil {
		return
	}
	r := Row{Step: step, Ran: x.Count, WantRan: runs}
	s.note(r, want, got)
}

// rowUncounted is row where no key says what ran.
func (s *stage) rowUncounted(step string, want Expected, got ...Answer) {
	s.note(Row{Step: step, Ran: NotCounted, WantRan: NotCounted}, want, got)
}

func (s *stage) note(r Row, want Expected, got []Answer) {
	if s.over {
		return
	}
	t := Count(got...)
	r.Saw, r.Expected = t.String(), want.String()
	if r.OK = want.Met(t) && r.Ran == r.WantRan; !r.OK {
		r.Evidence = evidence(got)
	}
	s.add(r)
}

func (s *stage) add(r Row) {
	s.result.Rows = append(s.result.Rows, r)
	s.over = s.over || !r.OK
}

// holds wants something to be true that the last row does not tell; evidence
// are the answers concerned.
func (s *stage) holds(ok bool, answers []Answer, format string, args ...any) {
	if s.over || ok || len(s.result.Rows) == 0 {
		return
	}
	r := &s.result.Rows[len(s.result.Rows)-1]
	r.OK, r.Wrong = false, fmt.Sprintf(format, args...)
	r.Evidence = evidence(answers)
	s.over = true
}

// retryUntil repeats a request until its answer is of another kind than those of
// while, for at most limit, and returns every answer, the last one included.
func (s *stage) retryUntil(c *Client, r Request, limit time.Duration, while ...string) (answers []Answer) {
	deadline := time.Now().Add(limit)
	for !s.over {
		a := c.Send(s.ctx, r)
		answers = append(answers, a)
		if !slices.Contains(while, a.Kind()) || time.Now().After(deadline) || !s.pause(pollEvery) {
			return answers
		}
	}
	return answers
}

// await polls until ok, and ends the scene if that takes longer than limit.
func (s *stage) await(what string, limit time.Duration, ok func() (bool, error)) {
	deadline := time.Now().Add(limit)
	for !s.over {
		good, err := ok()
		switch {
		case good:
			return
		case time.Now().After(deadline):
			s.must(fmt.Errorf("%s: not within %s (%w)", what, limit, orNone(err)))
		case !s.pause(pollEvery):
			s.must(context.Cause(s.ctx))
		}
	}
}

func orNone(err error) error {
	if err == nil {
		return fmt.Errorf("no error")
	}
	return err
}

// pause waits; false: the story was ended.
func (s *stage) pause(d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-s.ctx.Done():
		return false
	}
}

// arrived waits until the backend has begun with a key n times.
func (s *stage) arrived(key string, n int) {
	s.await("the request's arrival at the shop", 10*time.Second, func() (bool, error) {
		x, err := s.shop.Executions(s.ctx, key)
		return x.Count >= n, err
	})
}
