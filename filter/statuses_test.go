package filter

import (
	"strings"
	"testing"

	"github.com/oncewall/oncewall/filter/rules"
)

// The configuration's list of refusals is the filter's.
func TestRefusalCodes(t *testing.T) {
	byCode := map[string]*problem{}
	for _, p := range []*problem{problemInFlight, problemTooManyWaiting, problemKeyReused, problemKeyMissing, problemKeyInvalid,
		problemPrincipalMissing, problemKeyNotIssued, problemKeyForeign, problemKeyExpired, problemKeyUsed, problemOutcomeUnknown,
		problemNotKept, problemTooLarge, problemUnavailable, problemOverQuota, problemMisconfigured} {
		byCode[string(p.code)] = p
	}
	for _, c := range rules.RefusalCodes {
		if p := byCode[c.Code]; p == nil || int(p.status) != c.Status {
			t.Errorf("%s: %+v, want status %d", c.Code, p, c.Status)
		}
		delete(byCode, c.Code)
	}
	for code := range byCode {
		t.Errorf("%s has no entry", code)
	}
}

func TestRuleStatuses(t *testing.T) {
	cfg, err := rules.Parse([]byte(`{"namespace": "edge", "bridge": {"cluster": "b"}, "envoy": {"allow_on_headers_stop_iteration": true},
 "defaults": {"statuses": {"in-flight": 425}},
 "rules": [{"name": "r", "match": {"path": {"prefix": "/r"}}, "principal": "anonymous", "upstream_timeout": "1s",
  "recovery": {"action": "hold"}, "unavailable": "reject"},
 {"name": "own", "match": {"path": {"prefix": "/own"}}, "principal": "anonymous", "upstream_timeout": "1s",
  "recovery": {"action": "hold"}, "unavailable": "reject", "statuses": {"key-missing": 428}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	g := rigWith(t, cfg)
	g.open("POST", "/r", "k", true)
	g.answerAll()
	s := g.open("POST", "/r", "k", true)
	g.answerAll()
	if r := s.replies[0]; r.Status != 425 || !strings.Contains(string(r.Body), `"status":425`) || r.Details != "oncewall_in-flight" {
		t.Errorf("%d %s %s", r.Status, r.Details, r.Body)
	}
	// A block that a rule states replaces the default block.
	if r := g.open("POST", "/own", "", true).replies[0]; r.Status != 428 {
		t.Errorf("key missing: %d", r.Status)
	}
	if problemInFlight.status != 409 || problemKeyMissing.status != 400 {
		t.Error("the default was changed")
	}
}

// What nobody could replay is recorded as executed, without a result.
func TestBodyWhereNoneBelongs(t *testing.T) {
	for _, path := range []string{"/orders", "/after"} {
		for status, want := range map[int]string{205: "E", 304: "E", 204: "E", 200: "C"} {
			g := newRig(t, true)
			s := g.open("POST", path, "k", false)
			g.body(s, `{}`, true)
			g.answerAll()
			g.respond(s, upstream(status), false)
			g.respondBody(s, "body", true)
			g.answerAll()
			g.finish(s, Trail{Attempts: 1})
			g.answerAll()
			for _, r := range g.records {
				if r.state != want || int(r.status) != status || (len(r.result) > 0) != (want == "C") {
					t.Errorf("%s, %d: state %s, status %d, %d bytes", path, status, r.state, r.status, len(r.result))
				}
			}
			if len(g.records) != 1 || g.w.captured != 0 {
				t.Errorf("%s, %d: %d records, %d bytes held", path, status, len(g.records), g.w.captured)
			}
		}
	}
}
