package filter

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math/bits"
	"strings"

	"github.com/oncewall/oncewall/filter/rules"
)

// discoveryType is the media type of the document that docs/discovery.md
// describes. A change that a reader could stumble over gets another.
const discoveryType = "application/vnd.oncewall.discovery.v1+json"

// discoveryAge is how long a client may keep the document, in seconds.
const discoveryAge = "300"

// discovered is the document: what the rules ask of clients, and nothing of how
// callers are named, where they are recorded or what the rules are called.
type discovered struct {
	Problems   string                `json:"problems"`
	Issue      *discoveredEndpoint   `json:"issue,omitempty"`
	Lookup     *discoveredEndpoint   `json:"lookup,omitempty"`
	Operations []discoveredOperation `json:"operations"`
}

type discoveredEndpoint struct {
	Method string `json:"method"`
	Path   string `json:"path"`
}

type discoveredOperation struct {
	Scope       string                 `json:"scope,omitempty"`
	Match       discoveredMatch        `json:"match"`
	Enforcement string                 `json:"enforcement"`
	Lookup      bool                   `json:"lookup,omitempty"`
	Key         *discoveredKey         `json:"key,omitempty"`
	Fingerprint *discoveredFingerprint `json:"fingerprint,omitempty"`
	InFlight    *discoveredInFlight    `json:"in_flight,omitempty"`
	Completed   *discoveredCompleted   `json:"completed,omitempty"`
	Record      *discoveredRecord      `json:"record,omitempty"`
}

type discoveredMatch struct {
	Methods       []string          `json:"methods,omitempty"`
	MethodsExcept []string          `json:"methods_except,omitempty"`
	Hosts         []string          `json:"hosts,omitempty"`
	Path          map[string]string `json:"path,omitempty"`
	Headers       []string          `json:"headers,omitempty"`
}

type discoveredKey struct {
	Required       bool               `json:"required"`
	Issued         bool               `json:"issued"`
	Sources        []discoveredSource `json:"sources"`
	MinLength      int                `json:"min_length"`
	MaxLength      int                `json:"max_length"`
	Alphabet       string             `json:"alphabet,omitempty"`
	Format         string             `json:"format"`
	UUIDVersions   []int              `json:"uuid_versions,omitempty"`
	MinEntropyBits int                `json:"min_entropy_bits,omitempty"`
}

// discoveredSource has one member set.
type discoveredSource struct {
	Header      string             `json:"header,omitempty"`
	JSON        string             `json:"json,omitempty"`
	Form        string             `json:"form,omitempty"`
	Query       string             `json:"query,omitempty"`
	Cookie      string             `json:"cookie,omitempty"`
	PathSegment int                `json:"path_segment,omitempty"`
	JWTClaim    string             `json:"jwt_claim,omitempty"`
	All         []discoveredSource `json:"all,omitempty"`
}

type discoveredFingerprint struct {
	Body    string   `json:"body"`
	MaxBody int64    `json:"max_body,omitempty"`
	Over    string   `json:"over,omitempty"`
	Headers []string `json:"headers,omitempty"`
	Ignore  []string `json:"ignore,omitempty"`
}

type discoveredInFlight struct {
	Action    string `json:"action"`
	MaxWaitMS int64  `json:"max_wait_ms,omitempty"`
}

type discoveredCompleted struct {
	Action       string `json:"action"`
	TTL          int64  `json:"ttl_s"`
	TombstoneTTL int64  `json:"tombstone_ttl_s,omitempty"`
}

type discoveredRecord struct {
	Body        bool     `json:"body"`
	MaxBody     int64    `json:"max_body,omitempty"`
	Redact      []string `json:"redact,omitempty"`
	KeepHeaders []string `json:"keep_headers,omitempty"`
	DropHeaders []string `json:"drop_headers,omitempty"`
	Released    []int    `json:"released,omitempty"`
	Unknown     []int    `json:"unknown,omitempty"`
}

var (
	discoveredBody = map[rules.BodyMode]string{rules.BodyJSON: "json", rules.BodyRaw: "raw", rules.BodyNone: "none",
		rules.BodyForm: "form", rules.BodyMultipart: "multipart"}
	discoveredOver = map[rules.Over]string{rules.OverReject: "reject", rules.OverContentDigest: "content_digest", rules.OverPrefix: "prefix"}
	discoveredDo   = map[rules.Action]string{rules.Reject: "reject", rules.Wait: "wait", rules.Replay: "replay"}
)

// discovery is the rendered document and what identifies it.
type discovery struct {
	body []byte
	tag  string // ETag
}

// newDiscovery renders the document.
func newDiscovery(cfg *rules.Config) discovery {
	d := discovered{Problems: problemBase, Operations: []discoveredOperation{}}
	if cfg.Issue != nil {
		d.Issue = &discoveredEndpoint{"POST", cfg.Issue.Path}
	}
	if cfg.Lookup != "" {
		d.Lookup = &discoveredEndpoint{"GET", cfg.Lookup}
	}
	for _, r := range cfg.Rules {
		o := operationOf(r)
		o.Lookup = r.Mode != rules.Off && cfg.LooksUp(r.Scope)
		d.Operations = append(d.Operations, o)
	}
	body, err := json.MarshalIndent(&d, "", " ")
	if err != nil {
		panic(err) // there is nothing in it that has no form
	}
	body = append(body, '\n')
	sum := sha256.Sum256(body)
	return discovery{body, `"` + hex.EncodeToString(sum[:12]) + `"`}
}

func operationOf(r *rules.Rule) discoveredOperation {
	o := discoveredOperation{Match: matchOf(&r.Match), Enforcement: "full"}
	switch {
	case r.Mode == rules.Off:
		o.Enforcement = "off"
		return o
	case !r.Enforces():
		o.Enforcement = "observed"
	case r.Observes():
		o.Enforcement = "partial"
	}
	o.Scope, o.Key = r.Scope, keyOf(&r.Key)
	f := &r.Fingerprint
	o.Fingerprint = &discoveredFingerprint{Body: discoveredBody[f.Body], Headers: f.Headers, Ignore: f.Ignore}
	if f.Body != rules.BodyNone {
		o.Fingerprint.MaxBody, o.Fingerprint.Over = f.MaxBody, discoveredOver[f.Over]
	}
	o.InFlight = &discoveredInFlight{discoveredDo[r.InFlight.Action], r.InFlight.MaxWait.Milliseconds()}
	o.Completed = &discoveredCompleted{discoveredDo[r.Completed.Action], int64(r.Completed.TTL.Seconds()), int64(r.Completed.TombstoneTTL.Seconds())}
	o.Record = &discoveredRecord{Body: r.Record.Body, Redact: r.Record.Redact}
	if r.Record.Body {
		o.Record.MaxBody = r.Record.MaxBody
		o.Record.KeepHeaders, o.Record.DropHeaders = r.Record.KeepHeaders, r.Record.DropHeaders
	}
	for status, outcome := range r.Outcomes.Table() {
		switch {
		case status < 200: // never an answer's
		case outcome == rules.OutcomeRelease:
			o.Record.Released = append(o.Record.Released, status)
		case outcome == rules.OutcomeUnknown:
			o.Record.Unknown = append(o.Record.Unknown, status)
		}
	}
	return o
}

func matchOf(m *rules.Match) discoveredMatch {
	out := discoveredMatch{Methods: m.Methods, Hosts: m.Hosts}
	if len(m.Methods) == 0 {
		out.MethodsExcept = []string{"GET", "HEAD", "OPTIONS", "TRACE"}
	}
	for kind, path := range map[string]string{"exact": m.Exact, "prefix": m.Prefix, "template": m.Template, "regexp": m.Regexp} {
		if path != "" {
			out.Path = map[string]string{kind: path}
		}
	}
	for _, h := range m.Headers {
		out.Headers = append(out.Headers, h.Name) // which values, others may share
	}
	return out
}

func keyOf(k *rules.Key) *discoveredKey {
	out := &discoveredKey{Required: k.Required, Issued: k.Issued, MinLength: max(k.Grammar.MinLength, 1), MaxLength: k.MaxLength,
		Alphabet: k.Alphabet, Format: "any", MinEntropyBits: int(k.Grammar.MinEntropyBits)}
	if k.Grammar.UUID {
		out.Format = "uuid"
		for v := uint(k.Grammar.Versions); v != 0; v &= v - 1 {
			out.UUIDVersions = append(out.UUIDVersions, bits.TrailingZeros(v))
		}
	}
	for i := range k.From {
		out.Sources = append(out.Sources, sourceOf(&k.From[i]))
	}
	return out
}

func sourceOf(s *rules.KeySource) discoveredSource {
	parts := s.Parts()
	if len(parts) > 1 {
		var all discoveredSource
		for i := range parts {
			all.All = append(all.All, sourceOf(&parts[i]))
		}
		return all
	}
	out := discoveredSource{Header: s.Header, Form: s.Form, Query: s.Query, Cookie: s.Cookie, PathSegment: s.Segment, JWTClaim: s.Claim}
	if len(s.JSON) == 1 {
		out.JSON = s.JSON[0]
	}
	return out
}

// discover answers a request for the document.
func (s *Stream) discover(r Request) Action {
	d := &s.w.discovery
	reply := &LocalReply{Status: 200, Details: "oncewall_discovery", Body: d.body, GRPC: -1, Headers: [][2]string{
		{"content-type", discoveryType}, {"cache-control", "public, max-age=" + discoveryAge}, {"etag", d.tag}}}
	if matchesTag(r.Header("if-none-match"), d.tag) {
		reply.Status, reply.Body, reply.Headers = 304, nil, reply.Headers[1:]
	}
	s.send(reply)
	return Pause
}

// matchesTag reports whether If-None-Match names a tag (RFC 9110, section 13.1.2).
func matchesTag(lines []string, tag string) bool {
	for _, l := range lines {
		for _, one := range strings.Split(l, ",") {
			if one = strings.TrimSpace(one); one == "*" || strings.TrimPrefix(one, "W/") == tag {
				return true
			}
		}
	}
	return false
}
