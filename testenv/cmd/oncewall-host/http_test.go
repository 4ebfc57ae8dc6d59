package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// The forms of HTTP that are more than headers and a body.
func TestForms(t *testing.T) {
	addr := backend(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("X-Target", r.RequestURI)
		w.Header()["X-Agent"] = r.Header.Values("User-Agent")
		w.Header().Set("X-Length", fmt.Sprint(r.ContentLength))
		w.Header().Add("X-Twice", "a")
		w.Header().Add("X-Twice", "b")
		switch r.URL.Path {
		case "/204":
			w.WriteHeader(204)
		case "/304":
			w.Header().Set("ETag", `"v"`)
			w.WriteHeader(304)
		case "/103":
			w.WriteHeader(103)
			fmt.Fprint(w, "after")
		default:
			w.Header()["Content-Type"] = nil
			fmt.Fprint(w, "hello")
		}
	}))
	for _, http2 := range []bool{false, true} {
		g := plain(t, "http://"+addr)
		client := testClient(t, http2)
		for _, c := range []struct {
			method, path string
			status       int
			body, length string
		}{
			{"GET", "/a%2Fb?q=%20&x", 200, "hello", "5"},
			{"GET", "//double/slash?x", 200, "hello", "5"},
			{"HEAD", "/head", 200, "", "5"},
			{"POST", "/empty", 200, "hello", "5"},
			{"DELETE", "/204", 204, "", ""},
			{"GET", "/304", 304, "", ""},
			{"GET", "/103", 200, "after", "5"},
		} {
			r, err := http.NewRequest(c.method, g.url+c.path, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Header["User-Agent"] = nil
			informed := false
			r = r.WithContext(httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{
				Got1xxResponse: func(int, textproto.MIMEHeader) error { informed = true; return nil },
			}))
			a := send(t, client, r)
			if a.status != c.status || a.body != c.body || a.header.Get("Content-Length") != c.length {
				t.Errorf("http2 %t, %s %s: %+v", http2, c.method, c.path, a)
			}
			if got := a.header.Get("X-Target"); got != c.path {
				t.Errorf("http2 %t: the backend saw %q, want %q", http2, got, c.path)
			}
			if len(a.header.Values("X-Twice")) != 2 || a.header.Get("Server") != "envoy" || a.header.Get("X-Length") != "0" || len(a.header.Values("X-Agent")) > 0 {
				t.Errorf("http2 %t, %s: %v", http2, c.path, a.header)
			}
			if ct, ok := a.header["Content-Type"]; ok && c.path != "/103" {
				t.Errorf("%s: a content type was made up: %q", c.path, ct)
			}
			if informed {
				t.Errorf("%s: a 1xx was passed on", c.path)
			}
		}
	}
}

// Trailers pass on HTTP/2 in both directions, and are dropped on HTTP/1, as
// without enable_trailers.
func TestTrailers(t *testing.T) {
	seen := make(chan string, 1)
	addr := backend(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		seen <- r.Trailer.Get("X-Up")
		fmt.Fprint(w, "body")
		w.Header().Set(http.TrailerPrefix+"X-Down", "d")
	}))
	for _, c := range []struct {
		http2    bool
		scheme   string
		up, down string
	}{{true, "h2c", "u", "d"}, {false, "http", "", ""}, {true, "http", "", ""}, {false, "h2c", "", ""}} {
		g := plain(t, c.scheme+"://"+addr)
		r, err := http.NewRequest("POST", g.url+"/t", struct{ io.Reader }{strings.NewReader("request")})
		if err != nil {
			t.Fatal(err)
		}
		r.ContentLength = -1
		r.Trailer = http.Header{"X-Up": {"u"}}
		a := send(t, testClient(t, c.http2), r)
		if up := <-seen; up != c.up || a.trailer.Get("X-Down") != c.down || a.body != "body" {
			t.Errorf("%+v: up %q, %+v", c, up, a)
		}
	}
}

// The transport's habit of sending a request again must not double one.
func TestNothingIsSentTwice(t *testing.T) {
	for _, method := range []string{"GET", "POST", "PUT"} {
		var got atomic.Int64
		addr := backend(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if got.Add(1) == 1 {
				return
			}
			io.Copy(io.Discard, r.Body)
			conn, _, err := http.NewResponseController(w).Hijack()
			if err == nil {
				conn.Close()
			}
		}))
		g := plain(t, "http://"+addr)
		client := testClient(t, false)
		for i := range 2 {
			r, err := http.NewRequest(method, g.url+"/x", nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Header["idempotency-key"] = []string{"k"}
			if a := send(t, client, r); a.status != []int{200, 503}[i] {
				t.Errorf("%s %d: %+v", method, i, a)
			}
		}
		if n := got.Load(); n != 2 {
			t.Errorf("%s: the backend got %d requests, want 2", method, n)
		}
	}
}

// exchange sends bytes as they are and returns the beginning of the answer.
func exchange(t *testing.T, url, text string) (status string, r *bufio.Reader, conn net.Conn) {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(limit))
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	r = bufio.NewReader(conn)
	status, err = r.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(status), r, conn
}

// Upgrades are refused; an offer of h2c is none, and 100-continue is answered.
func TestUpgradeAndContinue(t *testing.T) {
	addr := backend(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s %q %q", b, r.Header["Expect"], r.Header["Upgrade"])
	}))
	g := plain(t, "http://"+addr)
	const head = "POST / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\n"
	status, r, _ := exchange(t, g.url, head+"Upgrade: websocket\r\nContent-Length: 0\r\n\r\n")
	if rest, _ := io.ReadAll(r); status != "HTTP/1.1 403 Forbidden" || !strings.Contains(string(rest), "upgrades and CONNECT are not supported") {
		t.Errorf("%s %s", status, rest)
	}
	if status, _, _ = exchange(t, g.url, "CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n"); status != "HTTP/1.1 403 Forbidden" {
		t.Error(status)
	}
	if status, _, _ = exchange(t, g.url, head+"Upgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\nContent-Length: 0\r\n\r\n"); status != "HTTP/1.1 200 OK" {
		t.Error(status)
	}
	status, r, conn := exchange(t, g.url, "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n")
	if status != "HTTP/1.1 100 Continue" {
		t.Fatal(status)
	}
	r.ReadString('\n')
	io.WriteString(conn, "body")
	resp, err := http.ReadResponse(r, nil)
	if err != nil {
		t.Fatal(err)
	}
	if b, _ := io.ReadAll(resp.Body); string(b) != `body [] []` {
		t.Errorf("%s", b)
	}
}

// A filter's answer before the request is whole ends the connection, and the
// client gets it.
func TestEarlyAnswer(t *testing.T) {
	g := plain(t, "http://127.0.0.1:1")
	status, r, _ := exchange(t, g.url, "POST /orders HTTP/1.1\r\nHost: a\r\nX-User-Id: ada\r\nContent-Length: 1000000\r\n\r\nonly this")
	rest, err := io.ReadAll(r)
	if status != "HTTP/1.1 400 Bad Request" || !strings.Contains(string(rest), "Connection: close") || !strings.Contains(string(rest), "key-missing") {
		t.Errorf("%s %s %v", status, rest, err)
	}
}

// Requests that net/http would like to answer, or that Envoy refuses, are the
// model's to judge: its answers name the server.
func TestUnusualRequests(t *testing.T) {
	hosts := make(chan string, 8)
	addr := backend(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { hosts <- r.Host }))
	g := plain(t, "http://"+addr)
	for _, c := range []struct{ text, want string }{
		{"GET /a#b HTTP/1.1\r\nHost: a\r\n\r\n", "HTTP/1.1 400 Bad Request"},
		{"GET / HTTP/1.0\r\n\r\n", "HTTP/1.0 426 Upgrade Required"},
		{"OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", "HTTP/1.1 200 OK"},
		{"GET / HTTP/1.1\r\nHost:\r\n\r\n", "HTTP/1.1 200 OK"},
	} {
		status, r, _ := exchange(t, g.url, c.text)
		h, err := textproto.NewReader(r).ReadMIMEHeader()
		if status != c.want || err != nil || h.Get("Server") != "envoy" {
			t.Errorf("%q: %q %v %v, want %q", c.text, status, h, err, c.want)
		}
	}
	// An empty authority is not made up: net/http writes the cluster's address.
	if got := <-hosts; got != addr {
		t.Errorf("the backend saw the host %q", got)
	}
}
