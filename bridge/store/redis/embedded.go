package redis

import (
	"crypto/rand"
	"fmt"
	"sync"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/rueidis"
)

const (
	// clockTick is how often a clock that is not the wall's is handed on.
	clockTick = 10 * time.Millisecond
	// lifeTick is the shortest pause between two rounds that end lives. A round
	// looks at every key, so the pause grows with what rounds cost.
	lifeTick = 100 * time.Millisecond
	// lifeShare bounds the share of time spent in rounds: one part in this many.
	lifeShare = 50
)

// EmbeddedConfig says what an embedded store should be like.
type EmbeddedConfig struct {
	// ClockOffset is added to the store's clock from the start; any value.
	ClockOffset time.Duration
	// Clock is the store's clock; nil is the wall clock. A clock of a test's own
	// is read every 10ms and by Advance.
	Clock func() time.Time
	// ClockSkew and ClaimTimeout as in Config, with the same defaults.
	ClockSkew    time.Duration
	ClaimTimeout time.Duration
}

// EmbeddedStore is a [Store] over a Redis inside this process.
//
// It is the same scripts on the same commands, for development and tests. What
// it is not: durable (everything ends with the process), shared (one bridge
// alone), replicated, bounded (there is no maxmemory, so it never runs full and
// never evicts), fast (some 0.3ms of CPU for each operation) or exact in dropping
// what has outlived itself (100ms late or more, with very many records; leases
// and answers end on time, since scripts look at the clock). It listens on a free
// loopback port, behind a random password.
type EmbeddedStore struct {
	*Store
	server *miniredis.Miniredis
	clock  func() time.Time
	stop   chan struct{}

	mu      sync.Mutex
	offset  time.Duration
	foreign bool      // the clock is not the wall's: the server must be told
	last    time.Time // up to where lives have run
}

// Embedded starts an embedded store. Close ends it and forgets every record.
func Embedded(c EmbeddedConfig) (*EmbeddedStore, error) {
	config := Config{Addresses: []string{"embedded"}, Mode: Single, ClockSkew: c.ClockSkew, ClaimTimeout: c.ClaimTimeout}
	if err := config.check(); err != nil {
		return nil, err
	}
	server := miniredis.NewMiniRedis()
	if err := server.StartAddr("127.0.0.1:0"); err != nil {
		return nil, fmt.Errorf("redis: embedded: %w", err)
	}
	config.Addresses[0] = server.Addr()
	config.Password = rand.Text()
	server.RequireAuth(config.Password)
	e := &EmbeddedStore{
		server: server, clock: c.Clock, stop: make(chan struct{}),
		offset: c.ClockOffset, foreign: c.Clock != nil || c.ClockOffset != 0,
	}
	if e.clock == nil {
		e.clock = time.Now
	}
	e.last = e.clock().Add(e.offset)
	e.tell()
	client, err := rueidis.NewClient(config.option())
	if err != nil {
		server.Close()
		return nil, fmt.Errorf("redis: embedded: %w", err)
	}
	// It takes no other command on a connection that is subscribed.
	listener, err := rueidis.NewClient(config.option())
	if err != nil {
		client.Close()
		server.Close()
		return nil, fmt.Errorf("redis: embedded: %w", err)
	}
	e.Store = newStore(&config)
	e.embedded, e.listener = true, listener
	e.plain.Store(true)
	var running sync.WaitGroup
	running.Go(func() { e.every(clockTick, e.tell) })
	running.Go(func() { e.every(lifeTick, e.age) })
	e.onStop = func() {
		close(e.stop)
		running.Wait()
		listener.Close()
		server.Close()
	}
	e.own(client)
	return e, nil
}

// Advance moves the store's clock, and with it every lease and life, by d; a
// negative d sets it back, as a failover to a node with another clock does.
func (e *EmbeddedStore) Advance(d time.Duration) {
	e.mu.Lock()
	e.offset += d
	e.foreign = true
	e.mu.Unlock()
	e.tell()
	e.age()
}

// tell hands a clock that is not the wall's on to the server.
func (e *EmbeddedStore) tell() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.foreign {
		e.server.SetTime(e.clock().Add(e.offset))
	}
}

// age lets lives run up to now. A clock that was set back ends none and gives
// nothing back.
func (e *EmbeddedStore) age() {
	e.mu.Lock()
	defer e.mu.Unlock()
	now := e.clock().Add(e.offset)
	if d := now.Sub(e.last); d > 0 {
		e.server.FastForward(d)
	}
	e.last = now
}

// every calls f until Close, pausing longer where f takes long.
func (e *EmbeddedStore) every(pause time.Duration, f func()) {
	t := time.NewTimer(pause)
	defer t.Stop()
	for {
		select {
		case <-e.stop:
			return
		case <-t.C:
		}
		begin := time.Now()
		f()
		t.Reset(max(pause, lifeShare*time.Since(begin)))
	}
}
