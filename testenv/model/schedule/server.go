package schedule

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/rueidis"

	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/bridge/store/redis"
	"github.com/oncewall/oncewall/testenv/model/table"
)

// Server is a Target over a real Redis server, which it flushes at will. Its
// clock cannot be moved: where time is to pass, every moment that the records
// hold moves the other way instead, which is the same to the scripts.
type Server struct {
	store  *redis.Store
	client rueidis.Client // beside the store
}

var _ Target = (*Server)(nil)

// NewServer opens a store over the server at address; Close ends it.
func NewServer(ctx context.Context, address string) (*Server, error) {
	c, err := rueidis.NewClient(rueidis.ClientOption{
		InitAddress: []string{address}, DisableCache: true, ForceSingleClient: true,
	})
	if err != nil {
		return nil, fmt.Errorf("schedule: server: %w", err)
	}
	s, err := redis.Open(ctx, redis.Config{Addresses: []string{address}, Mode: redis.Single})
	if err != nil {
		c.Close()
		return nil, err
	}
	return &Server{s, c}, nil
}

// Close closes the store and the connection beside it.
func (s *Server) Close() {
	s.store.Close()
	s.client.Close()
}

// Store is the store under test.
func (s *Server) Store() store.Store { return s.store }

// Inspector is the same store, for operators.
func (s *Server) Inspector() store.Inspector { return s.store }

// Limits are what it is configured with.
func (s *Server) Limits() table.Limits { return limits }

// Exact is false: the server's clock runs on.
func (s *Server) Exact() bool { return false }

func (s *Server) do(args ...string) rueidis.RedisResult {
	return s.client.Do(context.Background(), s.client.B().Arbitrary(args...).Build())
}

// Read reads through the connection beside the store.
func (s *Server) Read(n store.Name) (table.Record, error) {
	return Read(context.Background(), s.client, n)
}

// Now asks the server.
func (s *Server) Now() (int64, error) {
	clock, err := s.do("TIME").AsIntSlice()
	if err != nil || len(clock) != 2 {
		return 0, fmt.Errorf("schedule: server: time: %v, %w", clock, err)
	}
	return clock[0]*1_000_000 + clock[1], nil
}

// moments are the fields of a record that hold one.
var moments = []string{"ca", "le", "ex", "kx"}

// Pass moves every moment of the records by d into the past.
func (s *Server) Pass(d time.Duration, names []store.Name) error {
	for _, n := range names {
		p := placesOf(n)
		for _, key := range []string{p.record, p.result} {
			left, err := s.do("PTTL", key).AsInt64()
			if err != nil {
				return err
			}
			switch rest := left - d.Milliseconds(); {
			case left < 0 || d < 0:
			case rest*1000 <= brink:
				s.do("DEL", key)
			default:
				s.do("PEXPIRE", key, strconv.FormatInt(rest, 10))
			}
		}
		if err := s.shift(p, d.Microseconds()); err != nil {
			return err
		}
	}
	return nil
}

func (s *Server) shift(p places, us int64) error {
	fields, err := s.do("HGETALL", p.record).AsStrMap()
	if err != nil {
		return err
	}
	for _, name := range moments {
		if at, err := strconv.ParseInt(fields[name], 10, 64); err == nil {
			s.do("HSET", p.record, name, strconv.FormatInt(at-us, 10))
		}
	}
	for i := range table.MaxLeavers {
		name := "r" + strconv.Itoa(i+1)
		until, owner, _ := strings.Cut(fields[name], ":")
		if at, err := strconv.ParseInt(until, 10, 64); err == nil {
			s.do("HSET", p.record, name, strconv.FormatInt(at-us, 10)+":"+owner)
		}
	}
	if due, err := s.do("ZSCORE", p.index, p.member).AsFloat64(); err == nil && due != 0 {
		s.do("ZADD", p.index, strconv.FormatInt(int64(due)-us, 10), p.member)
	}
	return nil
}

// Lose takes that part of n's record away.
func (s *Server) Lose(what Verb, n store.Name) error {
	p := placesOf(n)
	args := map[Verb][]string{
		LoseAll: {"FLUSHALL"}, LoseRecord: {"DEL", p.record}, LoseResult: {"DEL", p.result},
		LoseIndex: {"ZREM", p.index, p.member}, LoseScripts: {"SCRIPT", "FLUSH"},
	}[what]
	return s.do(args...).Error()
}

// flushScripts makes the server at address forget every script.
func flushScripts(address string) error {
	c, err := rueidis.NewClient(rueidis.ClientOption{
		InitAddress: []string{address}, DisableCache: true, ForceSingleClient: true,
	})
	if err != nil {
		return err
	}
	defer c.Close()
	return c.Do(context.Background(), c.B().ScriptFlush().Build()).Error()
}
