package server

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/binary"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/oncewall/oncewall/bridge/naming"
	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/bridge/store/redis"
	"github.com/oncewall/oncewall/filter/wire"
)

const testSecret = "a-secret-of-thirty-two-bytes-or-more"

// stub is a store made of one function: for faults that no real store shows on
// demand.
type stub struct {
	do    func(ctx context.Context, ops []store.Operation) []store.Reply
	ready error
}

func (s *stub) Do(ctx context.Context, ops []store.Operation) []store.Reply { return s.do(ctx, ops) }
func (s *stub) Ready(context.Context) error                                 { return s.ready }
func (s *stub) Close()                                                      {}

// answering returns a store that gives every operation the same reply.
func answering(r store.Reply) *stub {
	return &stub{do: func(_ context.Context, ops []store.Operation) []store.Reply {
		replies := make([]store.Reply, len(ops))
		for i := range replies {
			replies[i] = r
		}
		return replies
	}}
}

func testRing(t testing.TB) *naming.Ring {
	t.Helper()
	ring, err := naming.NewRing(naming.Secret{ID: "t", Bytes: bytes.Repeat([]byte{7}, naming.MinSecretBytes)})
	if err != nil {
		t.Fatal(err)
	}
	return ring
}

func embedded(t testing.TB) store.Store {
	t.Helper()
	st, err := redis.Embedded(redis.EmbeddedConfig{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(st.Close)
	return st
}

// bridge is a server that runs on loopback, and its client.
type bridge struct {
	*Server
	t      testing.TB
	url    string
	admin  string
	client *http.Client
	logs   *syncBuffer
	stop   context.CancelFunc
	done   chan bool // Run's settled
}

// start runs a server over st. Changes to its configuration come in edit.
func start(t testing.TB, st store.Store, edit ...func(*Config)) *bridge {
	t.Helper()
	b := &bridge{t: t, logs: &syncBuffer{}, done: make(chan bool, 1)}
	cfg := Config{
		Store: st, Keys: testRing(t), Secrets: [][]byte{[]byte(testSecret)}, DrainTimeout: 5 * time.Second,
		Log: slog.New(slog.NewJSONHandler(b.logs, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	for _, f := range edit {
		f(&cfg)
	}
	var err error
	if b.Server, err = New(cfg); err != nil {
		t.Fatal(err)
	}
	data, admin := listen(t), listen(t)
	b.url, b.admin = "http://"+data.Addr().String(), "http://"+admin.Addr().String()
	b.client = client(false)
	var ctx context.Context
	ctx, b.stop = context.WithCancel(context.Background())
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		settled, err := b.Run(ctx, data, admin, nil)
		if err != nil {
			t.Errorf("run: %v", err)
		}
		b.done <- settled
	}()
	t.Cleanup(func() {
		b.client.CloseIdleConnections()
		b.stop()
		<-finished
	})
	return b
}

func listen(t testing.TB) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// client speaks HTTP/1.1, or h2c alone.
func client(h2c bool) *http.Client {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(!h2c)
	protocols.SetUnencryptedHTTP2(h2c)
	return &http.Client{Transport: &http.Transport{Protocols: protocols, TLSClientConfig: &tls.Config{}}}
}

// post sends a body as the filter does; edit may spoil the request.
func (b *bridge) post(body []byte, edit ...func(*http.Request)) (*http.Response, []byte) {
	b.t.Helper()
	r, err := http.NewRequest(http.MethodPost, b.url+wire.BatchPath, bytes.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+testSecret)
	r.Header.Set("Content-Type", wire.ContentType)
	for _, f := range edit {
		f(r)
	}
	resp, err := b.client.Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	if resp.Header.Get(wire.StampHeader) == "" {
		b.t.Errorf("status %d without the stamp", resp.StatusCode)
	}
	return resp, answer
}

// send sends operations under policy and returns their results.
func (b *bridge) send(policy wire.Policy, ops ...wire.Operation) []wire.Result {
	b.t.Helper()
	return b.sendBatch(&wire.Batch{Namespace: "edge", Policies: []wire.Policy{policy}, Ops: ops})
}

func (b *bridge) sendBatch(batch *wire.Batch) []wire.Result {
	b.t.Helper()
	resp, body := b.post(encode(b.t, batch))
	if resp.StatusCode != http.StatusOK {
		b.t.Fatalf("status %d: %s", resp.StatusCode, body)
	}
	var answer wire.Answer
	if err := wire.DecodeAnswer(body, &answer); err != nil {
		b.t.Fatal(err)
	}
	if len(answer.Results) != len(batch.Ops) {
		b.t.Fatalf("%d results to %d operations", len(answer.Results), len(batch.Ops))
	}
	return answer.Results
}

func encode(t testing.TB, batch *wire.Batch) []byte {
	t.Helper()
	body, err := wire.AppendBatch(nil, batch)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// get asks the admin listener.
func (b *bridge) get(path string) (int, string) {
	b.t.Helper()
	resp, err := http.Get(b.admin + path)
	if err != nil {
		b.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, string(body)
}

func testPolicy() wire.Policy {
	return wire.Policy{Generation: "g1", TTLMS: 60_000, LeaseMS: 10_000, MaxAttempts: 3, Recovery: wire.Hold}
}

func testOp(kind wire.Kind, owner byte) wire.Operation {
	op := wire.Operation{
		Kind: kind, BudgetMS: 5000, Scope: "payments", Principal: "header:user-17", Key: "key-4711",
		Owner:       binary.BigEndian.AppendUint64(bytes.Repeat([]byte{owner}, 16), 1),
		Fingerprint: testFingerprint(1),
	}
	switch kind {
	case wire.Issue:
		op.Key, op.Owner, op.Fingerprint = "", nil, nil
	case wire.Executed:
		op.Status = 201
	case wire.Complete:
		op.Status, op.Result = 201, testResult()
	}
	return op
}

func testFingerprint(body byte) []byte {
	fp := wire.AppendPart([]byte{wire.FingerprintVersion}, wire.PartMethod, wire.AlgorithmFixed, [32]byte{9})
	return wire.AppendPart(fp, wire.PartBody, wire.AlgorithmConfigured, [32]byte{body})
}

func testResult() []byte {
	b, err := wire.AppendResponse(nil, &wire.Response{
		Status:  201,
		Headers: []wire.HeaderLine{{Name: "content-type", Value: "application/json"}},
		Body:    []byte(`{"id":"ord-1"}`),
	})
	if err != nil {
		panic(err)
	}
	return b
}

// syncBuffer is a log that several goroutines write.
type syncBuffer struct {
	mu sync.Mutex
	b  strings.Builder
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}
