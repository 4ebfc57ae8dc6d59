package scenario

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/oncewall/oncewall/filter"
)

// codes are the words for Idempotency-Status.
var codes = func() map[string]bool {
	m := map[string]bool{"-": true}
	for _, c := range []filter.Code{filter.CodeCreated, filter.CodeReplayed, filter.CodeInFlight, filter.CodeKeyReused,
		filter.CodeKeyMissing, filter.CodeKeyInvalid, filter.CodePrincipalMissing, filter.CodeKeyNotIssued,
		filter.CodeKeyForeign, filter.CodeKeyExpired, filter.CodeKeyUsed, filter.CodeOutcomeUnknown,
		filter.CodeResponseNotKept, filter.CodeTooLarge, filter.CodeUnavailable, filter.CodeUnprotected,
		filter.CodeMisconfigured, filter.CodeReleased, filter.CodeScopeUnknown, filter.CodeIssued, filter.CodeOverQuota, filter.CodeTooManyWaiting,
		filter.CodeKeyUnknown} {
		m[string(c)] = true
	}
	return m
}()

// reserved are words that no client is called.
var reserved = []string{"upstream", "bridge", "backend", "stats", "wait", "story", "rules", "mode", "runs", "each", "envoy"}

type do = func(*stage) error

// step reads one line.
func (p *parser) step(text string) (do, error) {
	if rest, ok := strings.CutPrefix(text, "wait "); ok {
		d, err := duration(rest)
		return func(s *stage) error { s.w.advance(d); return nil }, err
	}
	subject, rest, colon := strings.Cut(text, ":")
	who := strings.Fields(subject)
	if len(who) == 0 {
		return nil, fmt.Errorf("a step begins with who does something")
	}
	// A colon belongs to the step only before any value.
	if strings.ContainsAny(subject, "=") {
		return nil, fmt.Errorf("no colon before the first value")
	}
	ws, err := words(rest)
	if err != nil {
		return nil, err
	}
	switch who[0] {
	case "upstream":
		return p.upstream(who[1:], ws, colon)
	case "bridge":
		return p.bridge(who[1:], ws, colon)
	case "backend":
		return p.backend(who[1:], ws, colon)
	case "stats":
		return stats(who[1:], ws, colon)
	}
	return p.client(who[0], who[1:], ws, colon)
}

func (p *parser) client(name string, verb []string, ws []word, colon bool) (do, error) {
	if slices.Contains(reserved, name) || strings.ToLower(name) != name {
		return nil, fmt.Errorf("%q is no name for a client", name)
	}
	if len(verb) == 0 && colon {
		return p.sends(name, ws)
	}
	if !p.clients[name] {
		return nil, fmt.Errorf("%q has not sent a request", name)
	}
	switch v := strings.Join(verb, " "); {
	case v == "sees" && colon:
		e, err := expect(ws, true)
		return func(s *stage) error { return s.sees(name, e) }, err
	case v == "is cut" && !colon:
		return func(s *stage) error { return s.isCut(name) }, nil
	case v == "waits" && !colon:
		return func(s *stage) error { return s.waits(name) }, nil
	case v == "leaves" && !colon:
		return func(s *stage) error { s.w.leave(name); return nil }, nil
	case (v == "sends" || v == "ends") && colon:
		r, err := request(name, "", "", ws, nil)
		return func(s *stage) error { s.w.more(name, r.Body, v == "ends"); return nil }, err
	case v == "ends" && !colon:
		return func(s *stage) error { s.w.more(name, nil, true); return nil }, nil
	}
	return nil, fmt.Errorf("a client sees, sends, ends, waits, leaves or is cut; not %q", strings.Join(verb, " "))
}

// sends reads a new request: "POST /path ...", or "as a ...".
func (p *parser) sends(name string, ws []word) (do, error) {
	if len(ws) < 2 || ws[0].valued || ws[1].valued {
		return nil, fmt.Errorf("a request is METHOD /path, or as another")
	}
	first, second := ws[0].name, ws[1].name
	if p.clients[name] {
		return nil, fmt.Errorf("%q has sent a request already: clients send one each", name)
	}
	p.clients[name] = true
	if first == "as" {
		if !p.clients[second] || second == name {
			return nil, fmt.Errorf("%q has not sent a request", second)
		}
		if _, err := request(name, "", "", ws[2:], &Request{}); err != nil {
			return nil, err
		}
		return func(s *stage) error {
			like := s.sent[second]
			r, err := request(name, "", "", ws[2:], &like)
			if err != nil {
				return err
			}
			return s.send(r)
		}, nil
	}
	if strings.ToUpper(first) != first || !strings.HasPrefix(second, "/") {
		return nil, fmt.Errorf("a request is METHOD /path; got %s %s", first, second)
	}
	r, err := request(name, first, second, ws[2:], nil)
	return func(s *stage) error { return s.send(r) }, err
}

func (p *parser) upstream(verb []string, ws []word, colon bool) (do, error) {
	if len(verb) == 2 {
		return p.upstreamTo(verb[0], verb[1], ws, colon)
	}
	if len(verb) != 0 || !colon || len(ws) == 0 {
		return nil, fmt.Errorf("upstream: says what it does from now on")
	}
	b := behaviour{kind: ws[0].name}
	var err error
	switch b.kind {
	case "holds", "resets", "refuses", "absent":
		if len(ws) > 1 {
			return nil, fmt.Errorf("%s takes no more words", b.kind)
		}
	case "half":
		b.answer, err = answer(ws[1:])
	default:
		b.kind = "answers"
		b.answer, err = answer(ws)
	}
	return func(s *stage) error { return s.behave(b) }, err
}

// upstreamTo reads what upstream does with one request that it holds.
func (p *parser) upstreamTo(verb, name string, ws []word, colon bool) (do, error) {
	if !p.clients[name] {
		return nil, fmt.Errorf("%q has not sent a request", name)
	}
	var a Answer
	var err error
	switch verb {
	case "answers", "begins":
		a, err = answer(ws)
	case "sends", "ends":
		var r Request
		r, err = request(name, "", "", ws, nil)
		a.Body = r.Body
	case "resets":
		if colon {
			err = fmt.Errorf("resets takes no words")
		}
	default:
		err = fmt.Errorf("upstream answers, begins, sends, ends or resets; not %q", verb)
	}
	return func(s *stage) error { return s.upstreamDoes(verb, name, a) }, err
}

func (p *parser) backend(verb []string, ws []word, colon bool) (do, error) {
	if len(verb) == 1 && verb[0] == "ran" && colon && len(ws) == 1 {
		n, err := strconv.Atoi(ws[0].name)
		return func(s *stage) error { return s.ran(n) }, err
	}
	if len(verb) == 2 && verb[0] == "saw" && colon && p.clients[verb[1]] {
		e, err := expect(ws, false)
		return func(s *stage) error { return s.saw(verb[1], e) }, err
	}
	return nil, fmt.Errorf("want backend ran: N, or backend saw CLIENT: with what it saw")
}

// bridge reads "bridge claim,release: garbage twice", "bridge has: 2" and
// "bridge lets go".
func (p *parser) bridge(verb []string, ws []word, colon bool) (do, error) {
	switch v := strings.Join(verb, " "); {
	case v == "lets go" && !colon:
		return func(s *stage) error { s.letGo(false); return nil }, nil
	case v == "lets go backwards" && !colon:
		return func(s *stage) error { s.letGo(true); return nil }, nil
	case v == "is quiet" && !colon:
		return func(s *stage) error { return s.bridgeIsQuiet() }, nil
	case v == "has" && colon && len(ws) == 1:
		n, err := strconv.Atoi(ws[0].name)
		return func(s *stage) error { return s.bridgeHas(n) }, err
	}
	if !colon || len(verb) > 1 {
		return nil, fmt.Errorf("bridge [operations]: fault, bridge has: N, bridge is quiet, bridge lets go [backwards]")
	}
	f := fault{times: -1}
	if len(verb) == 1 {
		for _, k := range strings.Split(verb[0], ",") {
			kind, ok := kinds[k]
			if !ok {
				return nil, fmt.Errorf("unknown operation %q", k)
			}
			f.on = append(f.on, kind)
		}
	}
	names, err := bare(ws)
	if err != nil || len(names) == 0 || !faults[names[0]].known {
		return nil, fmt.Errorf("unknown fault %v: %v", names, err)
	}
	f.kind = names[0]
	names = names[1:]
	if accesses[f.kind] != open && (f.on != nil || len(names) > 0) {
		return nil, fmt.Errorf("%s: meets all operations, until the bridge answers", f.kind)
	}
	if faults[f.kind].timed {
		if len(names) == 0 {
			return nil, fmt.Errorf("%s wants a time", f.kind)
		}
		if f.d, err = duration(names[0]); err != nil {
			return nil, err
		}
		names = names[1:]
	}
	if len(names) == 1 {
		n, ok := map[string]int{"once": 1, "twice": 2}[names[0]]
		if !ok {
			return nil, fmt.Errorf("unknown word %q: once or twice", names[0])
		}
		f.times, names = n, nil
	}
	if len(names) > 0 {
		return nil, fmt.Errorf("unknown words %v", names)
	}
	return func(s *stage) error { return s.spoil(f) }, nil
}

// stats reads "stats: callouts=2 replayed=1".
func stats(verb []string, ws []word, colon bool) (do, error) {
	if len(verb) > 0 || !colon || len(ws) == 0 {
		return nil, fmt.Errorf("want stats: and name=N for each counter")
	}
	want := make([]int, len(ws))
	for i, w := range ws {
		n, err := strconv.Atoi(w.value)
		if err != nil || !w.valued {
			return nil, fmt.Errorf("%s: %q is no number", w.name, w.value)
		}
		if !slices.Contains(filter.Metrics(), "idempotency."+w.name) {
			return nil, fmt.Errorf("no counter is called %q", w.name)
		}
		want[i] = n
	}
	return func(s *stage) error {
		for i, w := range ws {
			got := 0
			if !s.w.until(statLimit, func() bool { got = s.w.stat("idempotency." + w.name); return got >= want[i] }) || got != want[i] {
				return fmt.Errorf("%s is %d, not %d", w.name, got, want[i])
			}
		}
		return nil
	}, nil
}

// statLimit is how long a counter may take to show.
const statLimit = time.Second
