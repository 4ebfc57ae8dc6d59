package shop

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// served is a shop on a real socket and a client of one protocol.
type served struct {
	*Shop
	t      testing.TB
	h2     bool
	addr   string
	client *http.Client
}

// protocols runs f over HTTP/1.1 and over h2c, each with a shop of its own.
func protocols(t *testing.T, f func(t *testing.T, s *served)) {
	for _, name := range []string{"http1", "h2c"} {
		t.Run(name, func(t *testing.T) { f(t, serve(t, name == "h2c", NoGuards)) })
	}
}

func serve(t testing.TB, h2 bool, g Guards) *served {
	t.Helper()
	s := newShop(t, g)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- s.Serve(l) }()
	p := new(http.Protocols)
	p.SetHTTP1(!h2)
	p.SetUnencryptedHTTP2(h2)
	tr := &http.Transport{Protocols: p, DisableCompression: true, MaxIdleConnsPerHost: 64}
	t.Cleanup(func() {
		tr.CloseIdleConnections()
		s.Close()
		if err := <-done; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	return &served{s, t, h2, l.Addr().String(), &http.Client{Transport: tr, Timeout: 30 * time.Second}}
}

// answer is a response whose body has been read, as far as it came.
type answer struct {
	*http.Response
	body    []byte
	bodyErr error
}

// try sends a request; headers alternate names and values, and a name may
// come twice.
func (s *served) try(method, path, body string, headers ...string) (*answer, error) {
	s.t.Helper()
	r, err := http.NewRequest(method, "http://"+s.addr+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	res, err := s.client.Do(r)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	a := &answer{Response: res}
	a.body, a.bodyErr = io.ReadAll(res.Body)
	return a, nil
}

func (s *served) do(method, path, body string, headers ...string) *answer {
	s.t.Helper()
	a, err := s.try(method, path, body, headers...)
	if err != nil {
		s.t.Fatal(err)
	}
	if a.bodyErr != nil {
		s.t.Fatal(a.bodyErr)
	}
	return a
}

func (a *answer) receipt(t testing.TB) (r receipt) {
	t.Helper()
	if err := json.Unmarshal(a.body, &r); err != nil {
		t.Fatalf("body %q: %v", a.body, err)
	}
	return r
}

func (s *served) executions(query string) (x Executions) {
	s.t.Helper()
	a := s.do("GET", "/executions?"+query, "")
	if err := json.Unmarshal(a.body, &x); err != nil {
		s.t.Fatalf("executions %q: %v", a.body, err)
	}
	if x.Count != len(x.Requests) {
		s.t.Fatalf("count is %d over %d requests", x.Count, len(x.Requests))
	}
	return x
}

// eventually polls until cond holds.
func eventually(t testing.TB, what string, cond func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !cond(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not within 10s", what)
		}
	}
}

func TestEveryExecutionHasItsOwnBody(t *testing.T) {
	protocols(t, func(t *testing.T, s *served) {
		seen := map[string]bool{}
		for _, c := range []struct{ method, path string }{
			{"POST", "/orders"}, {"POST", "/orders/7/items"}, {"PUT", "/orders/7"}, {"PATCH", "/orders/7"},
			{"POST", "/payments"}, {"POST", "/checkout"}, {"POST", "/refunds"}, {"POST", "/transfers"},
			{"POST", "/uploads"}, {"POST", "/callbacks/psp"}, {"POST", "/notes"},
			{"POST", "//orders/../x"}, {"POST", "/elsewhere"},
		} {
			for range 2 {
				a := s.do(c.method, c.path, `{"transfer_id":"k","type":"a","id":"b"}`, "Idempotency-Key", "same")
				if a.StatusCode != 201 || a.Header.Get("Content-Type") != "application/json" {
					t.Errorf("%s %s: %d, %s", c.method, c.path, a.StatusCode, a.Header.Get("Content-Type"))
				}
				if seen[string(a.body)] {
					t.Errorf("%s %s: body seen before: %s", c.method, c.path, a.body)
				}
				seen[string(a.body)] = true
				if id := a.receipt(t).Execution; id == "" || id != a.Header.Get("X-Shop-Execution") {
					t.Errorf("%s %s: execution %q, header %q", c.method, c.path, id, a.Header.Get("X-Shop-Execution"))
				}
			}
		}
		head := s.do("HEAD", "/orders", "")
		if head.StatusCode != 201 || len(head.body) != 0 || head.ContentLength <= 0 {
			t.Errorf("HEAD: %d, %d bytes, length %d", head.StatusCode, len(head.body), head.ContentLength)
		}
		if get := s.do("GET", "/orders/7", ""); get.StatusCode != 200 {
			t.Errorf("GET: %d", get.StatusCode)
		}
	})
}

func TestReceiptSaysWhatItSaw(t *testing.T) {
	protocols(t, func(t *testing.T, s *served) {
		r := s.do("POST", "/orders", "{}", "Idempotency-Fence", "1796062974556777", "Idempotency-Attempt", "2", "X-User-Id", "alice").receipt(t)
		if r.Route != "/orders" || r.Method != "POST" || r.Fence != 1796062974556777 || r.Attempt != "2" || r.Principal != "alice" {
			t.Errorf("receipt %+v", r)
		}
		if a := s.do("POST", "/orders", "{}", "Idempotency-Fence", "x"); a.StatusCode != 400 {
			t.Errorf("a fence of letters: %d", a.StatusCode)
		}
	})
}

func TestExecutionsListsWhatArrived(t *testing.T) {
	protocols(t, func(t *testing.T, s *served) {
		s.do("POST", "/orders?b=2&a=1", "hello", "Idempotency-Key", `"k \"1\\"`, "X-Shop-Tag", "t", "X-Two", "a", "X-Two", "b")
		s.do("POST", "/transfers", `{"transfer_id":"tr-9"}`, "X-Shop-Tag", "t")
		s.do("POST", "/callbacks/psp", `{"type":"paid","id":77}`)
		s.do("POST", "/notes", "", "X-Shop-Tag", "t", "X-Shop-Status", "503")

		x := s.executions(`key=k+%221%5C`)
		if x.Count != 1 || x.Forgotten != 0 {
			t.Fatalf("executions %+v", x)
		}
		e := x.Requests[0]
		const sum = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
		if e.Method != "POST" || e.Path != "/orders" || e.Query != "b=2&a=1" || e.BodySHA256 != sum || !e.BodyWhole {
			t.Errorf("execution %+v", e)
		}
		if got := e.Headers["x-two"]; len(got) != 2 || got[0] != "a" || got[1] != "b" {
			t.Errorf("x-two is %q", got)
		}
		if got := e.Headers["host"]; len(got) != 1 || got[0] != s.addr {
			t.Errorf("host is %q", got)
		}
		for query, want := range map[string]int{
			"key=tr-9": 1, "key=paid:77": 1, "tag=t": 3, "key=tr-9&tag=t": 1, "key=paid:77&tag=t": 0, "key=none": 0,
		} {
			if got := s.executions(query).Count; got != want {
				t.Errorf("%s: %d, want %d", query, got, want)
			}
		}
		if a := s.do("GET", "/executions", ""); a.StatusCode != 400 {
			t.Errorf("neither key nor tag: %d", a.StatusCode)
		}
		if a := s.do("GET", "/executions?key=none", ""); !bytes.Contains(a.body, []byte(`"requests":[]`)) {
			t.Errorf("no executions: %s", a.body)
		}
		if a := s.do("DELETE", "/executions", ""); a.StatusCode != 204 {
			t.Errorf("DELETE: %d", a.StatusCode)
		}
		if got := s.executions("tag=t").Count; got != 0 {
			t.Errorf("after DELETE: %d", got)
		}
	})
}

func TestCountsBeforeTheAnswer(t *testing.T) {
	protocols(t, func(t *testing.T, s *served) {
		ctx, leave := context.WithCancel(context.Background())
		r, _ := http.NewRequestWithContext(ctx, "POST", "http://"+s.addr+"/orders", strings.NewReader("{}"))
		r.Header.Set("X-Shop-Tag", "slow")
		r.Header.Set("X-Shop-Delay", "300ms")
		var wg sync.WaitGroup
		wg.Go(func() { s.client.Do(r) })
		eventually(t, "counted while it runs", func() bool {
			x := s.executions("tag=slow")
			return x.Count == 1 && x.Requests[0].Effect == "" && x.Requests[0].BodyWhole
		})
		leave()
		wg.Wait()
		eventually(t, "the effect, though the caller left", func() bool { return s.executions("tag=slow").Effects == 1 })
	})
}

func TestBrokenOffBodyIsCountedWithoutEffect(t *testing.T) {
	s := serve(t, false, AllGuards)
	c, err := net.Dial("tcp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(c, "POST /orders HTTP/1.1\r\nHost: shop\r\nIdempotency-Key: cut\r\nContent-Length: 10\r\n\r\nhello")
	eventually(t, "counted at its headers", func() bool { return s.executions("key=cut").Count == 1 })
	c.Close()
	eventually(t, "finished without effect", func() bool {
		e := s.executions("key=cut").Requests[0]
		return e.Effect == effectNone && !e.BodyWhole
	})
}

func TestShutdownLetsExecutionsEnd(t *testing.T) {
	protocols(t, func(t *testing.T, s *served) {
		got := make(chan *answer, 1)
		go func() {
			a, _ := s.try("POST", "/orders", "{}", "X-Shop-Tag", "last", "X-Shop-Delay", "200ms")
			got <- a
		}()
		eventually(t, "the request arrives", func() bool { return s.Find("", "last").Count == 1 })
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			t.Errorf("Shutdown: %v", err)
		}
		if a := <-got; a == nil || a.StatusCode != 201 || a.bodyErr != nil {
			t.Errorf("the execution under way got %+v", a)
		}
	})
}

func TestCloseEndsDelays(t *testing.T) {
	protocols(t, func(t *testing.T, s *served) {
		ended := make(chan error, 1)
		go func() {
			_, err := s.try("POST", "/orders", "{}", "X-Shop-Tag", "held", "X-Shop-Delay", "10m")
			ended <- err
		}()
		eventually(t, "the request arrives", func() bool { return s.Find("", "held").Count == 1 })
		s.Close()
		select {
		case err := <-ended:
			if err == nil {
				t.Error("a delayed execution was answered by Close")
			}
		case <-time.After(10 * time.Second):
			t.Error("the delay outlived Close")
		}
	})
}
