package main

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/oncewall/oncewall/filter"
	"github.com/oncewall/oncewall/filter/rules"
	"github.com/oncewall/oncewall/filter/wire"
)

// explained is what explain prints. Its JSON form is part of the program's
// interface: members are added, never renamed.
type explained struct {
	Method      string            `json:"method"`
	Path        string            `json:"path"`
	ReadAs      []string          `json:"read_as"`
	Verdict     string            `json:"verdict"`
	Rule        *explainedRule    `json:"rule,omitempty"`
	Near        []nearRule        `json:"near,omitempty"`
	Principal   *explainedOrigin  `json:"principal,omitempty"`
	Key         *explainedOrigin  `json:"key,omitempty"`
	Fingerprint []part            `json:"fingerprint,omitempty"`
	Refusal     *refusal          `json:"refusal,omitempty"`
	Policy      *explainedPolicy  `json:"policy,omitempty"`
	Outcomes    []outcome         `json:"outcomes,omitempty"`
	Removed     []string          `json:"headers_removed,omitempty"`
	Upstream    map[string]string `json:"headers_upstream,omitempty"`

	verdict string // for people
}

type explainedRule struct {
	Name  string `json:"name"`
	Scope string `json:"scope"`
	Match string `json:"match"`
	Mode  string `json:"mode"`
}

type nearRule struct {
	Name  string `json:"name"`
	Match string `json:"match"`
	Why   string `json:"why"`
}

// explainedOrigin is a value and where it came from.
type explainedOrigin struct {
	Source string `json:"source"`
	Value  string `json:"value"`
}

type part struct {
	Part string `json:"part"`
	// Algorithm stands for the configuration that shaped the digest: only digests
	// of one algorithm are compared.
	Algorithm string `json:"algorithm"`
	SHA256    string `json:"sha256"`
	Form      string `json:"form,omitempty"`
}

type refusal struct {
	Code     string          `json:"code"`
	Status   uint32          `json:"status"`
	Document json.RawMessage `json:"document"`
}

type explainedPolicy struct {
	Lease       string `json:"lease"`
	TTL         string `json:"ttl"`
	Tombstone   string `json:"tombstone_ttl"`
	Recovery    string `json:"recovery"`
	MaxAttempts int    `json:"max_attempts"`
	Unavailable string `json:"unavailable"`
	InFlight    string `json:"in_flight"`
	Upstream    string `json:"upstream_timeout"`
	Replicas    int    `json:"replicas"`
	Issued      bool   `json:"issued"`
	Generation  string `json:"generation"`
}

type outcome struct {
	Situation string `json:"situation"`
	Code      string `json:"code"`
	Status    uint32 `json:"status,omitempty"` // 0: the backend's, or the recorded one
	Forwarded bool   `json:"forwarded"`

	situation string // for people
}

// verdicts has for each verdict its word in JSON and its sentence.
var verdicts = map[filter.Verdict][2]string{
	filter.NotCovered:    {"not-covered", "not covered: the request passes untouched"},
	filter.PassesKeyless: {"passes", "passes without protection: the rule needs no key, and there is none"},
	filter.Refused:       {"refused", "refused, before the store is asked"},
	filter.Claims:        {"claims", "claims the key"},
	filter.AsksForKey:    {"asks-for-key", "asks for a key: the bridge issues one; nothing reaches the backend"},
	filter.AsksAboutKey:  {"asks-about-key", "asks about a key of this rule: the bridge says what is known; nothing reaches the backend"},
	filter.AsksForRules:  {"asks-for-rules", "asks what the rules want of clients: answered here; nothing reaches the backend"},
}

var misses = map[rules.Miss]string{
	rules.MissLonger:   "another rule has a longer path, or the same and stands before it",
	rules.MissMethod:   "does not name the method",
	rules.MissSpelling: "mode off excepts a path only where every reader reads it alike",
	rules.MissHost:     "is for another host",
	rules.MissReading:  "another reading of the path meets another rule",
	rules.MissHeader:   "asks for a header that is not there, or is another",
}

// situations has for each situation its word in JSON and its sentence.
var situations = map[filter.Situation][2]string{
	filter.SituationNew:       {"new", "the key is new"},
	filter.SituationInFlight:  {"in-flight", "another request with the key runs"},
	filter.SituationReused:    {"reused", "the key belongs to another request"},
	filter.SituationFinished:  {"finished", "the first request has its result"},
	filter.SituationNotKept:   {"not-kept", "executed, its response not kept"},
	filter.SituationUnknown:   {"unknown", "forwarded, its outcome not known"},
	filter.SituationExpired:   {"expired", "the key's life is over"},
	filter.SituationNotIssued: {"not-issued", "not a key of this gateway"},
	filter.SituationForeign:   {"foreign", "issued to another caller or scope"},
	filter.SituationAway:      {"away", "the store is away"},
}

func describe(cfg *rules.Config, p *probe, x *filter.Explanation) *explained {
	e := &explained{Method: p.method, Path: p.path, ReadAs: rules.NormalPaths(p.path)}
	e.Verdict, e.verdict = verdicts[x.Verdict][0], verdicts[x.Verdict][1]
	for _, n := range cfg.NearMisses(rules.Head{Method: p.method, Path: p.path, Host: p.target, Headers: p.view()}) {
		e.Near = append(e.Near, nearRule{n.Rule.Name, matchText(&n.Rule.Match), misses[n.Miss]})
	}
	if r := x.Reply; r != nil {
		e.Refusal = &refusal{Status: r.Status, Document: r.Body}
		var document struct{ Code string }
		if json.Unmarshal(r.Body, &document) == nil {
			e.Refusal.Code = document.Code
		}
	}
	r := x.Rule
	if r == nil {
		return e
	}
	e.Rule = &explainedRule{r.Name, r.Scope, matchText(&r.Match), "enforce"}
	switch {
	case r.Mode == rules.Off:
		e.Rule.Mode = "off"
		return e
	case r.Mode == rules.Observe:
		// What follows is what becomes of the keys that it enforces, and what it
		// counts of the others.
		e.Rule.Mode = "observe, " + strconv.Itoa(r.EnforcePercent) + "% enforced"
	}
	e.Policy = policyOf(r)
	if x.Principal.Kind != 0 {
		e.Principal = &explainedOrigin{principalSource(&r.Principal, x.Principal.Kind, x.Principal.Issuer), x.Principal.Value}
	}
	if x.KeySource >= 0 {
		e.Key = &explainedOrigin{keySourceText(r.Key.From[x.KeySource]), x.Key}
	}
	e.Fingerprint = partsOf(x, p.body)
	for _, o := range x.Outcomes {
		words := situations[o.Situation]
		e.Outcomes = append(e.Outcomes, outcome{words[0], string(o.Code), o.Status, o.Forwarded, words[1]})
	}
	e.Removed = x.Removed
	for _, h := range x.Upstream {
		if e.Upstream == nil {
			e.Upstream = map[string]string{}
		}
		if h[0] == filter.HeaderFence {
			h[1] = "(grows with every grant of the key)"
		}
		e.Upstream[h[0]] = h[1]
	}
	return e
}

func matchText(m *rules.Match) string {
	methods := "any method but GET, HEAD, OPTIONS, TRACE"
	if len(m.Methods) > 0 {
		methods = strings.Join(m.Methods, ", ")
	}
	for _, path := range [][2]string{{"exact", m.Exact}, {"prefix", m.Prefix}, {"template", m.Template}, {"regexp", m.Regexp}} {
		if path[1] != "" {
			methods += ", " + path[0] + " " + path[1]
		}
	}
	if len(m.Hosts) > 0 {
		methods += ", host " + strings.Join(m.Hosts, " or ")
	}
	for _, h := range m.Headers {
		methods += ", header " + h.Name
		for _, how := range [][2]string{{"", h.Exact}, {"prefix ", h.Prefix}, {"regexp ", h.Regexp}} {
			if how[1] != "" {
				methods += ": " + how[0] + how[1]
			}
		}
	}
	return methods
}

// principalSource names the source that a principal of that kind and issuer came
// from.
func principalSource(p *rules.Principal, kind rules.PrincipalKind, issuer string) string {
	for _, o := range append([]rules.Principal{*p}, p.Or...) {
		if o.Kind == kind && (kind != rules.PrincipalJWT || o.Issuer == issuer) && (kind != rules.PrincipalHeader || o.Header == issuer) {
			p = &o
			break
		}
	}
	switch p.Kind {
	case rules.PrincipalURISAN:
		return "peer_certificate uri_san"
	case rules.PrincipalDNSSAN:
		return "peer_certificate dns_san"
	case rules.PrincipalSubject:
		return "peer_certificate subject"
	case rules.PrincipalDigest:
		return "peer_certificate sha256"
	case rules.PrincipalHeader:
		return "header " + p.Header
	case rules.PrincipalJWT:
		return "jwt_claim " + p.Claim + " of " + p.Issuer
	case rules.PrincipalConst:
		return "const"
	}
	return "anonymous"
}

func keySourceText(s rules.KeySource) string {
	switch {
	case s.Header != "":
		return "header " + s.Header
	case s.Form != "":
		return "form " + s.Form
	case s.Query != "":
		return "query " + s.Query
	case s.Cookie != "":
		return "cookie " + s.Cookie
	case s.Segment > 0:
		return fmt.Sprintf("path segment %d", s.Segment)
	case s.Claim != "":
		return "jwt_claim " + s.Claim + " of " + s.Issuer
	case len(s.All) > 0:
		var parts []string
		for _, p := range s.All {
			parts = append(parts, keySourceText(p))
		}
		return strings.Join(parts, ", ")
	}
	return "json " + strings.Join(s.JSON, " ")
}

// partsOf takes a fingerprint apart.
func partsOf(x *filter.Explanation, body []byte) (parts []part) {
	for q := range wire.Parts(x.Fingerprint) {
		p := part{Part: q.ID.String(), Algorithm: fmt.Sprintf("%04x", uint16(q.Algorithm)), SHA256: hex.EncodeToString(q.Digest)}
		switch q.ID {
		case wire.PartHeaders:
			p.Form = strings.Join(x.Rule.Fingerprint.Headers, ", ")
		case wire.PartBody:
			p.Form = x.Compared.String()
			if len(body) == 0 {
				p.Form = "empty"
			}
		}
		parts = append(parts, p)
	}
	return parts
}

var (
	recoveries   = map[rules.RecoveryAction]string{rules.Hold: "hold", rules.Probe: "probe", rules.Reacquire: "reacquire"}
	unavailables = map[rules.Unavailable]string{rules.UnavailableReject: "reject", rules.UnavailableForward: "forward",
		rules.UnavailableLocal: "local"}
)

func policyOf(r *rules.Rule) *explainedPolicy {
	inFlight := "reject"
	if r.InFlight.Action == rules.Wait {
		inFlight = "wait " + short(r.InFlight.MaxWait)
	}
	return &explainedPolicy{
		Lease: short(r.Recovery.Lease), TTL: short(r.Completed.TTL), Tombstone: short(r.Completed.TombstoneTTL),
		Recovery: recoveries[r.Recovery.Action], MaxAttempts: r.Recovery.MaxAttempts,
		Unavailable: unavailables[r.Unavailable], InFlight: inFlight, Upstream: short(r.UpstreamTimeout),
		Replicas: r.Durability.Replicas, Issued: r.Key.Issued, Generation: r.Generation,
	}
}

// short writes a duration as a configuration does: 24h, not 24h0m0s.
func short(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// sized names a size with the largest binary unit that keeps it whole.
func sized(n int64) string {
	for _, u := range []struct {
		name  string
		bytes int64
	}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}} {
		if n != 0 && n%u.bytes == 0 {
			return fmt.Sprintf("%d%s", n/u.bytes, u.name)
		}
	}
	return fmt.Sprintf("%dB", n)
}
