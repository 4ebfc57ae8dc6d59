package redis

import (
	"context"
	"sync"
	"time"

	"github.com/redis/rueidis"

	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/filter/wire"
)

// A group is what one Do asks of one node under one number of replicas.
type group struct {
	node     *node
	replicas int64
	idx      []int // into the operations, ascending
	waves    []batch
}

// A batch is one pipeline: requests, and the operations that they stand for.
type batch struct {
	node     string   // address
	breaker  *breaker // nil: of no node
	way      string   // as Observe tells it
	idx      []int
	requests []request
}

// part answers some operations.
type part struct {
	idx     []int
	replies []store.Reply
}

func (p *part) add(i int, r store.Reply) {
	p.idx = append(p.idx, i)
	p.replies = append(p.replies, r)
}

// Do carries out ops, each node's as one pipeline (an operation that must see
// an earlier one's answer goes in a second), those that replicas must
// acknowledge in pipelines of their own. It returns at ctx's end at the latest:
// what has not been answered by then carries ErrUnavailable, and a node that was
// merely slow may still carry it out. While a node is away its operations are
// repeated until ctx or the last of their deadlines ends, so one of the two must
// be set.
func (s *Store) Do(ctx context.Context, ops []store.Operation) []store.Reply {
	replies := make([]store.Reply, len(ops))
	client, err := s.connection()
	if err != nil {
		for i := range replies {
			replies[i] = unavailable(err)
		}
		return replies
	}
	groups := s.group(ops, replies)
	e := encoder{skew: s.skew, marker: s.marker, spare: make([]string, 0, maxArgs*len(ops))}
	// The channel holds every part, so that a group whose answer comes after Do
	// has returned ends all the same.
	parts := make(chan part, len(ops))
	left := 0
	for i := range groups {
		g := &groups[i]
		g.waves = e.waves(ops, g.idx)
		left += len(g.idx)
		w, name := g.node.load.of(g.replicas)
		if !w.breaker.allows() {
			s.tellRefused(g.node.address, name, len(g.idx))
			parts <- fail(g.idx, errAway)
			continue
		}
		if w.waiting.Add(1) > maxWaiting {
			w.waiting.Add(-1)
			parts <- fail(g.idx, errBusy)
			continue
		}
		go func() {
			defer w.waiting.Add(-1)
			for _, b := range g.waves {
				b.node = g.node.address
				if g.node.bucket >= 0 {
					b.breaker, b.way = &w.breaker, name
				}
				s.pipeline(ctx, client, b, g.replicas, parts)
			}
		}()
	}
	for left > 0 {
		select {
		case p := <-parts:
			left -= len(p.idx)
			p.into(replies)
		case <-ctx.Done():
			s.finish(parts, groups, replies)
			return replies
		}
	}
	return replies
}

// waves encodes the operations idx, in an order that keeps each record's.
func (e *encoder) waves(ops []store.Operation, idx []int) []batch {
	plan := waves(ops, idx)
	out := make([]batch, len(plan))
	for w, idx := range plan {
		out[w] = batch{idx: idx, requests: make([]request, len(idx))}
		for i, o := range idx {
			out[w].requests[i] = e.request(&ops[o])
		}
	}
	return out
}

// finish takes what has been answered by now; the rest came too late.
func (s *Store) finish(parts chan part, groups []group, replies []store.Reply) {
	for range cap(parts) {
		select {
		case p := <-parts:
			p.into(replies)
		default:
		}
	}
	for _, g := range groups {
		for _, i := range g.idx {
			if replies[i].Code == 0 && replies[i].Err == nil {
				replies[i].Err = errLate
			}
		}
	}
	s.suspect()
}

func (p part) into(replies []store.Reply) {
	for i, o := range p.idx {
		replies[o] = p.replies[i]
	}
}

func fail(idx []int, err error) part {
	p := part{idx: idx, replies: make([]store.Reply, len(idx))}
	for i := range p.replies {
		p.replies[i].Err = err
	}
	return p
}

// group sorts ops by node and answers those that cannot be carried out.
func (s *Store) group(ops []store.Operation, replies []store.Reply) []group {
	l := s.layout.Load()
	groups := make([]group, 0, len(l.nodes)+1)
next:
	for i := range ops {
		if !valid(&ops[i]) {
			replies[i].Code = wire.Invalid
			continue
		}
		n := l.of[bucket(ops[i].Name)]
		replicas := ops[i].Policy.Replicas
		if s.embedded || ops[i].Kind == wire.Get {
			replicas = 0
		}
		for g := range groups {
			if groups[g].node == n && groups[g].replicas == replicas {
				groups[g].idx = append(groups[g].idx, i)
				continue next
			}
		}
		groups = append(groups, group{node: n, replicas: replicas, idx: append(make([]int, 0, len(ops)-i), i)})
	}
	return groups
}

// pipeline sends a batch to its node and hands on its answers.
func (s *Store) pipeline(ctx context.Context, c rueidis.Client, b batch, replicas int64, parts chan<- part) {
	ctx, cancel := b.bound(ctx)
	defer cancel()
	if replicas > 0 {
		s.acknowledge(ctx, c, b, s.stageAll(ctx, c, b, debts(len(b.requests), int(replicas)), parts), parts)
		return
	}
	var p part
	var at, alone []int
	for i := range b.requests {
		if b.requests[i].alone {
			alone = append(alone, i)
		} else {
			at = append(at, i)
		}
	}
	first := s.send(ctx, c, b, at, sending{}, &p)
	again := s.send(ctx, c, b, first.unknown, sending{whole: true}, &p)
	owed := append(first.owed, again.owed...)
	alone = append(append(alone, first.large...), again.large...)
	s.deliver(p, parts)
	owed = append(owed, s.sendAlone(ctx, c, b, alone, parts)...)
	s.acknowledge(ctx, c, b, owed, parts)

	// What the node could not do yet is tried on to the deadline, apart from what
	// it has done.
	failed := append(first.failed, again.failed...)
	if len(failed) == 0 {
		return
	}
	s.suspect()
	p = part{}
	last := s.send(ctx, c, b, failed, sending{whole: true, insist: true}, &p)
	s.deliver(p, parts)
	owed = append(last.owed, s.sendAlone(ctx, c, b, last.large, parts)...)
	s.acknowledge(ctx, c, b, owed, parts)
}

// deliver hands answers on.
func (s *Store) deliver(p part, parts chan<- part) {
	for i := range p.replies {
		if p.replies[i].Err != nil {
			s.suspect()
			break
		}
	}
	if len(p.idx) > 0 {
		parts <- p
	}
}

// sending is how a pipeline is sent.
type sending struct {
	whole  bool // with the scripts' texts
	insist bool // what fails is repeated until the deadline
}

// passing reports an answer, or the lack of one, that says nothing of the record
// and may be another a moment later.
func passing(res rueidis.RedisResult) bool {
	if res.NonRedisError() != nil {
		return true
	}
	e, ok := rueidis.IsRedisErr(res.Error())
	return ok && (e.IsClusterDown() || e.IsTryAgain() || e.IsLoading())
}

// rest is what a pipeline left over.
type rest struct {
	failed  []int  // not done, and to be tried again
	unknown []int  // the node does not know the script
	large   []int  // the result has to be fetched apart
	owed    []debt // the record wants replicas although the caller's rule does not
}

// send sends the requests at, unless their deadline has passed, and adds their
// answers to p.
func (s *Store) send(ctx context.Context, c rueidis.Client, b batch, at []int, w sending, p *part) (r rest) {
	commands := make(rueidis.Commands, 0, len(at))
	sent := make([]int, 0, len(at))
	now := time.Now()
	for _, i := range at {
		q := &b.requests[i]
		if q.late(now) {
			p.add(b.idx[i], store.Reply{Err: errPassed})
			continue
		}
		if w.insist {
			commands = append(commands, q.command(c, w.whole))
		} else {
			commands = append(commands, q.once(c, w.whole))
		}
		sent = append(sent, i)
	}
	if len(commands) == 0 {
		return r
	}
	s.commands.Add(uint64(len(commands)))
	began := time.Now()
	results := c.DoMulti(ctx, commands...)
	s.observe(b.node, shared, began)
	s.note(&b, began, answered(results))
	for j, res := range results {
		i := sent[j]
		switch {
		case !w.whole && noScript(res):
			r.unknown = append(r.unknown, i)
			continue
		case !w.insist && ctx.Err() == nil && passing(res):
			r.failed = append(r.failed, i)
			continue
		}
		reply, d := decode(res)
		switch {
		case d.large && b.requests[i].withhold:
			p.add(b.idx[i], store.Reply{Code: wire.Replayed, Withheld: true})
		case d.large:
			r.large = append(r.large, i)
		case d.acks > 0 && !s.embedded:
			r.owed = append(r.owed, owe(i, reply, d))
		default:
			p.add(b.idx[i], reply)
		}
	}
	return r
}

// answered reports whether a node has answered any of a pipeline's commands, be it
// with an error.
func answered(results []rueidis.RedisResult) bool {
	for i := range results {
		if results[i].NonRedisError() == nil {
			return true
		}
	}
	return false
}

// sendAlone sends each request on a connection of its own, and returns those
// that replicas must acknowledge.
func (s *Store) sendAlone(ctx context.Context, c rueidis.Client, b batch, at []int, parts chan<- part) (owed []debt) {
	var mu sync.Mutex
	var all sync.WaitGroup
	for _, i := range at {
		q := &b.requests[i]
		q.separate()
		all.Go(func() {
			if q.late(time.Now()) {
				parts <- fail(b.idx[i:i+1], errPassed)
				return
			}
			began := time.Now()
			reply, d := s.apart(ctx, c, q)
			s.observe(b.node, single, began)
			if reply.Err != nil {
				s.suspect()
			}
			if d.acks > 0 && !s.embedded {
				mu.Lock()
				defer mu.Unlock()
				owed = append(owed, owe(i, reply, d))
				return
			}
			parts <- part{idx: b.idx[i : i+1], replies: []store.Reply{reply}}
		})
	}
	all.Wait()
	return owed
}

// bound ends ctx with the last deadline of the batch, so that the client, which
// repeats what failed on the way, never goes on when nobody waits any more.
func (b batch) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	var last time.Time
	for i := range b.requests {
		d := b.requests[i].deadline
		if d.IsZero() {
			return ctx, func() {}
		}
		if d.After(last) {
			last = d
		}
	}
	return context.WithDeadline(ctx, last)
}

// suspect asks for a fresh layout.
func (s *Store) suspect() {
	select {
	case s.stale <- struct{}{}:
	default:
	}
}
