package e2e

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/oncewall/oncewall/filter/wire"
	"github.com/oncewall/oncewall/testenv/stack"
	"github.com/oncewall/oncewall/testenv/story"
)

// fault makes an answer to a batch wrong; results are what an honest bridge says.
type fault func(w http.ResponseWriter, r *http.Request, results []wire.Result)

// fakeBridge is in the place of the bridge. It grants every claim and acknowledges
// every last word, unless fault is set for the operation's kind.
type fakeBridge struct {
	*httptest.Server
	mu    sync.Mutex
	on    wire.Kind
	fault fault
	fence uint64
	busy  map[string]bool // keys that are told in flight
}

func (b *fakeBridge) set(on wire.Kind, f fault) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.on, b.fault = on, f
}

func newFakeBridge(t *testing.T) *fakeBridge {
	b := &fakeBridge{busy: map[string]bool{}}
	b.Server = httptest.NewUnstartedServer(b)
	b.Config.Protocols = new(http.Protocols)
	b.Config.Protocols.SetUnencryptedHTTP2(true)
	b.Config.ErrorLog = nil
	b.Start()
	t.Cleanup(b.Close)
	return b
}

func (b *fakeBridge) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var batch wire.Batch
	if err != nil || wire.DecodeBatch(body, &batch) != nil {
		w.WriteHeader(400)
		return
	}
	b.mu.Lock()
	f := b.fault
	spoilt := false
	var results []wire.Result
	for i := range batch.Ops {
		op := &batch.Ops[i]
		spoilt = spoilt || op.Kind == b.on
		r := wire.Result{Code: wire.OK}
		switch {
		case op.Kind == wire.Wait, op.Kind == wire.Claim && strings.HasPrefix(op.Key, "busy-"):
			r = wire.Result{Code: wire.InFlight, RetryAfterMS: 20_000}
		case op.Kind == wire.Claim:
			b.fence++
			r = wire.Result{Code: wire.Created, Fence: b.fence, Attempt: 1, LeaseMS: batch.Policies[op.Policy].LeaseMS}
		}
		results = append(results, r)
	}
	b.mu.Unlock()
	if spoilt {
		f(w, r, results)
		return
	}
	if batch.Ops[0].Kind == wire.Wait {
		select { // as a bridge waits
		case <-r.Context().Done():
		case <-time.After(time.Duration(batch.Ops[0].BudgetMS) * time.Millisecond * 9 / 10):
		}
	}
	honest(w, results)
}

func honest(w http.ResponseWriter, results []wire.Result) {
	body, err := wire.AppendAnswer(nil, &wire.Answer{Results: results})
	if err != nil {
		panic(err)
	}
	stamped(w, 200, body)
}

func stamped(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set(wire.StampHeader, "2")
	w.Header().Set("content-type", wire.ContentType)
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// each is the fault of every result.
func each(r wire.Result) fault {
	return func(w http.ResponseWriter, _ *http.Request, results []wire.Result) {
		for i := range results {
			results[i] = r
		}
		honest(w, results)
	}
}

// status is a stamped answer of another status.
func status(code int) fault {
	return func(w http.ResponseWriter, _ *http.Request, _ []wire.Result) { stamped(w, code, []byte("no")) }
}

// body is a stamped 200 that is no answer.
func body(f func(whole []byte) []byte) fault {
	return func(w http.ResponseWriter, _ *http.Request, results []wire.Result) {
		whole, _ := wire.AppendAnswer(nil, &wire.Answer{Results: results})
		stamped(w, 200, f(whole))
	}
}

// shapes are wrong whatever was asked.
var shapes = map[string]fault{
	"no stamp": func(w http.ResponseWriter, _ *http.Request, results []wire.Result) {
		b, _ := wire.AppendAnswer(nil, &wire.Answer{Results: results})
		_, _ = w.Write(b)
	},
	"garbage":         body(func([]byte) []byte { return bytes.Repeat([]byte{0xa7, 0, 0xff}, 999) }),
	"half":            body(func(b []byte) []byte { return b[:len(b)/2] }),
	"nothing":         body(func([]byte) []byte { return nil }),
	"more behind it":  body(func(b []byte) []byte { return append(b, 0) }),
	"another version": body(func(b []byte) []byte { b[0] = 99; return b }),
	"no results":      body(func([]byte) []byte { b, _ := wire.AppendAnswer(nil, &wire.Answer{}); return b }),
	"too many": body(func([]byte) []byte {
		b, _ := wire.AppendAnswer(nil, &wire.Answer{Results: make([]wire.Result, 256)})
		return b
	}),
	"far too many": body(func([]byte) []byte { return bytes.Repeat([]byte{2, 0x8a, 0x80, 0x80, 0, 0x0a, 0}, 100_000) }),
	"2 MiB":        body(func([]byte) []byte { return make([]byte, 2<<20) }),
	"33 MiB":       body(func([]byte) []byte { return make([]byte, 33<<20) }),
	"status 204":   func(w http.ResponseWriter, _ *http.Request, _ []wire.Result) { stamped(w, 204, nil) },
	"status 301": func(w http.ResponseWriter, _ *http.Request, _ []wire.Result) {
		w.Header().Set("location", "http://127.0.0.1:1/")
		stamped(w, 301, nil)
	},
	"status 400": status(400), "status 401": status(401), "status 404": status(404), "status 413": status(413),
	"status 429": status(429), "status 500": status(500), "status 503": status(503),
	"503 without a stamp": func(w http.ResponseWriter, _ *http.Request, _ []wire.Result) { w.WriteHeader(503) },
	"reset":               func(http.ResponseWriter, *http.Request, []wire.Result) { panic(http.ErrAbortHandler) },
	"reset within": func(w http.ResponseWriter, _ *http.Request, _ []wire.Result) {
		w.Header().Set("content-length", "1000")
		stamped(w, 200, []byte{2})
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	},
	"trickle": func(w http.ResponseWriter, r *http.Request, results []wire.Result) {
		stamped(w, 200, nil)
		b, _ := wire.AppendAnswer(nil, &wire.Answer{Results: results})
		for i := range b {
			select {
			case <-r.Context().Done():
				return
			case <-time.After(300 * time.Millisecond):
				_, _ = w.Write(b[i : i+1])
				_ = http.NewResponseController(w).Flush()
			}
		}
	},
	"gzip": func(w http.ResponseWriter, _ *http.Request, results []wire.Result) {
		b, _ := wire.AppendAnswer(nil, &wire.Answer{Results: results})
		w.Header().Set("content-encoding", "gzip")
		stamped(w, 200, []byte(gzipped(b)))
	},
	"stamp in a trailer": func(w http.ResponseWriter, _ *http.Request, results []wire.Result) {
		b, _ := wire.AppendAnswer(nil, &wire.Answer{Results: results})
		w.Header().Set("trailer", wire.StampHeader)
		_, _ = w.Write(b)
		w.Header().Set(wire.StampHeader, "2")
	},
	"early hints alone": func(w http.ResponseWriter, _ *http.Request, _ []wire.Result) {
		w.Header().Set(wire.StampHeader, "2")
		w.WriteHeader(103)
		panic(http.ErrAbortHandler)
	},
	"endless": func(w http.ResponseWriter, r *http.Request, _ []wire.Result) {
		w.Header().Set(wire.StampHeader, "2")
		for chunk := make([]byte, 64<<10); r.Context().Err() == nil; {
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
	},
	"never": func(_ http.ResponseWriter, r *http.Request, _ []wire.Result) { <-r.Context().Done() },
}

// words are results that no bridge gives to a claim.
var words = map[string]fault{
	"no code":            each(wire.Result{}),
	"code 255":           each(wire.Result{Code: 255, Fence: 1, Attempt: 1, LeaseMS: 60_000}),
	"ok":                 each(wire.Result{Code: wire.OK, Fence: 1, Attempt: 1, LeaseMS: 60_000}),
	"issued":             each(wire.Result{Code: wire.Issued, Key: "k"}),
	"free":               each(wire.Result{Code: wire.Free}),
	"found":              each(wire.Result{Code: wire.Found, State: 200}),
	"no fence":           each(wire.Result{Code: wire.Created, Attempt: 1, LeaseMS: 60_000}),
	"no lease":           each(wire.Result{Code: wire.Created, Attempt: 1, Fence: 1}),
	"no attempt":         each(wire.Result{Code: wire.Created, Fence: 1, LeaseMS: 60_000}),
	"replayed, empty":    each(wire.Result{Code: wire.Replayed, Status: 201}),
	"replayed, garbage":  each(wire.Result{Code: wire.Replayed, Status: 201, Result: bytes.Repeat([]byte{1}, 1<<20)}),
	"replayed, split":    each(wire.Result{Code: wire.Replayed, Status: 201, Result: response(201, "x-a", "b\r\nset-cookie: c")}),
	"replayed, 99":       each(wire.Result{Code: wire.Replayed, Status: 99, Result: response(99, "x-a", "b")}),
	"replayed, withheld": each(wire.Result{Code: wire.Replayed, Status: 201, Withheld: true}),
	"in flight for ever": each(wire.Result{Code: wire.InFlight, RetryAfterMS: math.MaxInt64}),
	"unknown for ever":   each(wire.Result{Code: wire.OutcomeUnknown, RetryAfterMS: math.MaxInt64}),
	"over quota":         each(wire.Result{Code: wire.OverQuota, RetryAfterMS: math.MaxInt64}),
	"another request":    each(wire.Result{Code: wire.KeyReused, Differs: bytes.Repeat([]byte{200}, 1<<20)}),
	"invalid":            each(wire.Result{Code: wire.Invalid, Text: strings.Repeat("x", 1<<20)}),
	"unavailable":        each(wire.Result{Code: wire.Unavailable}),
}

func response(status uint16, name, value string) []byte {
	b, err := wire.AppendResponse(nil, &wire.Response{Status: status, Headers: []wire.HeaderLine{{Name: name, Value: value}}})
	if err != nil {
		panic(err)
	}
	return b
}

// framings are right answers whose HTTP is unusual.
var framings = map[string]fault{
	"after early hints": func(w http.ResponseWriter, _ *http.Request, results []wire.Result) {
		w.WriteHeader(103)
		w.WriteHeader(103)
		honest(w, results)
	},
	"with trailers": func(w http.ResponseWriter, _ *http.Request, results []wire.Result) {
		w.Header().Set("trailer", "x-after")
		honest(w, results)
		w.Header().Set("x-after", "1")
	},
	"byte by byte": func(w http.ResponseWriter, _ *http.Request, results []wire.Result) {
		b, _ := wire.AppendAnswer(nil, &wire.Answer{Results: results})
		stamped(w, 200, nil)
		for i := range b {
			_, _ = w.Write(b[i : i+1])
			_ = http.NewResponseController(w).Flush()
		}
	},
}

// answerBound is what an answer may take: bridge.timeout is 1 s, of which a
// withheld result may be asked for several times; the rest is for a busy machine.
const answerBound = 15 * time.Second

// TestWrongBridge puts a bridge before a real Envoy that answers wrongly in every
// way. Each request gets an answer in time, nothing is forwarded without a grant
// where the rule forbids that, the filter does not fail, and when the bridge is
// right again everything is.
func TestWrongBridge(t *testing.T) {
	t.Parallel()
	b := newFakeBridge(t)
	s := start(t, stack.Options{EnvoyPatch: towards(t, b.Listener.Addr())})
	c := door(t, s)
	right := func(t *testing.T, key string) {
		t.Helper()
		b.set(0, nil)
		a := retryWhile(t, c, story.Post("/orders", key), "503 unavailable", 30*time.Second)
		wantKind(t, "the bridge is right again", a, "201 created")
	}
	right(t, "first")
	all := map[string]fault{}
	for _, set := range []map[string]fault{shapes, words} {
		for name, f := range set {
			all[name] = f
		}
	}
	t.Run("claims", func(t *testing.T) {
		for name, f := range all {
			t.Run(name, func(t *testing.T) {
				for _, path := range []string{"/orders", "/uploads"} {
					key := keyOf(name + path)
					b.set(wire.Claim, f)
					a := c.Send(t.Context(), story.Post(path, key))
					if a.Err != nil || a.Took > answerBound {
						t.Fatalf("%s: %s after %v", path, a, a.Took)
					}
					switch a.Kind() {
					case "201 unprotected":
						if path == "/orders" {
							t.Errorf("forwarded without a claim: %s", a)
						}
					default:
						if a.Status < 400 {
							t.Errorf("%s: %s", path, a)
						}
						wantRuns(t, s, key, 0)
					}
					right(t, key+"-next")
				}
			})
		}
	})
	t.Run("framings", func(t *testing.T) {
		for name, f := range framings {
			b.set(wire.Claim, f)
			wantKind(t, name, c.Send(t.Context(), story.Post("/orders", "framed-"+keyOf(name))), "201 created")
		}
	})
	t.Run("last words", func(t *testing.T) {
		for name, f := range all {
			switch name {
			case "ok", "invalid":
				continue // these acknowledge
			}
			t.Run(name, func(t *testing.T) {
				key := "last-" + keyOf(name)
				b.set(wire.Complete, f)
				a := retryWhile(t, c, story.Post("/orders", key), "503 unavailable", 30*time.Second)
				if a.Kind() != "201 created" || a.Took > answerBound {
					t.Fatalf("%s after %v", a, a.Took)
				}
				wantRuns(t, s, key, 1)
				right(t, key+"-next")
			})
		}
	})
	t.Run("polls", func(t *testing.T) {
		for name, f := range all {
			t.Run(name, func(t *testing.T) {
				key := "busy-" + keyOf(name)
				b.set(wire.Wait, f)
				a := c.Send(t.Context(), story.Post("/payments", key).With("prefer", "wait=1"))
				if a.Err != nil || a.Status < 400 || a.Took > answerBound {
					t.Fatalf("%s after %v", a, a.Took)
				}
				wantRuns(t, s, key, 0)
				right(t, key[5:]+"-next")
			})
		}
	})
	if n := counter(t, s, "panic"); n != 0 {
		t.Errorf("%d panics", n)
	}
	if n := stat(t, s, "wasm.oncewall.vm_reload"); n != 0 {
		t.Errorf("the VM was started again %d times", n)
	}
	wantIdle(t, s)
	// 33 MiB answers are over Envoy's bound; what came into the VM is gone again.
	if n := counter(t, s, "memory_bytes"); n > 400<<20 {
		t.Errorf("the VMs have grown to %d MiB", n>>20)
	}
}

// towards is a patch of the gateway's configuration that sends its callouts to
// an address.
func towards(t *testing.T, addr net.Addr) string {
	t.Helper()
	_, port, err := net.SplitHostPort(addr.String())
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("static_resources:\n  clusters:\n")
	for _, name := range []string{"oncewall_bridge", "oncewall_bridge_wait"} {
		fmt.Fprintf(&b, "  - name: %s\n    health_checks: null\n    load_assignment:\n      endpoints:\n      - lb_endpoints:\n"+
			"        - endpoint:\n            address: {socket_address: {address: 127.0.0.1, port_value: %s}}\n            health_check_config: null\n", name, port)
	}
	file := filepath.Join(t.TempDir(), "patch.yaml")
	write(t, file, b.String())
	return file
}

func keyOf(name string) string { return strings.NewReplacer(" ", "_", ",", "").Replace(name) }
