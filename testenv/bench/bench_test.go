package bench

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func TestParseCPU(t *testing.T) {
	got, err := parseCPU([]byte("17 (a ) name) S 1 17 17 0 -1 4194304 9 0 0 0 150 25 7 7 20 0 9 0 100 0"))
	if want := 1750 * time.Millisecond; err != nil || got != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
	for _, bad := range []string{"", "17 (x) S 1 2", "17 (x) S 1 17 17 0 -1 4194304 9 0 0 0 u 25 7 7"} {
		if got, err := parseCPU([]byte(bad)); err == nil {
			t.Errorf("%q: got %s, want an error", bad, got)
		}
	}
	if _, err := cpuOf(os.Getpid()); err != nil {
		t.Error(err)
	}
}

func TestParseCommands(t *testing.T) {
	scripts, commands := parseCommands("role:master\r\ncmdstat_evalsha:calls=4,usec=141\r\ncmdstat_hget:calls=9,usec=1\r\n" +
		"cmdstat_config|get:calls=100,usec=1\r\ncmdstat_ping:calls=50,usec=1\r\n")
	if scripts != 4 || commands != 13 {
		t.Errorf("got %d scripts and %d commands, want 4 and 13", scripts, commands)
	}
}

func TestNumber(t *testing.T) {
	text := "size_count_more 5\nsize_count 3\nsum 1.2e+06\n"
	if n, err := number(text, "size_count"); n != 3 || err != nil {
		t.Errorf("got %d, %v, want 3", n, err)
	}
	if n, err := number(text, "sum"); n != 1_200_000 || err != nil {
		t.Errorf("got %d, %v, want 1200000", n, err)
	}
	if _, err := number(text, "size"); err == nil {
		t.Error("a counter that is not there is read")
	}
}

func TestSpread(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   Spread
	}{
		{nil, Spread{}},
		{[]float64{3}, Spread{3, 3, 3}},
		{[]float64{9, 1, 2}, Spread{2, 1, 9}},
		{[]float64{4, 1, 2, 9}, Spread{3, 1, 9}},
	} {
		if got := spread(c.values); got != c.want {
			t.Errorf("%v: got %v, want %v", c.values, got, c.want)
		}
	}
}

// A ratio is to bare proxying of the same round: a machine that is slow in one
// round moves the times and not the ratios.
func TestRatiosAreWithinARound(t *testing.T) {
	slot := func(round int, name string, us int) Slot {
		return Slot{Case: name, Round: round, Requests: 100, Took: time.Second, EnvoyCPU: time.Duration(us*100) * time.Microsecond}
	}
	r := &Report{Slots: []Slot{
		slot(1, Bare, 50), slot(1, NotCovered, 60),
		slot(2, NotCovered, 600), slot(2, Bare, 500),
		slot(3, Bare, 40), slot(3, NotCovered, 60),
	}}
	row := r.Rows()[1]
	if want := (Spread{1.2, 1.2, 1.5}); row.EnvoyRatio != want || row.Envoy != 60 {
		t.Errorf("got %v and %.1f us, want %v and 60.0 us", row.EnvoyRatio, row.Envoy, want)
	}
}

func TestCountsAreChecked(t *testing.T) {
	good := []Slot{
		{Case: Bare, Requests: 10, Executions: 10},
		{Case: NotCovered, Requests: 10, Executions: 10},
		{Case: First, Requests: 10, Executions: 10, Callouts: 5, Batches: 5, Operations: 20},
		{Case: Duplicate, Requests: 10},
	}
	if err := (&Report{Slots: good}).check(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		slot Slot
		want string
	}{
		{Slot{Case: Duplicate, Requests: 10, Callouts: 1, Batches: 1}, "want none"},
		{Slot{Case: Duplicate, Requests: 10, Executions: 1}, "executed 1 of 10 requests, want 0"},
		{Slot{Case: Duplicate}, "no request was answered"},
		{Slot{Case: NotCovered, Requests: 10, Executions: 10, Batches: 1}, "want none"},
		{Slot{Case: First, Requests: 10, Executions: 11, Operations: 20}, "executed 11 of 10"},
		{Slot{Case: First, Requests: 10, Executions: 10, Operations: 19}, "19 operations for 10 requests"},
	} {
		err := (&Report{Slots: []Slot{c.slot}}).check()
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: got %v, want %q in it", c.slot, err, c.want)
		}
	}
}

func TestOptionsTellEveryFault(t *testing.T) {
	_, err := Options{Store: "disk", Rounds: -1, Slot: time.Hour, Connections: 1000}.withDefaults()
	if err == nil {
		t.Fatal("they are taken")
	}
	for _, want := range []string{`store "disk" must be`, "rounds -1 must be", "slot 1h0m0s must be", "connections 1000 must be"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not told in:\n%v", want, err)
		}
	}
}

// server answers as the gateway does, as far as the load looks at it.
func server(t *testing.T, answer http.HandlerFunc) string {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &httptest.Server{Listener: l, Config: &http.Server{Handler: lowerCase(answer)}}
	s.Start()
	t.Cleanup(s.Close)
	return l.Addr().String()
}

// lowerCase writes names as Envoy does.
func lowerCase(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { next(&lowerWriter{w}, r) }
}

type lowerWriter struct{ http.ResponseWriter }

func (w *lowerWriter) WriteHeader(status int) {
	h := w.Header()
	for name, values := range h {
		if lower := strings.ToLower(name); lower != name {
			delete(h, name)
			h[lower] = values
		}
	}
	w.ResponseWriter.WriteHeader(status)
}

func reply(w http.ResponseWriter, marker, body string) {
	w.Header().Set("Content-Length", fmt.Sprint(len(body)))
	if marker != "" {
		w.Header().Set("Idempotency-Status", marker)
	}
	w.WriteHeader(http.StatusCreated)
	_, _ = w.Write([]byte(body))
}

func caseNamed(t *testing.T, name string) *testCase {
	t.Helper()
	for i := range cases {
		if cases[i].name == name {
			return &cases[i]
		}
	}
	t.Fatalf("no case is named %q", name)
	return nil
}

func runLoad(t *testing.T, name, addr string) (int, error) {
	t.Helper()
	l, err := newLoad(t.Context(), caseNamed(t, name), addr, "test", 3)
	if err != nil {
		return 0, err
	}
	defer l.close()
	n, _, err := l.run(t.Context(), 50*time.Millisecond)
	return n, err
}

func TestFirstRequestsHaveKeysOfTheirOwn(t *testing.T) {
	var seen, keys atomic.Int64
	known := make(chan map[string]bool, 1)
	known <- map[string]bool{}
	addr := server(t, func(w http.ResponseWriter, r *http.Request) {
		seen.Add(1)
		k := <-known
		if key := r.Header.Get("Idempotency-Key"); key != "" && !k[key] {
			k[key] = true
			keys.Add(1)
		}
		known <- k
		reply(w, "created", "x")
	})
	n, err := runLoad(t, First, addr)
	if err != nil || n == 0 || int64(n) != seen.Load() || keys.Load() != seen.Load() {
		t.Errorf("%d requests with %d keys were seen, %d told, %v", seen.Load(), keys.Load(), n, err)
	}
}

func TestRepeatsMustEqualTheFirstAnswer(t *testing.T) {
	var count atomic.Int64
	addr := server(t, func(w http.ResponseWriter, r *http.Request) {
		marker := "replayed"
		if count.Add(1)%2 == 1 {
			marker = "created"
		}
		reply(w, marker, fmt.Sprintf("answer %d", count.Load()))
	})
	if _, err := runLoad(t, Duplicate, addr); err == nil || !strings.Contains(err.Error(), "not that of the first answer") {
		t.Errorf("got %v", err)
	}
}

func TestUnexpectedAnswersAreFaults(t *testing.T) {
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"status": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("content-length", "4")
			w.WriteHeader(503)
			_, _ = w.Write([]byte("away"))
		}, `status 503, want 201: "away"`},
		"marker": {func(w http.ResponseWriter, _ *http.Request) { reply(w, "unprotected", "x") }, `idempotency-status "unprotected", want ""`},
		"closing": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["connection"] = []string{"close"}
			reply(w, "", "x")
		}, "the connection was closed"},
		"length": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(201)
			_ = http.NewResponseController(w.(*lowerWriter).ResponseWriter).Flush()
		}, errNoLength.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := runLoad(t, NotCovered, server(t, c.answer)); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q in it", err, c.want)
			}
		})
	}
}

func TestLoadEndsWithItsContext(t *testing.T) {
	addr := server(t, func(w http.ResponseWriter, _ *http.Request) { reply(w, "", "x") })
	l, err := newLoad(t.Context(), caseNamed(t, Bare), addr, "test", 2)
	if err != nil {
		t.Fatal(err)
	}
	defer l.close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, took, err := l.run(ctx, time.Hour); err == nil || took > time.Minute {
		t.Errorf("it ran for %s: %v", took, err)
	}
}
