package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"testing"
	"time"
)

const (
	bigBytes = 64 << 20
	// mostBytes is more than the tool and the kernel's sockets may hold of one
	// body.
	mostBytes = 24 << 20
)

func wait(t *testing.T, what string, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(limit):
		t.Fatalf("%s: not within %s", what, limit)
	}
}

// counted is a body of n bytes that counts what was read of it.
type counted struct {
	at, n int64
	read  atomic.Int64
}

func (c *counted) Read(b []byte) (int, error) {
	if c.at == c.n {
		return 0, io.EOF
	}
	at := c.at % int64(len(pattern)/2)
	n := copy(b[:min(int64(len(b)), c.n-c.at)], pattern[at:])
	c.at += int64(n)
	c.read.Add(int64(n))
	return n, nil
}

// pattern repeats itself after 251 bytes, a length that fits no buffer.
var pattern = func() []byte {
	b := make([]byte, 2*251*256)
	for i := range b {
		b[i] = byte(i % 251)
	}
	return b
}()

// sum is the hash of all of it.
func sum(r io.Reader) string {
	h := sha256.New()
	n, err := io.Copy(h, r)
	return fmt.Sprintf("%d bytes %x %v", n, h.Sum(nil), err)
}

// patient is a client without a time limit of its own.
func patient(t *testing.T, http2 bool) *http.Client {
	c := testClient(t, http2)
	c.Timeout = 0
	return c
}

// still waits until a counter has stopped, and returns it.
func still(t *testing.T, c *atomic.Int64) int64 {
	t.Helper()
	last, same := int64(-1), 0
	eventually(t, "the end of what is buffered", func() bool {
		if now := c.Load(); now != last {
			last, same = now, 0
		} else {
			same++
		}
		return last > 0 && same > 60
	})
	return last
}

// A body that nobody reads at the other end stays where it comes from; when it
// is read, it arrives whole.
func TestLargeBodies(t *testing.T) {
	want := sum(&counted{n: bigBytes})
	for _, c := range []struct {
		name   string
		http2  bool
		scheme string
	}{{"http1", false, "http"}, {"h2c", true, "h2c"}} {
		t.Run("request "+c.name, func(t *testing.T) {
			read, got := make(chan struct{}), make(chan string, 1)
			addr := backend(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				<-read
				got <- sum(r.Body)
			}))
			g := plain(t, c.scheme+"://"+addr, "--route-timeout", "0")
			body := &counted{n: bigBytes}
			r, err := http.NewRequest("POST", g.url+"/elsewhere", body)
			if err != nil {
				t.Fatal(err)
			}
			done := make(chan struct{})
			go func() {
				defer close(done)
				if resp, err := patient(t, c.http2).Do(r); err == nil {
					resp.Body.Close()
				}
			}()
			if n := still(t, &body.read); n > mostBytes {
				t.Errorf("%d bytes were taken from the client while the backend read nothing", n)
			}
			close(read)
			wait(t, "the answer", done)
			if s := <-got; s != want {
				t.Errorf("arrived: %s, want %s", s, want)
			}
		})
		t.Run("response "+c.name, func(t *testing.T) {
			body := &counted{n: bigBytes}
			addr := backend(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.Copy(w, body) }))
			g := plain(t, c.scheme+"://"+addr, "--route-timeout", "0")
			resp, err := patient(t, c.http2).Do(get(t, g.url+"/elsewhere"))
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			if n := still(t, &body.read); n > mostBytes {
				t.Errorf("%d bytes were taken from the backend while the client read nothing", n)
			}
			if s := sum(resp.Body); s != want {
				t.Errorf("arrived: %s, want %s", s, want)
			}
		})
	}
}

// A response goes out as it comes: each part before the next is made.
func TestStreaming(t *testing.T) {
	for _, http2 := range []bool{false, true} {
		next := make(chan struct{})
		addr := backend(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			rc := http.NewResponseController(w)
			for i := range 3 {
				fmt.Fprint(w, i)
				rc.Flush()
				select {
				case <-next:
				case <-r.Context().Done():
				}
			}
		}))
		g := plain(t, "http://"+addr)
		resp, err := testClient(t, http2).Do(get(t, g.url+"/events"))
		if err != nil {
			t.Fatal(err)
		}
		for i := range 3 {
			b := make([]byte, 1)
			if _, err := io.ReadFull(resp.Body, b); err != nil || string(b) != fmt.Sprint(i) {
				t.Fatalf("part %d: %q %v", i, b, err)
			}
			next <- struct{}{}
		}
		if rest, err := io.ReadAll(resp.Body); err != nil || len(rest) > 0 {
			t.Errorf("%q %v", rest, err)
		}
		resp.Body.Close()
	}
}

// A backend that breaks off in its answer breaks off the client's, too; what a
// client sees is never a whole shorter body.
func TestCutResponse(t *testing.T) {
	for _, http2 := range []bool{false, true} {
		addr := backend(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, "half")
			http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}))
		g := plain(t, "http://"+addr)
		resp, err := testClient(t, http2).Do(get(t, g.url+"/cut"))
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(resp.Body)
		if err == nil || string(b) != "half" {
			t.Errorf("http2 %t: %q, %v", http2, b, err)
		}
		resp.Body.Close()
	}
}

// The backend's time runs on the real clock.
func TestRouteTimeout(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	addr := backend(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-r.Context().Done():
		case <-ctx.Done():
		}
	}))
	g := plain(t, "http://"+addr, "--route-timeout", "200ms")
	began := time.Now()
	a := send(t, testClient(t, false), get(t, g.url+"/slow"))
	if a.status != 504 || time.Since(began) < 200*time.Millisecond {
		t.Errorf("%+v after %s", a, time.Since(began))
	}
}
