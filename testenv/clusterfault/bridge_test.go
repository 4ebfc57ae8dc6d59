package clusterfault

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/oncewall/oncewall/bridge/naming"
	"github.com/oncewall/oncewall/bridge/server"
	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/bridge/store/redis"
	"github.com/oncewall/oncewall/filter/wire"
)

const (
	namespace = "edge"
	scope     = "orders"
	principal = "header:user-17"
)

// A bridge is the real server over a store, on a loopback port.
type bridge struct {
	r      *rig
	url    string
	client *http.Client
}

// ring names the records of every bridge of a test alike.
var ring = sync.OnceValue(func() *naming.Ring {
	ring, err := naming.NewRing(naming.Secret{ID: "t", Bytes: bytes.Repeat([]byte{7}, naming.MinSecretBytes)})
	if err != nil {
		panic(err)
	}
	return ring
})

// serve runs a bridge over s until the test ends.
func (r *rig) serve(s *redis.Store, edit ...func(*server.Config)) *bridge {
	r.Helper()
	cfg := server.Config{Store: s, Keys: ring(), DrainTimeout: time.Second}
	for _, f := range edit {
		f(&cfg)
	}
	srv, err := server.New(cfg)
	if err != nil {
		r.Fatal(err)
	}
	var listeners [2]net.Listener
	for i := range listeners {
		if listeners[i], err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
			r.Fatal(err)
		}
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		_, err := srv.Run(ctx, listeners[0], listeners[1], nil)
		ended <- err
	}()
	b := &bridge{r: r, url: "http://" + listeners[0].Addr().String() + wire.BatchPath}
	b = b.another()
	r.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			r.Error(err)
		}
	})
	return b
}

// another is the same bridge over a connection of its own.
func (b *bridge) another() *bridge {
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	other := &bridge{r: b.r, url: b.url, client: &http.Client{Transport: &http.Transport{Protocols: protocols}}}
	b.r.Cleanup(other.client.CloseIdleConnections)
	return other
}

// send sends one batch as the filter does. An error is a broken promise: the
// bridge answers every batch by its deadline.
func (b *bridge) send(policy *wire.Policy, ops ...wire.Operation) ([]wire.Result, error) {
	for i := range ops {
		ops[i].Scope, ops[i].Principal = scope, principal
		if ops[i].BudgetMS == 0 {
			ops[i].BudgetMS = uint32(budget.Milliseconds())
		}
	}
	body, err := wire.AppendBatch(nil, &wire.Batch{Namespace: namespace, Policies: []wire.Policy{*policy}, Ops: ops})
	if err != nil {
		return nil, err
	}
	resp, err := b.client.Post(b.url, wire.ContentType, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if body, err = readAll(resp); err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK || resp.Header.Get(wire.StampHeader) == "" {
		return nil, fmt.Errorf("the bridge answered %d: %s", resp.StatusCode, body)
	}
	var answer wire.Answer
	if err := wire.DecodeAnswer(body, &answer); err != nil {
		return nil, err
	}
	if len(answer.Results) != len(ops) {
		return nil, fmt.Errorf("%d results to %d operations", len(answer.Results), len(ops))
	}
	return answer.Results, nil
}

// readAll reads an answer into memory of its size. What a caller of a large result
// leaves to the collector would count as what the result costs.
func readAll(resp *http.Response) ([]byte, error) {
	if resp.ContentLength < 0 {
		return io.ReadAll(resp.Body)
	}
	body := make([]byte, resp.ContentLength)
	_, err := io.ReadFull(resp.Body, body)
	return body, err
}

// only sends one operation, which must be answered.
func (b *bridge) only(policy *wire.Policy, op wire.Operation) wire.Result {
	b.r.Helper()
	results, err := b.send(policy, op)
	if err != nil {
		b.r.Fatal(err)
	}
	return results[0]
}

// nameOf is the record of a client's key.
func nameOf(key string) store.Name {
	return ring().Issuer(time.Now()).Name(namespace, scope, principal, key)
}

// A stash holds unused client keys by the bucket that their records fall into.
// Which bucket that is, nobody can choose: a record's name is an HMAC.
var stash = struct {
	sync.Mutex
	next uint64
	of   [redis.Buckets][]string
}{}

// newKey is a new client key whose record falls into a bucket.
func newKey(bucket int) string {
	stash.Lock()
	defer stash.Unlock()
	for len(stash.of[bucket]) == 0 {
		stash.next++
		key := "key-" + hex.EncodeToString(binary.BigEndian.AppendUint64(nil, stash.next))
		b := bucketOf(nameOf(key))
		stash.of[b] = append(stash.of[b], key)
	}
	keys := stash.of[bucket]
	stash.of[bucket] = keys[:len(keys)-1]
	return keys[len(keys)-1]
}

// response is a result as the filter records it.
var response = sync.OnceValue(func() []byte {
	b, err := wire.AppendResponse(nil, &wire.Response{Status: 201, Body: []byte("result")})
	if err != nil {
		panic(err)
	}
	return b
})
