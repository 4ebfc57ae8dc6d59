// Package soak looks for what grows: it sends a gateway many requests of every
// kind, through a real Envoy, and compares what its VM holds after a tenth of them
// with what it holds in the end.
//
// Each tenth is three loads: a mixed one, one of many connections at once, and one
// during which the bridge is killed and started again. Between tenths everything
// must come to rest: no stream open, nothing pending.
package soak

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/oncewall/oncewall/testenv/stack"
	"github.com/oncewall/oncewall/testenv/story"
)

// Options of a run.
type Options struct {
	Requests    int // in all; at least 1,000
	Connections int // of the load of many connections
	Away        time.Duration
	Progress    func(format string, args ...any)
}

// tenths are the parts of a run.
const tenths = 10

// Figures are what a gateway holds once it has come to rest.
type Figures struct {
	Requests int           // so far
	Took     time.Duration // so far
	Memory   int           // bytes of the VM's memory
	Heap     int           // bytes of objects in it, dead ones that are not collected yet included
	Cache    int           // bytes of the memory of finished keys
	RSS      int           // bytes of Envoy
	Peak     int           // most streams that were open at one look
}

// Report is what a run has found.
type Report struct {
	Marks  []Figures // after each tenth
	Kinds  story.Tally
	Panics int
}

// Growth is by how much the VM's memory has grown since a tenth of the run, the
// first is 0, as a fraction of what it was.
func (r *Report) Growth(since int) float64 {
	first, last := r.Marks[since], r.Marks[len(r.Marks)-1]
	return float64(last.Memory-first.Memory) / float64(first.Memory)
}

// Write prints the figures as a table.
func (r *Report) Write(w io.Writer) {
	const mib = 1 << 20
	_, _ = fmt.Fprintln(w, "| requests | VM memory | Go heap | finished keys | Envoy RSS | most open streams | open streams at rest | time |\n|---|---|---|---|---|---|---|---|")
	for _, m := range r.Marks {
		_, _ = fmt.Fprintf(w, "| %d | %.1f MiB | %.1f MiB | %.1f MiB | %d MiB | %d | 0 | %s |\n", m.Requests,
			float64(m.Memory)/mib, float64(m.Heap)/mib, float64(m.Cache)/mib, m.RSS/mib, m.Peak, m.Took.Round(time.Second))
	}
	_, _ = fmt.Fprintf(w, "\nVM memory after all requests against after a tenth of them: %+.1f%%. Answers: %s\n", 100*r.Growth(0), r.Kinds)
}

// run is a run under way.
type run struct {
	o      Options
	s      *stack.Stack
	client *story.Client
	sent   atomic.Int64
	began  time.Time
	mu     sync.Mutex
	kinds  story.Tally
}

// rules let results die soon, so that the embedded store does not grow either.
const rules = `{
 "namespace": "edge",
 "bridge": {"cluster": "oncewall_bridge", "wait_cluster": "oncewall_bridge_wait", "authority": "oncewall", "timeout": "1s"},
 "envoy": {"allow_on_headers_stop_iteration": true, "buffer_limit": "1MiB"},
 "defaults": {"principal": {"header": "x-user-id", "trusted": true}, "record": {"max_body": "256KiB"}, "upstream_timeout": "5s", "unavailable": "reject",
  "completed": {"action": "replay", "ttl": "10s", "tombstone_ttl": "0s"},
  "recovery": {"action": "reacquire", "lease": "10s", "backend_checks_fence": true}},
 "rules": [
  {"name": "orders", "match": {"path": {"prefix": "/orders"}}},
  {"name": "waiting", "match": {"path": {"prefix": "/waiting"}}, "in_flight": {"action": "wait", "max_wait": "2s"}},
  {"name": "local", "match": {"path": {"prefix": "/local"}}, "unavailable": "local"}
 ]}`

// Run starts a stack, sends the requests and ends it.
func Run(ctx context.Context, o Options) (_ *Report, err error) {
	dir, err := os.MkdirTemp("", "soak")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	file := filepath.Join(dir, "rules.json")
	if err := os.WriteFile(file, []byte(rules), 0o600); err != nil {
		return nil, err
	}
	s, err := stack.Start(ctx, stack.Options{Rules: file})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	r := &run{o: o, s: s, client: story.NewClient(s.Gateway(0), story.HTTP1, o.Connections), began: time.Now(), kinds: story.Tally{}}
	defer r.client.Close()
	report := &Report{}
	for tenth := range tenths {
		f, err := r.tenth(ctx, tenth)
		if err != nil {
			return nil, fmt.Errorf("after %d requests: %w", r.sent.Load(), err)
		}
		report.Marks = append(report.Marks, f)
		o.Progress("%d requests: memory %d KiB, heap %d KiB, RSS %d KiB, up to %d streams", f.Requests, f.Memory>>10, f.Heap>>10, f.RSS>>10, f.Peak)
	}
	report.Kinds = r.kinds
	if report.Panics, err = r.stat(ctx, "wasmcustom.idempotency.panic"); err != nil {
		return nil, err
	}
	return report, nil
}

// tenth plays its rounds and waits for rest.
func (r *run) tenth(ctx context.Context, tenth int) (f Figures, err error) {
	share := r.o.Requests / tenths
	stop := make(chan struct{})
	peak := make(chan int)
	go func() {
		most := 0
		for {
			select {
			case <-stop:
				peak <- most
				return
			case <-time.After(200 * time.Millisecond):
				if n, err := r.stat(ctx, "wasmcustom.idempotency.open_streams"); err == nil {
					most = max(most, n)
				}
			}
		}
	}()
	// Several rounds, and the hardest first, so that the first tenth has met the
	// worst of what comes after: what grows then grows with the number of requests.
	rounds, away := max(share/roundRequests, 1), r.o.Connections/2
	if tenth == 0 {
		away = r.o.Connections
	}
	for i := range rounds {
		if err = r.round(ctx, tenth*rounds+i, share/rounds, away); err != nil {
			return f, err
		}
	}
	if err = r.forget(ctx); err == nil {
		err = r.rest(ctx)
	}
	close(stop)
	f.Peak = <-peak
	if err != nil {
		return f, err
	}
	f.Requests, f.Took = int(r.sent.Load()), time.Since(r.began)
	for _, v := range []struct {
		name string
		to   *int
	}{{"memory_bytes", &f.Memory}, {"heap_bytes", &f.Heap}, {"cache_bytes", &f.Cache}} {
		if *v.to, err = r.stat(ctx, "wasmcustom.idempotency."+v.name); err != nil {
			return f, err
		}
	}
	f.RSS, err = rss(r.s.PID(stack.GatewayPart(0)))
	return f, err
}

// roundRequests is about the size of a round.
const roundRequests = 20_000

// round plays the three loads: a few connections, all of them, and width of them
// with the bridge away.
func (r *run) round(ctx context.Context, number, n, width int) error {
	r.load(ctx, number, 0, n*7/10, 32)
	r.load(ctx, number, 1, n*2/10, r.o.Connections)
	away := make(chan error, 1)
	go func() { away <- r.bridgeAway(ctx) }()
	r.load(ctx, number, 2, n-n*7/10-n*2/10, width)
	return <-away
}

// load sends n requests on width connections.
func (r *run) load(ctx context.Context, round, part, n, width int) {
	var next atomic.Int64
	var all sync.WaitGroup
	for range width {
		all.Go(func() {
			kinds := story.Tally{}
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					break
				}
				r.one(ctx, kinds, fmt.Sprintf("%d-%d-%d", round, part, i), fmt.Sprintf("%d-%d-%d", round, part, max(i-i%8-64*(i/8%2), 0)), i)
			}
			r.mu.Lock()
			defer r.mu.Unlock()
			for k, v := range kinds {
				r.kinds[k] += v
			}
		})
	}
	all.Wait()
}

// one sends a request of the kind that its number says. first names a key that
// was used a little earlier, if all goes well.
func (r *run) one(ctx context.Context, kinds story.Tally, key, first string, i int) {
	q := story.Post("/orders", key)
	switch i % 32 {
	case 1, 2, 3, 4, 9, 10, 11, 17, 18, 19, 25, 26, 27:
		q = story.Post("/orders", first) // a concurrent request, or a retry
	case 5:
		q = story.Post("/orders", first).Body(`{"another":"request"}`)
	case 6:
		q = q.With("x-shop-body-bytes", "100000")
	case 12:
		q = q.With("x-shop-body-bytes", "300000").With("x-shop-chunked", "1") // not kept
	case 7:
		q = story.Post("/orders", strings.Repeat("k", 300)) // refused
	case 8, 16:
		q = story.Post("/waiting", key).With("x-shop-delay", "20ms")
	case 20, 21:
		q = story.Post("/waiting", first).With("x-shop-delay", "20ms")
	case 13:
		q = q.Body(`{"item":"` + strings.Repeat("x", 60_000) + `"}`)
	case 14:
		// The client goes.
		c, cancel := context.WithTimeout(ctx, 5*time.Millisecond)
		defer cancel()
		ctx, q = c, q.With("x-shop-delay", "10ms")
	case 22:
		q = story.Post("/local", key)
	}
	r.sent.Add(1)
	a := r.client.Send(ctx, q)
	kinds[a.Kind()]++
}

// bridgeAway kills the bridge and starts it again.
func (r *run) bridgeAway(ctx context.Context) error {
	if err := r.s.Kill(stack.BridgePart(0)); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
	case <-time.After(r.o.Away):
	}
	return r.s.StartPart(ctx, stack.BridgePart(0))
}

// restLimit bounds the wait for what is under way: the longest pause of a
// repeated operation, and a busy machine.
const restLimit = 90 * time.Second

// rest waits until no stream is open and nothing is pending.
func (r *run) rest(ctx context.Context) error {
	names := []string{"wasmcustom.idempotency.open_streams", "wasmcustom.idempotency.pending_operations", "wasmcustom.idempotency.waiting",
		"wasmcustom.idempotency.body_bytes", "wasmcustom.idempotency.callouts_under_way", "http.gateway.downstream_rq_active"}
	for deadline := time.Now().Add(restLimit); ; {
		busy := ""
		for _, name := range names {
			n, err := r.stat(ctx, name)
			if err != nil {
				return err
			}
			if n != 0 {
				busy = fmt.Sprintf("%s is %d", name, n)
				break
			}
		}
		if busy == "" {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("no rest within %s: %s", restLimit, busy)
		}
		time.Sleep(200 * time.Millisecond)
	}
}

func (r *run) stat(ctx context.Context, name string) (int, error) {
	text, err := get(ctx, http.MethodGet, "http://"+r.s.GatewayAdmin(0)+"/stats?filter=^"+name+"$")
	if err != nil {
		return 0, err
	}
	_, v, ok := strings.Cut(text, ": ")
	if !ok {
		return 0, fmt.Errorf("envoy has no statistic %s", name)
	}
	return strconv.Atoi(strings.TrimSpace(v))
}

// forget empties the shop's list of executions.
func (r *run) forget(ctx context.Context) error {
	_, err := get(ctx, http.MethodDelete, "http://"+r.s.Shop()+"/executions")
	return err
}

func get(ctx context.Context, method, url string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, method, url, nil)
	if err != nil {
		return "", err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	return string(b), err
}

// rss is the memory of a process that is in RAM.
func rss(pid int) (int, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(b)) {
		if v, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kib, err := strconv.Atoi(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(v), "kB")))
			return kib << 10, err
		}
	}
	return 0, fmt.Errorf("soak: process %d has no VmRSS", pid)
}
