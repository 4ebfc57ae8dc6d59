package redis

import (
	"crypto/rand"
	"fmt"
	"sync"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/rueidis"
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
// never evicts) or fast (about a millisecond of CPU for each operation). It
// listens on a free loopback port, behind a random password.
type EmbeddedStore struct {
	*Store
	server *miniredis.Miniredis
	clock  func() time.Time
	stop   chan struct{}
	follow sync.Once

	mu     sync.Mutex
	offset time.Duration
}

// Embedded starts an embedded store. Close ends it and forgets every record.
func Embedded(c EmbeddedConfig) (*EmbeddedStore, error) {
	server := miniredis.NewMiniRedis()
	if err := server.StartAddr("127.0.0.1:0"); err != nil {
		return nil, fmt.Errorf("redis: embedded: %w", err)
	}
	password := rand.Text()
	server.RequireAuth(password)
	e := &EmbeddedStore{server: server, clock: c.Clock, stop: make(chan struct{}), offset: c.ClockOffset}
	if e.clock == nil {
		e.clock = time.Now
	}
	if c.Clock != nil || c.ClockOffset != 0 {
		e.tick()
		e.follow.Do(e.start)
	}
	// Lives run with the clock that TIME tells, so the two never part.
	server.ClockTTL(true)

	config := Config{
		Addresses: []string{server.Addr()}, Mode: Single, Password: password,
		ClockSkew: c.ClockSkew, ClaimTimeout: c.ClaimTimeout,
	}
	if err := config.check(); err != nil {
		server.Close()
		return nil, err
	}
	client, err := rueidis.NewClient(config.option())
	if err != nil {
		server.Close()
		return nil, fmt.Errorf("redis: embedded: %w", err)
	}
	e.Store = newStore(&config)
	e.embedded = true
	e.onStop = func() {
		close(e.stop)
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
	e.mu.Unlock()
	e.tick()
	e.follow.Do(e.start)
}

func (e *EmbeddedStore) tick() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.server.SetTime(e.clock().Add(e.offset))
}

// start lets the server's clock follow e's.
func (e *EmbeddedStore) start() {
	go func() {
		t := time.NewTicker(10 * time.Millisecond)
		defer t.Stop()
		for {
			select {
			case <-e.stop:
				return
			case <-t.C:
				e.tick()
			}
		}
	}()
}
