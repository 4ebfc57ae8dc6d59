// Package apitest runs a bridge with the JSON API inside a test: the real server,
// the real handlers, the embedded store, on free loopback ports.
package apitest

import (
	"bytes"
	"context"
	"crypto/rand"
	"log/slog"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/oncewall/oncewall/bridge/admin"
	"github.com/oncewall/oncewall/bridge/naming"
	"github.com/oncewall/oncewall/bridge/reconcile"
	"github.com/oncewall/oncewall/bridge/seal"
	"github.com/oncewall/oncewall/bridge/server"
	"github.com/oncewall/oncewall/bridge/store/redis"
	clientapi "github.com/oncewall/oncewall/client/api"
)

// Secrets of the callers: two consumers and an operator, and the filter.
const (
	Gateway  = "gateway-secret-0123456789-0123456789"
	Consumer = "consumer-secret-0123456789-0123456789"
	Other    = "another-consumer-0123456789-0123456789"
	Operator = "operator-secret-0123456789-0123456789"
)

// Bridge is a running bridge. Consumer is allowed jobs/* and mail/out, Other
// jobs/* alone.
type Bridge struct {
	Data, Admin string // URLs
	Store       *redis.EmbeddedStore
	Server      *server.Server
	logs        Buffer
}

// Start runs a bridge until the test ends. edit may change the API's
// configuration.
func Start(t testing.TB, edit ...func(*admin.Config)) *Bridge {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	st, err := redis.Embedded(redis.EmbeddedConfig{ClaimTimeout: time.Second})
	must(err)
	ring, err := naming.NewRing(naming.Secret{ID: "n", Bytes: random(32)})
	must(err)
	sealer, err := seal.New(seal.Secret{ID: "s", Bytes: random(32)})
	must(err)
	b := &Bridge{Store: st}
	log := slog.New(slog.NewJSONHandler(&b.logs, &slog.HandlerOptions{Level: slog.LevelDebug}))
	registry := prometheus.NewRegistry()
	b.Server, err = server.New(server.Config{
		Store: st, Keys: ring, Sealer: sealer, Secrets: [][]byte{[]byte(Gateway)}, Log: log, Registry: registry, DrainTimeout: 5 * time.Second,
	})
	must(err)
	cfg := admin.Config{Server: b.Server, Log: log, Registry: registry, Callers: []admin.Caller{
		{ID: "worker", Secret: []byte(Consumer), Allow: []admin.Place{{Namespace: "jobs", Scope: "*"}, {Namespace: "mail", Scope: "out"}}},
		{ID: "other", Secret: []byte(Other), Allow: []admin.Place{{Namespace: "jobs", Scope: "*"}}},
		{ID: "alice", Secret: []byte(Operator), Operator: true},
	}}
	recovery, err := reconcile.New(reconcile.Config{Store: b.Store})
	must(err)
	cfg.Why = recovery.Why
	for _, f := range edit {
		f(&cfg)
	}
	api, err := admin.New(cfg)
	must(err)
	if h := api.Consumers(); h != nil {
		b.Server.MountData(admin.ConsumerPrefix, h)
	}
	if h := api.Operators(); h != nil {
		b.Server.MountAdmin(admin.OperatorPrefix, h)
		b.Server.MountAdmin(clientapi.PathReport, h)
	}
	data, err := net.Listen("tcp", "127.0.0.1:0")
	must(err)
	adminL, err := net.Listen("tcp", "127.0.0.1:0")
	must(err)
	b.Data, b.Admin = "http://"+data.Addr().String(), "http://"+adminL.Addr().String()
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if _, err := b.Server.Run(ctx, data, adminL, nil); err != nil {
			t.Errorf("bridge: %v", err)
		}
	}()
	t.Cleanup(func() {
		stop()
		<-done
		st.Close()
	})
	return b
}

// Logs returns what the bridge has logged so far.
func (b *Bridge) Logs() string { return b.logs.String() }

func random(n int) []byte {
	b := make([]byte, n)
	rand.Read(b)
	return b
}

// Buffer is a bytes.Buffer for several goroutines.
type Buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write implements io.Writer.
func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

// String returns what has been written so far.
func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
