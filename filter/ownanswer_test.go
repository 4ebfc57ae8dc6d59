package filter

import (
	"fmt"
	"slices"
	"testing"

	"github.com/oncewall/oncewall/filter/rules"
	"github.com/oncewall/oncewall/filter/wire"
)

// replayed returns a stream that replays a record under a rule with keep_headers,
// and the answer that it asked for.
func replayed(t *testing.T, method string, keep []string, resp *wire.Response) (*Worker, *Stream, *LocalReply) {
	t.Helper()
	w := NewWorker(parseConfig(t, true), [16]byte{1})
	r := &Rule{Rule: &rules.Rule{Name: "r"}, keep: setOf(keep)}
	s := w.Open(1, r, method, "/")
	return w, s, s.replay(0, &entry{code: wire.Replayed, response: resp})
}

// sentBack plays Envoy: lines before and after ours come back, and the filter
// gives its last word.
func sentBack(w *Worker, s *Stream, r *LocalReply, before, after [][2]string, drop ...string) (lines []string, touched bool) {
	w.Effects()
	h := headers{status: int(r.Status)}
	for _, l := range slices.Concat(before, r.Headers, after) {
		if !slices.Contains(drop, l[0]) {
			h.lines = append(h.lines, wire.HeaderLine{Name: l[0], Value: l[1]})
		}
	}
	s.AnswerHeaders(1+len(h.lines), h)
	for _, e := range w.Effects() {
		if e.Kind == SetResponseHeaders {
			touched = true
			h.lines = nil
			for _, l := range e.Reply.Headers {
				h.lines = append(h.lines, wire.HeaderLine{Name: l[0], Value: l[1]})
			}
		}
	}
	for _, l := range h.lines {
		if !hasPrefixFold(l.Name, "idempo") {
			lines = append(lines, l.Name+": "+l.Value)
		}
	}
	return lines, touched
}

// TestOwnAnswer: what Envoy does to a local reply does not reach the client.
func TestOwnAnswer(t *testing.T) {
	typed := line("content-type", "text/plain")
	for _, c := range []struct {
		name          string
		method        string
		keep          []string
		resp          wire.Response
		before, after [][2]string
		drop          []string
		want          []string
		touched       bool
	}{
		{name: "as it was sent", method: "POST", resp: wire.Response{Status: 201, Headers: []wire.HeaderLine{typed}, Body: []byte("x")},
			after: [][2]string{{"content-length", "1"}}, want: []string{"content-type: text/plain", "content-length: 1"}},
		{name: "the route's lines are in the record", method: "POST",
			resp:   wire.Response{Status: 201, Headers: []wire.HeaderLine{typed, line("x-vh", "up"), line("x-vh", "route")}, Body: []byte("x")},
			before: [][2]string{{"x-vh", "route"}, {"x-new", "1"}}, after: [][2]string{{"content-length", "1"}},
			want: []string{"content-type: text/plain", "x-vh: up", "x-vh: route", "x-new: 1", "content-length: 1"}, touched: true},
		{name: "a type that Envoy made up", method: "POST", resp: wire.Response{Status: 201, Body: []byte("x")},
			after: [][2]string{{"content-length", "1"}, {"content-type", "text/plain"}}, want: []string{"content-length: 1"}, touched: true},
		{name: "a type without a body", method: "POST", resp: wire.Response{Status: 201, Headers: []wire.HeaderLine{typed}},
			drop: []string{"content-type"}, want: []string{"content-type: text/plain", "content-length: 0"}, touched: true},
		{name: "one line less and one more", method: "POST", resp: wire.Response{Status: 201, Headers: []wire.HeaderLine{typed}},
			drop: []string{"content-type"}, before: [][2]string{{"x-new", "1"}}, want: []string{"content-type: text/plain", "content-length: 0", "x-new: 1"}, touched: true},
		{name: "one line less and one more, without a length", method: "POST", resp: wire.Response{Status: 204, Headers: []wire.HeaderLine{typed}},
			drop: []string{"content-type"}, before: [][2]string{{"x-new", "1"}}, want: []string{"content-type: text/plain", "x-new: 1"}, touched: true},
		{name: "the length of what HEAD does not send", method: "HEAD", resp: wire.Response{Status: 200, Headers: []wire.HeaderLine{typed, line("content-length", "95")}},
			drop: []string{"content-type"}, want: []string{"content-type: text/plain", "content-length: 95"}, touched: true},
		{name: "nothing at all", method: "POST", resp: wire.Response{Status: 204}, want: nil},
		{name: "credentials that the rule keeps no longer", method: "POST", resp: wire.Response{Status: 204, Headers: []wire.HeaderLine{line("set-cookie", "a=b"), line("access-control-allow-origin", "*")}},
			want: nil},
		{name: "credentials that it keeps", method: "POST", keep: []string{"set-cookie"},
			resp: wire.Response{Status: 204, Headers: []wire.HeaderLine{line("set-cookie", "a=b"), line("set-cookie", "c=d"), line("access-control-allow-origin", "*")}},
			want: []string{"set-cookie: a=b", "set-cookie: c=d"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, s, r := replayed(t, c.method, c.keep, &c.resp)
			got, touched := sentBack(w, s, r, c.before, c.after, c.drop...)
			if !slices.Equal(got, c.want) || touched != c.touched {
				t.Errorf("got %q, touched %t\nwant %q, %t", got, touched, c.want, c.touched)
			}
		})
	}
}

// TestWhatIsRecorded: credentials are not, nor what belongs to one exchange or one
// hop.
func TestWhatIsRecorded(t *testing.T) {
	in := []wire.HeaderLine{line("set-cookie", "a=b"), line("etag", `"1"`), line("access-control-allow-origin", "*"), line("x-e", ""),
		line("date", "now"), line("content-length", "3"), line("x-8bit", "caf\xe9"), line("idempotency-status", "x"), line("location", "/1"),
		line("connection", "close, X-Hop"), line("x-hop", "1"), line("x-ho", "1"), line("connection", "\tx-hop-2 "), line("x-hop-2", "1"), line("x-envoy-overloaded", "true")}
	for _, c := range []struct {
		method string
		status uint16
		keep   []string
		want   string
	}{
		{"POST", 201, nil, "[etag x-e x-8bit location x-ho]"},
		{"POST", 201, []string{"set-cookie"}, "[set-cookie etag x-e x-8bit location x-ho]"},
		{"POST", 201, []string{"access-control-allow-origin"}, "[etag access-control-allow-origin x-e x-8bit location x-ho]"},
		{"HEAD", 200, nil, "[etag x-e content-length x-8bit location x-ho]"},
		{"GET", 304, nil, "[etag x-e content-length x-8bit location x-ho]"},
	} {
		s := &Stream{method: c.method, rule: &Rule{Rule: &rules.Rule{}, keep: setOf(c.keep)}}
		s.response.status = c.status
		var got []string
		for _, l := range s.recordedLines(in) {
			got = append(got, l.Name)
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%s %d, keep %q: recorded %v, want %s", c.method, c.status, c.keep, got, c.want)
		}
	}
}
