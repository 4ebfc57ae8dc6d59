package scenario

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/oncewall/oncewall/filter/wire"
)

// Lines are header lines: name in lower case, value.
type Lines [][2]string

// All returns every value of a header in its order.
func (l Lines) All(name string) (vs []string) {
	for _, h := range l {
		if h[0] == name {
			vs = append(vs, h[1])
		}
	}
	return vs
}

// wire is the lines as the core takes them.
func (l Lines) wire() (lines []wire.HeaderLine) {
	for _, h := range l {
		lines = append(lines, wire.HeaderLine{Name: h[0], Value: h[1]})
	}
	return lines
}

// Get returns a header's values, joined with a comma; "" where it has none.
func (l Lines) Get(name string) string { return strings.Join(l.All(name), ",") }

func (l Lines) without(name string) Lines {
	var kept Lines
	for _, h := range l {
		if h[0] != name {
			kept = append(kept, h)
		}
	}
	return kept
}

// set replaces a header; an empty value removes it.
func (l Lines) set(name, value string) Lines {
	l = l.without(name)
	if value != "" {
		l = append(l, [2]string{name, value})
	}
	return l
}

// Request is what a client sends. Everybody's requests carry x-client with the
// client's name.
type Request struct {
	Client, Method, Path string
	Headers              Lines
	Body                 []byte
	Open                 bool // more of the body will follow
	HTTP2                bool
}

// Response is what a client has of its answer.
type Response struct {
	Status   int // 0: nothing came
	Headers  Lines
	Body     []byte
	Complete bool
	Cut      bool // it will not come, or not to its end
}

// Answer is what upstream says.
type Answer struct {
	Status   int
	Headers  Lines
	Body     []byte
	Trailers Lines
	After    time.Duration
}

// request reads what follows "a:" of a new request.
func request(client, method, path string, ws []word, like *Request) (Request, error) {
	r := Request{Client: client, Method: method, Path: path,
		Headers: Lines{{"x-user-id", "ada"}}}
	if like != nil {
		r = *like
		r.Client, r.Open = client, false
		r.Headers = append(Lines(nil), r.Headers...)
	}
	r.Headers = r.Headers.set("x-client", client)
	given := map[string]bool{}
	for _, w := range ws {
		if w.absent {
			return r, fmt.Errorf("!%s is for what is expected", w.name)
		}
		var err error
		switch {
		case w.name == "open" && !w.valued:
			r.Open = true
		case w.name == "h2" && !w.valued:
			r.HTTP2 = true
		case !w.valued:
			return r, fmt.Errorf("unknown word %q", w.name)
		case w.name == "key":
			r.Headers = r.Headers.set("idempotency-key", w.value)
		case w.name == "user":
			r.Headers = r.Headers.set("x-user-id", w.value)
		case w.name == "path":
			r.Path = w.value
		case w.name == "body":
			r.Body = []byte(w.value)
		case w.name == "size":
			r.Body, err = sized(w.value)
		default:
			if err = w.header(); err == nil {
				if !given[w.name] {
					r.Headers = r.Headers.without(w.name)
				}
				given[w.name] = true
				r.Headers = append(r.Headers, [2]string{w.name, w.value})
			}
		}
		if err != nil {
			return r, err
		}
	}
	return r, nil
}

// answer reads "201 body=done name=value".
func answer(ws []word) (a Answer, err error) {
	if len(ws) == 0 || ws[0].valued || ws[0].absent {
		return a, fmt.Errorf("an answer begins with its status")
	}
	if a.Status, err = status(ws[0].name); err != nil {
		return a, err
	}
	for _, w := range ws[1:] {
		if w.absent || !w.valued {
			return a, fmt.Errorf("unknown word %q", w.name)
		}
		switch {
		case w.name == "body":
			a.Body = []byte(w.value)
		case w.name == "size":
			a.Body, err = sized(w.value)
		case w.name == "after":
			a.After, err = duration(w.value)
		case strings.HasPrefix(w.name, "trailer."):
			a.Trailers = append(a.Trailers, [2]string{strings.TrimPrefix(w.name, "trailer."), w.value})
		default:
			err = w.header()
			a.Headers = append(a.Headers, [2]string{w.name, w.value})
		}
		if err != nil {
			return a, err
		}
	}
	return a, nil
}

func status(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 200 || n > 599 {
		return 0, fmt.Errorf("%q is no status from 200 to 599", s)
	}
	return n, nil
}

// expectation is what a client should have been answered, or what upstream
// should have seen of a request.
type expectation struct {
	status  int
	code    string // Idempotency-Status; "-": none, "": not looked at
	body    []byte
	hasBody bool
	has     []string // what the body contains
	headers []word
	within  time.Duration
}

// expect reads what follows "sees:" and "saw"; head says that a status stands
// first.
func expect(ws []word, head bool) (e expectation, err error) {
	if head {
		if len(ws) == 0 || ws[0].valued {
			return e, fmt.Errorf("what is seen begins with a status")
		}
		if e.status, err = status(ws[0].name); err != nil {
			return e, err
		}
		ws = ws[1:]
		if len(ws) > 0 && !ws[0].valued && !ws[0].absent {
			e.code, ws = ws[0].name, ws[1:]
			if !codes[e.code] {
				return e, fmt.Errorf("unknown code %q", e.code)
			}
		}
	}
	for _, w := range ws {
		switch {
		case w.absent:
			err = w.header()
			e.headers = append(e.headers, w)
		case !w.valued:
			err = fmt.Errorf("unknown word %q", w.name)
		case w.name == "body":
			e.body, e.hasBody = []byte(w.value), true
		case w.name == "size":
			e.body, err = sized(w.value)
			e.hasBody = true
		case w.name == "has":
			e.has = append(e.has, w.value)
		case w.name == "within" && head:
			e.within, err = duration(w.value)
		default:
			err = w.header()
			e.headers = append(e.headers, w)
		}
		if err != nil {
			return e, err
		}
	}
	return e, nil
}

// check compares headers and body.
func (e *expectation) check(h Lines, body []byte) error {
	for _, w := range e.headers {
		got := h.All(w.name)
		switch {
		case w.absent && got != nil:
			return fmt.Errorf("%s is there: %q", w.name, got)
		case !w.absent && got == nil:
			return fmt.Errorf("%s is missing", w.name)
		case !w.absent && w.value != "*" && strings.Join(got, ",") != w.value:
			return fmt.Errorf("%s is %q, not %q", w.name, strings.Join(got, ","), w.value)
		}
	}
	if e.hasBody && !bytes.Equal(e.body, body) {
		return fmt.Errorf("the body is %s, not %s", show(body), show(e.body))
	}
	for _, text := range e.has {
		if !bytes.Contains(body, []byte(text)) {
			return fmt.Errorf("the body is %s, without %q", show(body), text)
		}
	}
	return nil
}

// show is a body for a reader.
func show(b []byte) string {
	if len(b) > 400 {
		return fmt.Sprintf("%q... (%d bytes)", b[:60], len(b))
	}
	return fmt.Sprintf("%q", b)
}
