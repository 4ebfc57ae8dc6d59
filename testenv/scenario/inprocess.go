package scenario

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"time"

	"github.com/oncewall/oncewall/bridge/naming"
	"github.com/oncewall/oncewall/bridge/server"
	"github.com/oncewall/oncewall/bridge/store/redis"
	"github.com/oncewall/oncewall/filter/wire"
)

// start is where the virtual clock of the native runner and of the harness
// begins.
var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// realBudget is the time that the real bridge has for a batch. The virtual clock
// stands still while it works, so its budget in real time has nothing to do with
// the batch's own.
const realBudget = 30 * time.Second

// inProcess is the real bridge, without a network before it, on a virtual clock.
type inProcess struct {
	store   *redis.EmbeddedStore
	server  *server.Server
	handler http.Handler
	// at is the virtual clock since start. The store reads it now and then on a
	// goroutine of its own.
	at atomic.Int64
}

func newInProcess() (*inProcess, error) {
	p := &inProcess{}
	now := func() time.Time { return start.Add(time.Duration(p.at.Load())) }
	store, err := redis.Embedded(redis.EmbeddedConfig{Clock: now})
	if err != nil {
		return nil, err
	}
	keys, err := naming.NewRing(naming.Secret{ID: "scenario", Bytes: bytes.Repeat([]byte{7}, naming.MinSecretBytes)})
	if err != nil {
		store.Close()
		return nil, err
	}
	srv, err := server.New(server.Config{Store: store, Keys: keys, Now: now, IssueLife: 30 * time.Second})
	if err != nil {
		store.Close()
		return nil, err
	}
	p.store, p.server, p.handler = store, srv, srv.DataHandler()
	return p, nil
}

// serve does a batch's work at a moment of the virtual clock.
func (p *inProcess) serve(at time.Duration, batch []byte) bridgeAnswer {
	p.at.Store(int64(at))
	var b wire.Batch
	if err := wire.DecodeBatch(bytes.Clone(batch), &b); err != nil {
		panic(err)
	}
	for i := range b.Ops {
		b.Ops[i].BudgetMS = uint32(realBudget.Milliseconds())
	}
	body, err := wire.AppendBatch(nil, &b)
	if err != nil {
		panic(err)
	}
	p.store.Advance(0) // reads the clock
	r := httptest.NewRequest(http.MethodPost, wire.BatchPath, bytes.NewReader(body))
	r.Header.Set("Content-Type", wire.ContentType)
	w := httptest.NewRecorder()
	p.handler.ServeHTTP(w, r)
	a := bridgeAnswer{status: w.Code, body: w.Body.Bytes()}
	for _, name := range []string{"content-type", wire.StampHeader} {
		a.headers = append(a.headers, [2]string{name, strings.Join(w.Header().Values(name), ",")})
	}
	return a
}

func (p *inProcess) close() { p.store.Close() }
