package conformance

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/oncewall/oncewall/testenv/host"
)

// Stage is where a scenario plays. Its methods wait for what they need; one that
// waits in vain ends the scenario, which is then a fact of its own.
type Stage struct {
	sc      *Scenario
	w       world
	clients []*Client
	taken   map[string]int // exchanges of each cluster that the scenario has
	notes   []string
}

// world is what differs between the stages.
type world interface {
	// connect sends a request's headers.
	connect(id int, r host.Request) wire
	// exchanges are the attempts that have reached a cluster.
	exchanges(cluster string) []wire
	// trace is the probe's log since the scenario began.
	trace() []line
	// until waits for cond; false where it never came true.
	until(cond func() bool) bool
	// pass lets time pass.
	pass(d time.Duration)
	reconfigure(config string) error
	// drained ends the drain time of replaced configurations.
	drained()
	// metric is the value of a counter or gauge of the probe.
	metric(kind, name string) string
	// access gives the access log's line of a client, and whether it is there.
	access(id int) (string, bool)
	// settle waits until nothing more happens by itself.
	settle()
	finish()
}

// wire is one message each way as its end at the scenario's side sees it: a
// client's, or an upstream's.
type wire interface {
	got() message
	head(status int, h host.Headers, end bool)
	send(b []byte, end bool)
	trailers(h host.Headers)
	reset(host.ResetReason)
}

// message is what has arrived.
type message struct {
	headers  host.Headers // pseudo headers first
	body     []byte
	trailers host.Headers
	ended    bool
	broken   bool
}

// line is a line of the probe's trace.
type line struct {
	vm, text string
}

// stuck ends a scenario that waits in vain.
type stuck struct{ what string }

func (s *Stage) await(what string, cond func() bool) {
	if !s.w.until(cond) {
		panic(stuck{what})
	}
}

// Note adds a fact to the record.
func (s *Stage) Note(format string, args ...any) {
	s.notes = append(s.notes, fmt.Sprintf(format, args...))
}

// Saw waits for the n-th callback of a name: "rqh", "cb".
func (s *Stage) Saw(callback string, n int) {
	s.await(fmt.Sprintf("callback %s %d", callback, n), func() bool { return s.count(callback) >= n })
}

func (s *Stage) count(callback string) int {
	n := 0
	for _, l := range s.w.trace() {
		if f := strings.Fields(l.text); len(f) > 2 && f[0] == "T" && f[2] == callback {
			n++
		}
	}
	return n
}

// Pass lets time pass.
func (s *Stage) Pass(d time.Duration) { s.w.pass(d) }

// Quiet lets time pass and notes how much the probe has said by then: that
// nothing happens meanwhile.
func (s *Stage) Quiet(d time.Duration) {
	s.w.pass(d)
	n := 0
	for _, l := range s.w.trace() {
		if strings.HasPrefix(l.text, "T ") {
			n++
		}
	}
	s.Note("lines of the trace after %s: %d", d, n)
}

// Reconfigure replaces the plugin's configuration.
func (s *Stage) Reconfigure(config string) {
	err := s.w.reconfigure("trace;" + s.sc.script(config))
	s.Note("configuration accepted: %t", err == nil)
}

// Drained waits for the end of the drain time after Reconfigure.
func (s *Stage) Drained() { s.w.drained() }

// Metric notes the value of a counter or gauge.
func (s *Stage) Metric(kind, name string) {
	s.Note("%s %s = %s", kind, name, s.w.metric(kind, name))
}

// Request is what a client sends.
type Request struct {
	Method, Path string
	// Script is the header x-probe.
	Script  string
	Headers host.Headers
	// Body is sent with the headers, in one piece.
	Body string
	// Open leaves the request open.
	Open  bool
	HTTP2 bool
}

// Client is one request of the scenario.
type Client struct {
	s    *Stage
	wire wire
	head bool
}

// Open sends a request's headers, and what r has besides.
func (s *Stage) Open(r Request) *Client {
	h := host.H("x-client", strconv.Itoa(len(s.clients)))
	if r.Script != "" {
		h.Add("x-probe", s.sc.script(r.Script))
	}
	h = append(h, r.Headers...)
	method := r.Method
	if method == "" {
		method = "GET"
		if r.Body != "" || r.Open {
			method = "POST"
		}
	}
	body := r.Body != "" || r.Open
	if r.Body != "" && !r.Open && !h.Has("content-length") {
		h.Add("content-length", strconv.Itoa(len(r.Body)))
	} else if body && !r.HTTP2 && !h.Has("content-length") {
		h.Add("transfer-encoding", "chunked")
	}
	c := &Client{s: s, head: method == "HEAD"}
	c.wire = s.w.connect(len(s.clients), host.Request{Method: method, Path: r.Path, Headers: h, Open: body, HTTP2: r.HTTP2})
	s.clients = append(s.clients, c)
	if r.Body != "" {
		c.wire.send([]byte(r.Body), !r.Open)
	}
	return c
}

// Get sends a GET with a script.
func (s *Stage) Get(script string) *Client { return s.Open(Request{Script: script}) }

// Post sends a POST whose body is complete.
func (s *Stage) Post(script, body string) *Client {
	return s.Open(Request{Script: script, Body: body})
}

// Send sends a part of the body.
func (c *Client) Send(b string, end bool) { c.wire.send([]byte(b), end) }

// Trailers end the request.
func (c *Client) Trailers(h host.Headers) { c.wire.trailers(h) }

// Go is the client going away.
func (c *Client) Go() { c.wire.reset(host.RemoteReset) }

// Await waits until the response has ended, and the stream is gone.
func (c *Client) Await() {
	c.s.await("the end of a response", func() bool { m := c.wire.got(); return m.ended || m.broken })
}

// AwaitHeaders waits for the response's headers.
func (c *Client) AwaitHeaders() {
	c.s.await("response headers", func() bool { return c.wire.got().headers != nil })
}

// Upstream is one request at a cluster.
type Upstream struct {
	s    *Stage
	wire wire
}

// Head waits for the next request at a cluster, its headers.
func (s *Stage) Head(cluster string) *Upstream {
	n, name := s.taken[cluster], s.sc.cluster(cluster)
	s.await("a request at "+cluster, func() bool { return len(s.w.exchanges(name)) > n })
	s.taken[cluster]++
	return &Upstream{s, s.w.exchanges(name)[n]}
}

// Next waits for the next request at a cluster, all of it.
func (s *Stage) Next(cluster string) *Upstream {
	u := s.Head(cluster)
	u.AwaitEnd()
	return u
}

// Up is Next of the route's cluster, Bridge of the callouts'.
func (s *Stage) Up() *Upstream     { return s.Next("upstream") }
func (s *Stage) Bridge() *Upstream { return s.Next("bridge") }

// AwaitEnd waits for the end of the request.
func (u *Upstream) AwaitEnd() {
	u.s.await("the end of a request", func() bool { return u.wire.got().ended })
}

// AwaitAborted waits until Envoy has given the attempt up.
func (u *Upstream) AwaitAborted() {
	u.s.await("an upstream's request given up", func() bool { return u.wire.got().broken })
	u.s.Note("upstream request given up")
}

// Respond answers completely.
func (u *Upstream) Respond(status int, body string, h ...string) {
	all := host.H(h...)
	if status != 204 && status != 304 && !all.Has("content-length") {
		all.Add("content-length", strconv.Itoa(len(body)))
	}
	head := u.wire.got().headers.Get(":method") == "HEAD"
	u.wire.head(status, all, body == "" || head)
	if body != "" && !head {
		u.wire.send([]byte(body), true)
	}
}

// Begin sends the answer's headers; a body follows.
func (u *Upstream) Begin(status int, h ...string) { u.wire.head(status, host.H(h...), false) }

// Send sends a part of the answer's body.
func (u *Upstream) Send(b string, end bool) { u.wire.send([]byte(b), end) }

// Trailers end the answer.
func (u *Upstream) Trailers(h ...string) { u.wire.trailers(host.H(h...)) }

// Reset ends the exchange without (the rest of) an answer.
func (u *Upstream) Reset(r host.ResetReason) { u.wire.reset(r) }

// Gone waits until the probe has been told of the end of n streams.
func (s *Stage) Gone(n int) { s.Saw("delete", n) }
