package filter

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/oncewall/oncewall/filter/rules"
	"github.com/oncewall/oncewall/filter/wire"
)

const discoveryConfig = `{
 "namespace": "edge-secret",
 "bridge": {"cluster": "bridge"},
 "envoy": {"allow_on_headers_stop_iteration": true},
 "issue": {}, "discovery": {},
 "defaults": {"principal": {"jwt_claim": "sub", "issuer": "https://id.secret"}, "upstream_timeout": "5s",
  "recovery": {"action": "hold"}, "unavailable": "reject"},
 "rules": [
  {"name": "rule-secret", "scope": "payments", "match": {"methods": ["POST"], "hosts": ["pay.example"], "path": {"template": "/payments/{id}"},
    "headers": [{"name": "x-beta", "exact": "value-secret"}]},
   "key": {"from": [{"header": "idempotency-key"}, {"all": [{"path": "id"}, {"json": "/seq"}]}], "min_length": 8, "max_length": 64, "alphabet": "a-z0-9"},
   "fingerprint": {"ignore": ["/client_time"]}, "in_flight": {"action": "wait", "max_wait": "5s"},
   "completed": {"ttl": "2h", "tombstone_ttl": "24h"}, "record": {"redact": ["/card"], "keep_headers": ["set-cookie"], "drop_headers": ["x-debug"]}, "outcomes": {"result": [503], "release": [409]}},
  {"name": "b", "scope": "orders", "match": {"path": {"prefix": "/orders"}}, "mode": "observe", "enforce_percent": 5,
   "key": {"required": false, "format": "uuid", "uuid_versions": [4, 7]}, "fingerprint": {"body": "none"}, "record": {"body": "none", "drop_headers": ["x-debug"]}, "lookup": false},
  {"name": "c", "match": {"path": {"prefix": "/seen"}}, "mode": "observe", "key": {"issued": true}},
  {"name": "d", "match": {"path": {"exact": "/payments/ping"}}, "mode": "off"}
 ]}`

func discoveryRig(t *testing.T) *rig {
	cfg, err := rules.Parse([]byte(discoveryConfig))
	if err != nil {
		t.Fatal(err)
	}
	return rigWith(t, cfg)
}

const discoveryWant = `{
 "problems": "https://github.com/oncewall/oncewall/blob/main/docs/problems/",
 "issue": {"method": "POST", "path": "/idempotency-keys"},
 "lookup": {"method": "GET", "path": "/idempotency-keys"},
 "operations": [
  {"scope": "payments", "enforcement": "full", "lookup": true,
   "match": {"methods": ["POST"], "hosts": ["pay.example"], "path": {"template": "/payments/{id}"}, "headers": ["x-beta"]},
   "key": {"required": true, "issued": false, "sources": [{"header": "idempotency-key"}, {"all": [{"path_segment": 2}, {"json": "/seq"}]}],
    "min_length": 8, "max_length": 64, "alphabet": "a-z0-9", "format": "any"},
   "fingerprint": {"body": "json", "max_body": 1048576, "over": "reject", "ignore": ["/client_time"]},
   "in_flight": {"action": "wait", "max_wait_ms": 5000},
   "completed": {"action": "replay", "ttl_s": 7200, "tombstone_ttl_s": 86400},
   "record": {"body": true, "max_body": 262144, "redact": ["/card"], "keep_headers": ["set-cookie"], "drop_headers": ["x-debug"],
    "released": [401, 403, 407, 408, 409, 421, 425, 429], "unknown": [502, 504]}},
  {"scope": "orders", "enforcement": "partial",
   "match": {"methods_except": ["GET", "HEAD", "OPTIONS", "TRACE"], "path": {"prefix": "/orders"}},
   "key": {"required": false, "issued": false, "sources": [{"header": "idempotency-key"}],
    "min_length": 1, "max_length": 255, "format": "uuid", "uuid_versions": [4, 7]},
   "fingerprint": {"body": "none"}, "in_flight": {"action": "reject"},
   "completed": {"action": "replay", "ttl_s": 86400}, "record": {"body": false, "released": [401, 403, 407, 408, 421, 425, 429], "unknown": [502, 503, 504]}},
  {"scope": "c", "enforcement": "observed", "lookup": true,
   "match": {"methods_except": ["GET", "HEAD", "OPTIONS", "TRACE"], "path": {"prefix": "/seen"}},
   "key": {"required": true, "issued": true, "sources": [{"header": "idempotency-key"}], "min_length": 1, "max_length": 255, "format": "any"},
   "fingerprint": {"body": "json", "max_body": 1048576, "over": "reject"}, "in_flight": {"action": "reject"},
   "completed": {"action": "replay", "ttl_s": 86400}, "record": {"body": true, "max_body": 262144, "released": [401, 403, 407, 408, 421, 425, 429], "unknown": [502, 503, 504]}},
  {"enforcement": "off", "match": {"methods_except": ["GET", "HEAD", "OPTIONS", "TRACE"], "path": {"exact": "/payments/ping"}}}
 ]}`

// ask asks for the document.
func (g *rig) ask(t *testing.T, method, path, tag string) *LocalReply {
	t.Helper()
	core := g.w.Open(uint32(len(g.streams)+1), nil, method, path)
	s := &seen{core: core, request: map[string]string{}, response: map[string]string{}, removed: map[string]bool{}}
	g.streams[core] = s
	h := headers{}
	if tag != "" {
		h.lines = append(h.lines, wire.HeaderLine{Name: "if-none-match", Value: tag})
	}
	core.RequestHeaders(g.now, h, true)
	g.perform()
	if len(s.replies) != 1 || len(g.flights) != 0 {
		t.Fatalf("%d replies, %d callouts", len(s.replies), len(g.flights))
	}
	return s.replies[0]
}

func TestDiscovery(t *testing.T) {
	g := discoveryRig(t)
	const path = "/.well-known/idempotency"
	if !g.w.MatchIssue("GET", path) || !g.w.MatchIssue("HEAD", path) || g.w.MatchIssue("POST", path) {
		t.Error("GET and HEAD, and nothing else, are answered here")
	}
	r := g.ask(t, "GET", path, "")
	var got, want any
	if err := json.Unmarshal([]byte(discoveryWant), &want); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(r.Body, &got); err != nil {
		t.Fatal(err)
	}
	a, _ := json.MarshalIndent(got, "", " ")
	b, _ := json.MarshalIndent(want, "", " ")
	if string(a) != string(b) {
		t.Errorf("got %s\nwant %s", a, b)
	}
	if strings.Contains(string(r.Body), "secret") {
		t.Error("a name that concerns no client is told")
	}
	h := map[string]string{}
	for _, l := range r.Headers {
		h[l[0]] = l[1]
	}
	if r.Status != 200 || h["content-type"] != discoveryType || h["cache-control"] != "public, max-age=300" || h["etag"] == "" {
		t.Errorf("%d %v", r.Status, h)
	}
	for tag, status := range map[string]uint32{h["etag"]: 304, "W/" + h["etag"]: 304, `"x", ` + h["etag"]: 304, "*": 304, `"x"`: 200} {
		if r := g.ask(t, "GET", path, tag); r.Status != status || status == 304 && len(r.Body) > 0 {
			t.Errorf("If-None-Match %s: %d", tag, r.Status)
		}
	}
}

func TestNoDiscoveryUnlessStated(t *testing.T) {
	if g := newRig(t, true); g.w.MatchIssue("GET", "/.well-known/idempotency") || g.w.discovery.body != nil {
		t.Error("the rules are told without having been asked for")
	}
}
