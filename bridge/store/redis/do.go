package redis

import (
	"context"
	"time"

	"github.com/redis/rueidis"

	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/filter/wire"
)

// A group is what one Do asks of one node.
type group struct {
	node *node
	idx  []int // into the operations, ascending
}

// part answers some of a group's operations.
type part struct {
	idx     []int
	replies []store.Reply
}

// Do carries out ops, each node's as one pipeline (operations that must see an
// earlier one's answer go in a second). It returns at ctx's end at the latest:
// what has not been answered by then carries ErrUnavailable, and may still be
// carried out by a node that was merely slow.
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
	total := 0
	plans := make([][][]int, len(groups))
	for i, g := range groups {
		plans[i] = waves(ops, g.idx)
		total += len(plans[i])
	}
	// The channel holds every part, so that a group whose answer comes after Do
	// has returned ends all the same.
	parts := make(chan part, total)
	for i, g := range groups {
		if g.node.waiting.Add(1) > maxWaiting {
			g.node.waiting.Add(-1)
			for _, w := range plans[i] {
				parts <- fail(w, errBusy)
			}
			continue
		}
		go func() {
			defer g.node.waiting.Add(-1)
			s.run(ctx, client, ops, plans[i], parts)
		}()
	}
	for range total {
		select {
		case p := <-parts:
			p.into(replies)
		case <-ctx.Done():
			s.finish(parts, groups, replies)
			return replies
		}
	}
	return replies
}

// finish takes what has been answered by now; the rest came too late.
func (s *Store) finish(parts chan part, groups []group, replies []store.Reply) {
	for {
		select {
		case p := <-parts:
			p.into(replies)
			continue
		default:
		}
		break
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
		for g := range groups {
			if groups[g].node == n {
				groups[g].idx = append(groups[g].idx, i)
				continue next
			}
		}
		groups = append(groups, group{node: n, idx: append(make([]int, 0, len(ops)-i), i)})
	}
	return groups
}

// run carries out one node's operations, wave by wave.
func (s *Store) run(ctx context.Context, c rueidis.Client, ops []store.Operation, plan [][]int, parts chan<- part) {
	for _, idx := range plan {
		parts <- s.pipeline(ctx, c, ops, idx)
	}
}

func (s *Store) pipeline(ctx context.Context, c rueidis.Client, ops []store.Operation, idx []int) part {
	p := part{idx: idx, replies: make([]store.Reply, len(idx))}
	e := encoder{client: c, skew: s.skew, marker: s.marker}
	now := time.Now()
	var last time.Time
	bounded := true
	sent := make([]int, 0, len(idx)) // into idx
	commands := make(rueidis.Commands, 0, len(idx))
	for i, o := range idx {
		op := &ops[o]
		if !op.Deadline.IsZero() && !now.Before(op.Deadline) {
			p.replies[i].Err = errPassed
			continue
		}
		bounded = bounded && !op.Deadline.IsZero()
		if op.Deadline.After(last) {
			last = op.Deadline
		}
		sent = append(sent, i)
		commands = append(commands, e.command(op, false))
	}
	if len(sent) == 0 {
		return p
	}
	if bounded {
		// The client repeats what failed on the way; never past every deadline.
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, last)
		defer cancel()
	}
	var again []int
	for j, res := range c.DoMulti(ctx, commands...) {
		if noScript(res) {
			again = append(again, sent[j])
			continue
		}
		p.replies[sent[j]] = decode(res)
	}
	if len(again) > 0 {
		commands = commands[:0]
		for _, i := range again {
			commands = append(commands, e.command(&ops[idx[i]], true))
		}
		for j, res := range c.DoMulti(ctx, commands...) {
			p.replies[again[j]] = decode(res)
		}
	}
	for i := range p.replies {
		if p.replies[i].Err != nil {
			s.suspect()
			break
		}
	}
	return p
}

// suspect asks for a fresh layout.
func (s *Store) suspect() {
	select {
	case s.stale <- struct{}{}:
	default:
	}
}
