package redis

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/redis/rueidis"

	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/filter/wire"
)

// What replicas must acknowledge goes to its node as a pipeline of its own,
// [EVALSHA..., barrier, WAIT], on a connection that nobody else uses meanwhile.
// WAIT waits for the last write of its own connection, and the client library
// would send a pipeline of several slots apart from its WAIT; so it is sent to
// one node, and redirections are followed here.

const (
	// maxAckConns bounds the connections to one node on which WAIT blocks.
	maxAckConns = 64
	// barrier is a write for WAIT to wait for. An operation that only read shows
	// what another connection wrote; whoever has this write has that one too. It
	// begins with DEL, hence passes when memory is full.
	barrier = "redis.call('DEL',KEYS[1]) redis.call('SET',KEYS[1],'','PX',1000) return 1"
	// barrierSuffix makes the key of a barrier from a bucket's tag. It means
	// nothing.
	barrierSuffix = "ack"
	// nudgeEvery is the pause between two nudges of a server that is late.
	nudgeEvery = 2 * time.Millisecond
	// comeAgain is what a repeat of a finished request waits whose record too few
	// replicas hold. It is not told that the store is away: some rules forward
	// then, and this request has run.
	comeAgain = time.Second
)

var errFewReplicas = fmt.Errorf("%w: too few replicas acknowledged before the deadline", store.ErrUnavailable)

// A debt is a request whose answer replicas must acknowledge.
type debt struct {
	at      int  // into the batch's requests
	acks    int  // how many replicas
	granted bool // the claim was granted for this Do, not for an earlier one
	done    bool // it was carried out, and only has to be acknowledged
	// What an earlier try brought about and a later one finds done.
	restored, takeover bool
	whole              bool   // the node does not know the script
	address            string // where a node redirected it; "": where the layout says
	asking             bool   // the redirection was ASK
	err                error  // why the last try came to nothing
}

// owe is the debt of a request that has been carried out without waiting.
func owe(at int, r store.Reply, d duty) debt {
	return debt{at: at, acks: d.acks, granted: d.granted, restored: r.Restored, takeover: r.Takeover, done: true}
}

// merge puts into a later try's answer what an earlier one brought about, and
// remembers it for the next.
func (d *debt) merge(r *store.Reply, duty duty) {
	d.granted = d.granted || duty.granted
	d.restored = d.restored || r.Restored
	d.takeover = d.takeover || r.Takeover
	r.Restored = d.restored && r.Code == wire.OK
	r.Takeover = d.takeover && r.Code == wire.Created
}

func debts(n, acks int) []debt {
	owed := make([]debt, n)
	for i := range owed {
		owed[i] = debt{at: i, acks: acks}
	}
	return owed
}

// acker settles the debts of one batch.
type acker struct {
	s     *Store
	c     rueidis.Client
	b     batch
	parts chan<- part
	split sync.WaitGroup
}

// acknowledge carries out the requests owed and hands each answer on when enough
// replicas hold what it says. It returns when all are answered; ctx must end.
func (s *Store) acknowledge(ctx context.Context, c rueidis.Client, b batch, owed []debt, parts chan<- part) {
	if len(owed) == 0 {
		return
	}
	a := &acker{s: s, c: c, b: b, parts: parts}
	a.settle(ctx, owed, 0)
	a.split.Wait()
}

// settle tries until nothing is owed or ctx ends. What goes to several nodes is
// parted, so that none of them waits for another.
func (a *acker) settle(ctx context.Context, owed []debt, tries int) {
	for ; len(owed) > 0; tries++ {
		if tries > 0 && !pause(ctx, tries) {
			for _, d := range owed {
				a.answer(d, store.Reply{Err: errors.Join(errFewReplicas, d.err)})
			}
			return
		}
		address, others := "", map[string][]debt{}
		var here []debt
		for _, d := range owed {
			to := a.address(d)
			if len(here) == 0 || to == address {
				address, here = to, append(here, d)
			} else {
				others[to] = append(others[to], d)
			}
		}
		for _, rest := range others {
			a.split.Go(func() { a.settle(ctx, rest, tries) })
		}
		owed = a.try(ctx, address, here)
	}
}

// pause waits before another try, hardly at all before the first: a redirection
// is followed at once. It reports false at ctx's end.
func pause(ctx context.Context, tries int) bool {
	t := time.NewTimer(min(time.Millisecond<<min(tries, 6), 50*time.Millisecond))
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return ctx.Err() == nil
	}
}

func (a *acker) address(d debt) string {
	if d.address != "" {
		return d.address
	}
	return a.s.layout.Load().of[a.b.requests[d.at].bucket].address
}

// node finds the client of one node. Its commands follow no redirection.
func (a *acker) node(address string) rueidis.Client {
	if a.c.Mode() != rueidis.ClientModeCluster {
		return a.c
	}
	return nodeAt(a.c.Nodes(), address)
}

// nodeAt looks up an address. A cluster may announce ports without hosts; then
// the port has to tell.
func nodeAt(nodes map[string]rueidis.Client, address string) rueidis.Client {
	if n := nodes[address]; n != nil {
		return n
	}
	host, port, _ := net.SplitHostPort(address)
	if host != "" && host != "?" {
		return nil
	}
	var found rueidis.Client
	for at, n := range nodes {
		if _, p, _ := net.SplitHostPort(at); p == port {
			if found != nil {
				return nil
			}
			found = n
		}
	}
	return found
}

// try sends the requests owed to one node, answers what can be answered, and
// returns the rest.
func (a *acker) try(ctx context.Context, address string, owed []debt) (again []debt) {
	n := a.node(address)
	if n == nil {
		// The library does not know the node yet. A command to one of its slots,
		// which it redirects, makes it look again.
		a.s.suspect()
		a.s.commands.Add(1)
		a.c.Do(ctx, a.c.B().Exists().Key(a.b.requests[owed[0].at].record).Build())
		return owed
	}
	now := time.Now()
	var commands rueidis.Commands
	asked := owed[:0]
	acks := 0
	for _, d := range owed {
		r := &a.b.requests[d.at]
		if r.late(now) {
			a.answer(d, store.Reply{Err: errPassed})
			continue
		}
		if d.asking {
			commands = append(commands, n.B().Arbitrary("ASKING").Build())
		}
		r.separate() // from all that wants no replica
		commands = append(commands, r.command(n, d.whole))
		asked = append(asked, d)
		acks = max(acks, d.acks)
	}
	if len(asked) == 0 {
		return nil
	}
	bucket, asking := a.barrier(address, asked[0])
	if asking {
		commands = append(commands, n.B().Arbitrary("ASKING").Build())
	}
	patience := patience(ctx)
	commands = append(commands,
		n.B().Eval().Script(barrier).Numkeys(1).Key(tags[bucket]+barrierSuffix).Build(),
		n.B().Wait().Numreplicas(int64(acks)).Timeout(patience).Build())
	a.s.commands.Add(uint64(len(commands)))
	stop := nudge(ctx, n, time.Duration(patience)*time.Millisecond)
	began := time.Now()
	results := n.DoMulti(ctx, commands...)
	stop()
	a.s.observe(address, acknowledged, began)
	if address == a.b.node {
		a.s.note(&a.b, began, answered(results))
	}
	last := len(results) - 1
	held, err := results[last].AsInt64()
	if err == nil {
		err = results[last-1].Error()
	}
	return a.judge(ctx, n, asked, results, int(held), err)
}

// barrier chooses the bucket of the barrier's key: any of the node's, because
// the requests' own may be on its way to another node.
func (a *acker) barrier(address string, d debt) (bucket int, asking bool) {
	l := a.s.layout.Load()
	from := rand.IntN(Buckets)
	for i := range Buckets {
		if b := (from + i) % Buckets; l.of[b].address == address {
			return b, false
		}
	}
	return a.b.requests[d.at].bucket, d.asking
}

// patience is the timeout of a WAIT in milliseconds, never 0, which is for ever:
// what ctx leaves, but for what it takes to undo a grant and to answer.
func patience(ctx context.Context) int64 {
	end, ok := ctx.Deadline()
	if !ok {
		return time.Second.Milliseconds()
	}
	left := time.Until(end)
	return max((left - min(max(left/10, 5*time.Millisecond), left/2)).Milliseconds(), 1)
}

// nudge makes a WAIT end on time. A server with nothing else to do looks at the
// timeouts of its blocked clients ten times a second; any command, on any other
// connection, makes it look.
func nudge(ctx context.Context, n rueidis.Client, after time.Duration) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var again func()
	again = func() {
		if n.Do(ctx, n.B().Ping().Build()); ctx.Err() == nil {
			time.AfterFunc(nudgeEvery, again)
		}
	}
	t := time.AfterFunc(after+nudgeEvery, again)
	return func() {
		t.Stop()
		cancel()
	}
}

// judge answers the debts from the results of their pipeline: held replicas have
// acknowledged, unless waitErr says that this is not known.
func (a *acker) judge(ctx context.Context, n rueidis.Client, owed []debt, results []rueidis.RedisResult, held int, waitErr error) (again []debt) {
	at := 0
	var undo []undone
	for _, d := range owed {
		if d.asking {
			at++
		}
		res := results[at]
		at++
		if err := res.Error(); err != nil {
			if d.redirect(err) {
				a.s.suspect()
				again = append(again, d)
			} else {
				a.answer(d, unavailable(err))
			}
			continue
		}
		reply, duty := decode(res)
		if d.done && reply.Code == wire.Stale && a.b.requests[d.at].script == resolveScript {
			// A decision that sealed a noted claim finds it final now.
			reply, duty.acks = store.Reply{Code: wire.OK}, d.acks
		}
		if d.done && reply.Code == wire.NotFound && a.b.requests[d.at].script == eraseScript {
			reply, duty.acks = store.Reply{Code: wire.OK}, d.acks // erased whole by the try before
		}
		d.merge(&reply, duty)
		// A record may want more than the caller's rule.
		short := duty.acks > d.acks
		d.acks = max(d.acks, duty.acks)
		switch {
		case duty.acks == 0:
			a.answer(d, reply)
		case waitErr != nil || short && held < duty.acks:
			d.address, d.asking, d.err = "", false, waitErr
			again = append(again, d)
		case held >= duty.acks:
			a.answer(d, reply)
		case reply.Code == wire.Created && d.granted:
			undo = append(undo, undone{d, a.b.requests[d.at].undo(reply.Fence, a.s.marker)})
		case reply.Code == wire.Created || reply.Code == wire.OK || reply.Code == store.Moved && (reply.Planted || a.b.requests[d.at].kind != wire.Claim):
			a.answer(d, store.Reply{Err: errFewReplicas})
		default:
			a.answer(d, store.Reply{Code: wire.InFlight, RetryAfter: comeAgain, Age: reply.Age})
		}
	}
	a.undo(ctx, n, undo)
	return again
}

type undone struct {
	debt
	request
}

// undo gives back grants that too few replicas hold, and then answers them. One
// that is not undone in time ends with its lease, or by its owner's release.
func (a *acker) undo(ctx context.Context, n rueidis.Client, list []undone) {
	if len(list) == 0 {
		return
	}
	commands := make(rueidis.Commands, len(list))
	for i := range list {
		commands[i] = list[i].command(n, true)
	}
	a.s.commands.Add(uint64(len(commands)))
	n.DoMulti(ctx, commands...)
	for _, u := range list {
		a.answer(u.debt, store.Reply{Err: errFewReplicas})
	}
}

func (a *acker) answer(d debt, r store.Reply) {
	a.parts <- part{idx: []int{a.b.idx[d.at]}, replies: []store.Reply{r}}
}

// redirect reports whether another try may succeed, and where it has to go.
func (d *debt) redirect(err error) bool {
	d.address, d.asking, d.err = "", false, err
	e, ok := rueidis.IsRedisErr(err)
	if !ok {
		return true // the connection
	}
	if to, ok := e.IsMoved(); ok {
		d.address = to
		return true
	}
	if to, ok := e.IsAsk(); ok {
		d.address, d.asking = to, true
		return true
	}
	if e.IsNoScript() {
		d.whole = true
		return true
	}
	code, _, _ := strings.Cut(e.Error(), " ")
	switch code {
	case "TRYAGAIN", "CLUSTERDOWN", "LOADING", "MASTERDOWN", "READONLY", "UNBLOCKED":
		return true
	}
	return false
}
