package main

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/oncewall/oncewall/testenv/shop"
)

// runs is how often the shop ran for a key.
func runs(t *testing.T, shopAddr, key string) int {
	t.Helper()
	var x shop.Executions
	a := send(t, testClient(t, false), get(t, "http://"+shopAddr+"/executions?key="+key))
	if err := json.Unmarshal([]byte(a.body), &x); err != nil {
		t.Fatal(err)
	}
	return x.Count
}

// The filter of this project does its work over both protocols: a first
// request, its retry, the same key for something else.
func TestFirstRetryAndReuse(t *testing.T) {
	for _, c := range []struct {
		name   string
		http2  bool
		scheme string
	}{{"http1", false, "http"}, {"h2c", true, "http"}, {"h2c both ways", true, "h2c"}} {
		t.Run(c.name, func(t *testing.T) {
			_, addr := theShop(t)
			g := oncewall(t, c.scheme+"://"+addr)
			client := testClient(t, c.http2)
			first := send(t, client, order(t, g.url, "k1", `{"item":"lamp"}`))
			again := send(t, client, order(t, g.url, "k1", `{"item":"lamp"}`))
			other := send(t, client, order(t, g.url, "k1", `{"item":"desk"}`))
			if first.status != 201 || first.header.Get("Idempotency-Status") != "created" {
				t.Errorf("first: %+v", first)
			}
			if again.status != 201 || again.header.Get("Idempotent-Replayed") != "true" || again.body != first.body {
				t.Errorf("retry: %+v, first %q", again, first.body)
			}
			if other.status != 422 || other.header.Get("Idempotency-Status") != "key-reused" {
				t.Errorf("other body: %+v", other)
			}
			if n := runs(t, addr, "k1"); n != 1 {
				t.Errorf("the shop ran %d times", n)
			}
			if want := map[bool]string{false: "HTTP/1.1", true: "HTTP/2.0"}[c.http2]; first.proto != want {
				t.Errorf("%s, want %s", first.proto, want)
			}
		})
	}
}

// Fifty equal requests at one instant, over two workers: one runs.
func TestConcurrentDuplicates(t *testing.T) {
	_, addr := theShop(t)
	g := oncewall(t, "http://"+addr, "--workers", "2")
	const n = 50
	var done sync.WaitGroup
	answers := make([]answer, n)
	client := testClient(t, false)
	gun := make(chan struct{})
	for i := range n {
		r := order(t, g.url, "dup", `{"item":"lamp"}`)
		r.Header.Set("X-Shop-Delay", "100ms")
		done.Go(func() {
			<-gun
			resp, err := client.Do(r)
			if err != nil {
				return // its status stays 0
			}
			defer resp.Body.Close()
			b, _ := io.ReadAll(resp.Body)
			answers[i] = answer{status: resp.StatusCode, header: resp.Header, body: string(b)}
		})
	}
	close(gun)
	done.Wait()
	count := map[string]int{}
	for _, a := range answers {
		count[a.header.Get("Idempotency-Status")]++
	}
	if count["created"] != 1 || count["in-flight"]+count["replayed"] != n-1 {
		t.Errorf("%v", count)
	}
	if ran := runs(t, addr, "dup"); ran != 1 {
		t.Errorf("the shop ran %d times", ran)
	}
}

// A backend that is down has run nothing: 503, and the key is free.
func TestUpstreamDown(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	g := oncewall(t, "http://"+addr)
	client := testClient(t, false)
	down := send(t, client, order(t, g.url, "k", `{}`))
	if down.status != 503 || down.header.Get("Idempotency-Status") != "released" {
		t.Fatalf("%+v", down)
	}
	if !strings.Contains(g.stderr.String(), "connection refused") {
		t.Errorf("stderr does not say why: %s", g.stderr)
	}
	if l, err = net.Listen("tcp", addr); err != nil {
		t.Fatal(err)
	}
	back := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(201) })}
	go back.Serve(l)
	t.Cleanup(func() { back.Close() })
	if up := send(t, client, order(t, g.url, "k", `{}`)); up.status != 201 || up.header.Get("Idempotency-Status") != "created" {
		t.Fatalf("%+v", up)
	}
}

// The trace names what the filter was asked and what it asked; a stream's own
// trace holds the callout's answer, which the root context gets.
func TestTraceAndMetrics(t *testing.T) {
	_, addr := theShop(t)
	file := filepath.Join(t.TempDir(), "trace")
	g := oncewall(t, "http://"+addr, "--trace="+file)
	client := testClient(t, false)
	if a := send(t, client, order(t, g.url, "k", `{}`)); a.status != 201 {
		t.Fatalf("%+v", a)
	}
	wants := []string{
		`> proxy_on_context_create\(ctx=\d+, root=[1-9]`,
		`> proxy_on_request_headers\(ctx=\d+, n=\d+, end=0\)`,
		`  = pause`,
		`> proxy_on_request_body\(ctx=\d+, n=2, end=0\)`,
		`  < proxy_http_call\("oncewall_bridge", POST .*\) = ok \d+`,
		`> proxy_on_http_call_response\(ctx=\d+, token=\d+`,
		`  < proxy_set_effective_context\(\d+\) = ok`,
		`> proxy_on_response_headers`,
		`> proxy_on_log`,
	}
	var text string
	eventually(t, "the trace of the stream", func() bool {
		text = send(t, client, get(t, g.admin+"/trace?n=1")).body
		return strings.Contains(text, "proxy_on_delete")
	})
	matchInOrder(t, "/trace", text, wants)
	if strings.Contains(text, "proxy_on_configure") {
		t.Errorf("the stream's trace holds another context's callback:\n%s", text)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	matchInOrder(t, "file", string(b), append([]string{`main +> proxy_on_configure`}, wants...))

	m := send(t, client, get(t, g.admin+"/metrics"))
	if !strings.Contains(m.body, "# TYPE idempotency_created counter\nidempotency_created 1\n") {
		t.Errorf("metrics:\n%s", m.body)
	}
	if a := send(t, client, get(t, g.admin+"/trace?n=x")); a.status != 400 {
		t.Errorf("n=x: %d", a.status)
	}
}

func matchInOrder(t *testing.T, what, text string, patterns []string) {
	t.Helper()
	rest := text
	for _, p := range patterns {
		at := regexp.MustCompile(p).FindStringIndex(rest)
		if at == nil {
			t.Errorf("%s: %s is missing, or not in this order:\n%s", what, p, text)
			return
		}
		rest = rest[at[1]:]
	}
}

// A client that goes away in the middle resets the backend's request.
func TestClientGone(t *testing.T) {
	for _, http2 := range []bool{false, true} {
		arrived, gone := make(chan struct{}), make(chan struct{})
		addr := backend(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body)
			close(arrived)
			<-r.Context().Done()
			close(gone)
		}))
		g := oncewall(t, "http://"+addr)
		ctx, cancel := context.WithCancel(t.Context())
		failed := make(chan error, 1)
		r := order(t, g.url, "gone", `{}`).WithContext(ctx)
		go func() {
			resp, err := testClient(t, http2).Do(r)
			if err == nil {
				resp.Body.Close()
			}
			failed <- err
		}()
		wait(t, "the request's arrival", arrived)
		cancel()
		began := time.Now()
		wait(t, "the reset at the backend", gone)
		if took := time.Since(began); took > 4*time.Second { // the rule's upstream_timeout is 5s
			t.Errorf("the backend was reset after %s: that was a timeout", took)
		}
		if err := <-failed; err == nil {
			t.Error("the client got an answer")
		}
		// The filter has heard of the end, and the tool serves on.
		again := send(t, testClient(t, http2), order(t, g.url, "gone", `{}`))
		if again.status != 409 {
			t.Errorf("http2 %t, a retry of what may have run: %+v", http2, again)
		}
	}
}
