package redis

import (
	"context"
	_ "embed"
	"fmt"
	"strings"
	"time"

	"github.com/redis/rueidis"

	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/filter/wire"
)

var _ store.Watcher = (*Store)(nil)

//go:embed lua/wait.lua
var waitLua string

var waitScript = newScript(waitLua)

// leaseMargin is how long after a lease's end, as it was told, the record is
// read: a reading that comes a moment too early would have to be repeated.
const leaseMargin = 2 * time.Millisecond

// Peek reads a record once; see [store.Watcher].
func (s *Store) Peek(ctx context.Context, op *store.Operation) store.Reply {
	q, ok := waitRequest(op)
	if !ok {
		return store.Reply{Code: wire.Invalid}
	}
	return s.look(ctx, &q)
}

// Watch waits for the end of what is in flight; see [store.Watcher].
func (s *Store) Watch(ctx context.Context, op *store.Operation) store.Reply {
	q, ok := waitRequest(op)
	if !ok {
		return store.Reply{Code: wire.Invalid}
	}
	if _, err := s.connection(); err != nil {
		return unavailable(err)
	}
	w := s.board.join(op.Name)
	defer s.board.leave(w)
	last := store.Reply{Err: errLate}
	var read time.Time
	lease := time.NewTimer(time.Hour)
	defer lease.Stop()
	for {
		select {
		case <-w.wake:
			if err := s.board.fault(w); err != nil {
				return unavailable(err)
			}
		case <-lease.C:
		case <-ctx.Done():
			last.RetryAfter = max(last.RetryAfter-time.Since(read), 0)
			return last
		}
		r := s.look(ctx, &q)
		switch {
		case ctx.Err() != nil && r.Err != nil:
			continue // the next round ends it
		case r.Err != nil || r.Code != wire.InFlight:
			return r
		}
		last, read = r, time.Now()
		lease.Reset(r.RetryAfter + leaseMargin)
	}
}

// look carries a wait script out.
func (s *Store) look(ctx context.Context, q *request) store.Reply {
	c, err := s.connection()
	if err != nil {
		return unavailable(err)
	}
	var res rueidis.RedisResult
	if q.withhold {
		res = s.read(ctx, c, []request{*q})[0]
	} else {
		// However long its result, it shares its connection with nothing.
		s.commands.Add(1)
		if res = c.Do(ctx, q.solo(c, false)); noScript(res) {
			s.commands.Add(1)
			res = c.Do(ctx, q.solo(c, true))
		}
	}
	items, err := res.ToArray()
	if err != nil {
		s.suspect()
		return unavailable(err)
	}
	if len(items) == 1 {
		if code, err := items[0].AsInt64(); err == nil && code == int64(wire.Free) {
			return store.Reply{Code: wire.Free}
		}
	}
	r, d := decode(res)
	if d.large {
		return store.Reply{Code: wire.Replayed, Withheld: true}
	}
	return r
}

// waitRequest encodes op; false: it is none that the script can carry out.
func waitRequest(op *store.Operation) (request, bool) {
	if op.Kind != wire.Wait || op.Policy == nil || op.Policy.Recovery > wire.Reacquire ||
		op.Policy.Replicas < 0 || op.Policy.Replicas > wire.MaxReplicas || len(op.Fingerprint) > maxFingerprint {
		return request{}, false
	}
	var e encoder
	q := request{kind: op.Kind, script: waitScript, bucket: bucket(op.Name), withhold: op.Withhold}
	q.record, q.result, q.index = keys(op.Name)
	longest := ""
	if op.Withhold {
		longest = inlineArg
	}
	q.args = []string{e.pack(op.Policy), string(op.Fingerprint), longest}
	return q, true
}

// Subscriptions is how many channels the store listens to; at most [Buckets].
func (s *Store) Subscriptions() int { return s.board.size() }

// channel is where the scripts tell that a record of the bucket is no longer in
// flight.
func channel(bucket int) string { return tags[bucket] + "w" }

// listen keeps a post subscribed until ctx ends.
func (s *Store) listen(ctx context.Context, p *post) {
	pause := minPause
	for ctx.Err() == nil {
		began := time.Now()
		err := s.receive(ctx, p)
		s.board.lost(p)
		if time.Since(began) > maxPause {
			pause = minPause
		}
		if e, ok := rueidis.IsRedisErr(err); ok && refused(e) {
			if isUnknownCommand(e) && s.plain.CompareAndSwap(false, true) {
				continue
			}
			s.board.failed(p, fmt.Errorf("redis: subscribe: %w", err))
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
			pause = min(2*pause, maxPause)
		}
	}
	s.unsubscribe(p)
}

// Pauses between two tries to subscribe.
const (
	minPause = 10 * time.Millisecond
	maxPause = time.Second
)

// receive subscribes and hands messages on until the subscription ends: by the
// server, whose slot moved away, with the connection, or with ctx.
func (s *Store) receive(ctx context.Context, p *post) error {
	c, err := s.listening()
	if err != nil {
		return err
	}
	ctx, end := context.WithCancel(ctx)
	defer end()
	s.board.restartable(p, end)
	ctx = rueidis.WithOnSubscriptionHook(ctx, func(e rueidis.PubSubSubscription) {
		if e.Kind == "ssubscribe" || e.Kind == "subscribe" {
			s.board.confirmed(p)
		} else {
			s.board.lost(p)
		}
	})
	command := c.B().Ssubscribe().Channel(channel(p.bucket)).Build()
	if s.plain.Load() {
		command = c.B().Subscribe().Channel(channel(p.bucket)).Build()
	}
	s.commands.Add(1)
	return c.Receive(ctx, command, func(m rueidis.PubSubMessage) { s.board.told(p, m.Message) })
}

// unsubscribe tells the server that nobody listens any more: the end of Receive
// does not. A server that does not hear it publishes for nobody.
func (s *Store) unsubscribe(p *post) {
	c, err := s.listening()
	if err != nil || s.board.closed() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	command := c.B().Sunsubscribe().Channel(channel(p.bucket)).Build()
	if s.plain.Load() {
		command = c.B().Unsubscribe().Channel(channel(p.bucket)).Build()
	}
	s.commands.Add(1)
	c.Do(ctx, command)
}

// listening is the client of subscriptions: that of operations, unless the server
// wants a connection for either.
func (s *Store) listening() (rueidis.Client, error) {
	if s.listener != nil {
		return s.listener, nil
	}
	return s.connection()
}

// refused reports an error that the server answers for good, unlike those of a
// cluster or a node in trouble.
func refused(e *rueidis.RedisError) bool {
	return isUnknownCommand(e) || strings.HasPrefix(e.Error(), "NOPERM")
}

func isUnknownCommand(e *rueidis.RedisError) bool {
	return strings.HasPrefix(e.Error(), "unknown command") // without its ERR
}
