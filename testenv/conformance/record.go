package conformance

import (
	"fmt"
	"strings"
)

// Record is what a stage saw of a scenario: lines, each a fact, in sections.
type Record struct {
	Sections []Section
}

// Section is one aspect of a record: "trace", "client 0", "upstream 1", ...
type Section struct {
	Name  string
	Lines []string
}

func (r *Record) add(name string, lines ...string) {
	r.Sections = append(r.Sections, Section{name, lines})
}

// play plays a scenario on a world and writes the record.
func play(sc *Scenario, w world) *Record {
	s := &Stage{sc: sc, w: w, taken: map[string]int{}}
	end := "played to the end"
	func() {
		defer func() {
			if e := recover(); e != nil {
				why, ok := e.(stuck)
				if !ok {
					panic(e)
				}
				end = "stuck: waiting for " + why.what
			}
		}()
		sc.Play(s)
	}()
	w.settle()
	r := &Record{}
	r.add("story", append(s.notes, end)...)
	r.add("trace", normalTrace(sc, w.trace())...)
	for i, c := range s.clients {
		r.add(fmt.Sprintf("client %d", i), clientFacts(c)...)
		if m := c.wire.got(); !sc.Unlogged && (m.ended || m.broken) {
			line, ok := w.access(i)
			r.add(fmt.Sprintf("access log %d", i), fmt.Sprintf("%t %s", ok, strings.ReplaceAll(line, "  ", " - ")))
		}
	}
	for _, name := range sortedNames(sc.Setup.clusters()) {
		for i, x := range w.exchanges(sc.cluster(name)) {
			r.add(fmt.Sprintf("%s %d", name, i), upstreamFacts(sc, name, i, x.got())...)
		}
	}
	w.finish()
	return r
}

// clientFacts is what a client saw.
func clientFacts(c *Client) []string {
	m := c.wire.got()
	var facts []string
	if m.headers != nil {
		facts = append(facts, fields(m.headers, nil)...)
	}
	facts = append(facts, "body "+show(m.body))
	for _, l := range fields(m.trailers, nil) {
		facts = append(facts, "trailer "+l)
	}
	switch {
	case m.ended:
		facts = append(facts, "complete")
	case m.broken:
		facts = append(facts, "cut")
	default:
		facts = append(facts, "open")
	}
	return facts
}

// upstreamFacts is what a server was sent.
func upstreamFacts(sc *Scenario, cluster string, nth int, m message) []string {
	c := sc.Setup.clusters()[cluster]
	if left := "x-envoy-expected-rq-timeout-ms"; nth > 0 && m.headers.Has(left) {
		// What a retry has left depends on how long the tries before it took.
		m.headers = m.headers.Clone()
		for i := range m.headers {
			if m.headers[i][0] == left {
				m.headers[i][1] = "<left>"
			}
		}
	}
	facts := fields(m.headers, func(name string) bool {
		// The wire of HTTP/1 has no scheme, and its framing is not the filter's.
		return !c.HTTP2 && (name == ":scheme" || name == "transfer-encoding")
	})
	facts = append(facts, "body "+show(m.body))
	for _, l := range fields(m.trailers, nil) {
		facts = append(facts, "trailer "+l)
	}
	return append(facts, fmt.Sprintf("whole %t", m.ended))
}

// show gives a body: text, or its length and a sum where it is long.
func show(b []byte) string {
	if len(b) <= 200 {
		return fmt.Sprintf("%q", b)
	}
	var sum uint32
	for _, c := range b {
		sum = sum*31 + uint32(c)
	}
	return fmt.Sprintf("%d bytes, sum %08x", len(b), sum)
}

// Text gives the record for reading.
func (r *Record) Text() string {
	var b strings.Builder
	for _, s := range r.Sections {
		fmt.Fprintf(&b, "[%s]\n", s.Name)
		for _, l := range s.Lines {
			fmt.Fprintf(&b, "  %s\n", l)
		}
	}
	return b.String()
}
