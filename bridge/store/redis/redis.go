package redis

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/rueidis"

	"github.com/oncewall/oncewall/bridge/store"
)

var _ store.Store = (*Store)(nil)

var errNotConnected = errors.New("redis: not connected yet")

// Store is a record store in Redis. It is safe for concurrent use.
type Store struct {
	skew   string // us, as the scripts take it
	marker string // ms
	// embedded says that the store cannot evict and cannot be asked about it.
	embedded bool

	// commands counts what was handed to the client; see Commands.
	commands atomic.Uint64
	seen     atomic.Pointer[observer] // see Observe
	breakers atomic.Pointer[breakerObserver]

	client atomic.Pointer[connected]
	fault  atomic.Pointer[error] // why there is no client yet
	layout atomic.Pointer[layout]
	stale  chan struct{} // an operation failed: the layout may be old

	board *board
	plain atomic.Bool // the server knows no sharded channels
	// listener is the client of subscriptions where it is another.
	listener rueidis.Client

	alive  context.Context // until Close
	kill   context.CancelFunc
	end    context.CancelFunc
	ended  sync.WaitGroup
	onStop func()
}

// connected wraps the client, since an atomic pointer cannot hold an interface.
type connected struct{ rueidis.Client }

// Open starts a store. Its error is always one of the configuration, all faults
// at once. It returns when Redis has answered, and at ctx's end at the latest:
// while Redis is away the store keeps trying, answers ErrUnavailable, and Ready
// says why, so that bridge and Redis may start in any order.
func Open(ctx context.Context, c Config) (*Store, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	s := newStore(&c)
	option := c.option()
	first := make(chan struct{})
	s.background(func(ctx context.Context) { s.connect(ctx, option, c.Mode, first) })
	select {
	case <-first:
	case <-ctx.Done():
	}
	return s, nil
}

func newStore(c *Config) *Store {
	s := &Store{
		skew:   strconv.FormatInt(c.ClockSkew.Microseconds(), 10),
		marker: millis(c.marker()),
		stale:  make(chan struct{}, 1),
	}
	s.alive, s.kill = context.WithCancel(context.Background())
	s.layout.Store(oneNode())
	s.board = newBoard(s.listen)
	return s
}

// background runs f until Close.
func (s *Store) background(f func(context.Context)) {
	ctx, end := context.WithCancel(context.Background())
	s.end = end
	s.ended.Go(func() { f(ctx) })
}

// option translates c. Pipelining is always on: a caller's deadline must never
// close a connection that others share.
func (c *Config) option() rueidis.ClientOption {
	o := rueidis.ClientOption{
		InitAddress:       append([]string(nil), c.Addresses...),
		Username:          c.Username,
		Password:          c.Password,
		TLSConfig:         c.TLS,
		Dialer:            net.Dialer{Timeout: c.DialTimeout, KeepAlive: time.Second},
		ConnWriteTimeout:  c.ReadTimeout,
		ClientName:        "oncewall",
		DisableCache:      true,
		AlwaysPipelining:  true,
		RingScaleEachConn: 8,
		PipelineMultiplex: -1,
		// Connections on which WAIT blocks, for each node.
		BlockingPoolSize:    maxAckConns,
		BlockingPoolCleanup: time.Minute,
		ClusterOption:       rueidis.ClusterOption{ShardsRefreshInterval: refreshEvery},
		// A hundred 256 KiB results a second fit through these; the library's own
		// half a megabyte each way and connection is more than that needs.
		ReadBufferEachConn:  128 << 10,
		WriteBufferEachConn: 128 << 10,
	}
	if c.Mode == Single {
		o.ForceSingleClient = true
	}
	if c.SentinelMaster != "" {
		o.Sentinel = rueidis.SentinelOption{
			MasterSet: c.SentinelMaster, Username: c.SentinelUsername, Password: c.SentinelPassword,
			TLSConfig: c.TLS, Dialer: o.Dialer, TopologyRefreshInterval: refreshEvery,
		}
	}
	if len(c.Via) > 0 {
		o.DialCtxFn = dialVia(c.Via)
	}
	return o
}

// dialVia dials via's address in place of the node's. A certificate is still
// checked against the node's own name.
func dialVia(via map[string]string) func(context.Context, string, *net.Dialer, *tls.Config) (net.Conn, error) {
	return func(ctx context.Context, addr string, d *net.Dialer, t *tls.Config) (net.Conn, error) {
		if t != nil && t.ServerName == "" {
			t = t.Clone()
			t.ServerName, _, _ = net.SplitHostPort(addr)
		}
		if other, ok := via[addr]; ok {
			addr = other
		}
		if t != nil {
			return (&tls.Dialer{NetDialer: d, Config: t}).DialContext(ctx, "tcp", addr)
		}
		return d.DialContext(ctx, "tcp", addr)
	}
}

// connect dials until it succeeds, closing first after its first attempt, and
// then keeps the layout fresh.
func (s *Store) connect(ctx context.Context, o rueidis.ClientOption, mode Mode, first chan struct{}) {
	pause := 100 * time.Millisecond
	for {
		c, err := dial(ctx, o)
		if err == nil && mode == Cluster && c.Mode() != rueidis.ClientModeCluster {
			c.Close()
			err = errors.New("redis: mode cluster: the server has no cluster support enabled")
		}
		if err == nil {
			s.serve(ctx, c, first)
			return
		}
		s.fault.Store(&err)
		if first != nil {
			close(first)
			first = nil
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
			pause = min(2*pause, 2*time.Second)
		}
	}
}

// dial is NewClient, which takes no context, under one: a client that comes
// after ctx's end is closed.
func dial(ctx context.Context, o rueidis.ClientOption) (rueidis.Client, error) {
	type dialled struct {
		c   rueidis.Client
		err error
	}
	done := make(chan dialled)
	go func() {
		c, err := rueidis.NewClient(o)
		select {
		case done <- dialled{c, err}:
		case <-ctx.Done():
			if err == nil {
				c.Close()
			}
		}
	}()
	select {
	case d := <-done:
		return d.c, d.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// own makes c the client of a store that has no other, until Close.
func (s *Store) own(c rueidis.Client) {
	first := make(chan struct{})
	s.background(func(ctx context.Context) { s.serve(ctx, c, first) })
	<-first
}

func (s *Store) serve(ctx context.Context, c rueidis.Client, first chan struct{}) {
	cluster := c.Mode() == rueidis.ClientModeCluster
	refresh := func() {
		ctx, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		was := s.layout.Load()
		if l, err := learn(ctx, c, was); err == nil {
			s.layout.Store(l)
			s.board.moved(was, l)
		}
	}
	if cluster {
		refresh()
	}
	s.client.Store(&connected{c})
	if first != nil {
		close(first)
	}
	tick := time.NewTicker(refreshEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			c.Close()
			return
		case <-tick.C:
		case <-s.stale:
			// A failover takes seconds, and every operation of its keys fails
			// meanwhile: ask at most five times a second.
			select {
			case <-ctx.Done():
				c.Close()
				return
			case <-time.After(200 * time.Millisecond):
			}
		}
		if cluster {
			refresh()
		}
	}
}

// Commands is how many commands operations have cost since the store was opened.
// What the client library repeats by itself is not in it.
func (s *Store) Commands() uint64 { return s.commands.Load() }

// Replicated reports whether replicas can acknowledge at all. Where it is false
// Policy.Replicas counts as satisfied.
func (s *Store) Replicated() bool { return !s.embedded }

// Close ends the connections. Operations under way answer ErrUnavailable.
func (s *Store) Close() {
	s.kill()
	s.board.close()
	s.end()
	s.ended.Wait()
	if s.onStop != nil {
		s.onStop()
	}
}

func (s *Store) connection() (rueidis.Client, error) {
	if c := s.client.Load(); c != nil {
		return c.Client, nil
	}
	if err := s.fault.Load(); err != nil {
		return nil, fmt.Errorf("%w: %w", errNotConnected, *err)
	}
	return nil, errNotConnected
}
