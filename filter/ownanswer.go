package filter

import "github.com/oncewall/oncewall/filter/wire"

// ownAnswer is a replay on its way out. Envoy changes what it sends as a local
// reply, and so the filter looks at its own answer once more:
//
//   - Envoy adds the lines of the route, virtual host and route configuration
//     (response_headers_to_add) before ours, whatever their append_action. The
//     record has them already: the router adds them before the filter sees an
//     answer of upstream.
//   - It takes Content-Type and Content-Length from a reply without a body, and
//     adds a Content-Type to one that has a body and none.
type ownAnswer struct {
	lines  [][2]string
	length string // Content-Length of an answer without a body; "": none
	body   bool
}

// lines that a replay keeps of a record, under the rule that answers.
func (r *Rule) replays(name string) bool {
	return !notRecorded[name] && !ofEnvoy(name) && (!optIn(name) || r.keep[name])
}

// sent is how many lines Envoy has of an answer that it left as it is, :status
// included.
func (a *ownAnswer) sent() int {
	n := 1 + len(a.lines)
	if a.body {
		n++ // Content-Length
	}
	return n
}

// changed reports whether Envoy has changed the answer, of which n lines came.
func (a *ownAnswer) changed(n int) bool {
	return n != a.sent() || a.length != "" || a.typed() != a.body
}

// typed reports whether the answer has a Content-Type.
func (a *ownAnswer) typed() bool {
	for _, l := range a.lines {
		if l[0] == "content-type" {
			return true
		}
	}
	return false
}

// AnswerHeaders is the event of the headers of an answer made here, of which n
// lines came back, :status included. There is nothing to wait for.
func (s *Stream) AnswerHeaders(n int, r Response) {
	a := s.own
	if s.own = nil; a == nil || !a.changed(n) {
		return
	}
	ours := make(map[string]bool, len(a.lines)+2)
	for _, l := range a.lines {
		ours[l[0]] = true
	}
	out := append(make([][2]string, 0, n+2), a.lines...)
	if a.length != "" {
		out = append(out, [2]string{"content-length", a.length})
	}
	for _, l := range r.Lines() {
		if !ours[l.Name] && l.Name != "content-type" && (l.Name != "content-length" || a.body) {
			out = append(out, [2]string{l.Name, l.Value})
		}
	}
	s.w.emit(Effect{Kind: SetResponseHeaders, Stream: s, Reply: &LocalReply{Status: uint32(r.Status()), Headers: out}})
}

// keepsLength reports whether an answer's Content-Length is part of what it says:
// it speaks of a body that is not sent.
func (s *Stream) keepsLength() bool { return s.method == "HEAD" || s.response.status == 304 }

// describesBody reports whether a recorded line stands for a body that the answer
// does not have.
func describesBody(r *wire.Response, name string) bool {
	return name == "content-length" && len(r.Body) == 0
}
