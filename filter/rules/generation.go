package rules

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
)

// generation digests the effective rule: two rules have one generation only if
// no field differs. It goes into records and cache entries, so a new field is
// appended at the end and only when it is set.
func generation(r *Rule) string {
	var d digest
	d.text(r.Name, r.Scope)
	d.list(r.Match.Methods)
	d.text(r.Match.Exact, r.Match.Prefix)
	pr := r.Principal
	d.number(int64(pr.Kind))
	d.text(pr.Header, pr.Claim, pr.Issuer, pr.Payload, pr.Const)
	d.number(int64(len(r.Key.From)))
	for _, from := range r.Key.From {
		d.text(from.Header)
		d.list(from.JSON)
	}
	d.flag(r.Key.Required, r.Key.Issued)
	d.number(int64(r.Key.MaxLength), int64(r.Fingerprint.Body), r.Fingerprint.MaxBody)
	d.list(r.Fingerprint.Headers)
	d.number(int64(r.InFlight.Action), int64(r.InFlight.MaxWait))
	d.number(int64(r.Completed.Action), int64(r.Completed.TTL), int64(r.Completed.TombstoneTTL))
	d.number(r.Record.MaxBody, int64(r.Record.When))
	d.flag(r.Record.Body)
	d.list(r.Record.DropHeaders)
	d.number(int64(r.UpstreamTimeout), int64(r.EnvoyRetries))
	d.number(int64(r.Recovery.Lease), int64(r.Recovery.Action), int64(r.Recovery.MaxAttempts))
	d.number(int64(r.Unavailable), int64(r.Mode))
	// Added later: a rule without it keeps the digest that it had.
	if n := r.Durability.Replicas; n > 0 {
		d.number(int64(n))
	}
	if len(r.Record.Redact) > 0 {
		// The name comes first: what follows is then no other late field's.
		d.text("redact")
		d.list(r.Record.Redact)
	}
	if len(r.Fingerprint.Ignore) > 0 {
		d.text("ignore")
		d.list(r.Fingerprint.Ignore)
	}
	if r.Fingerprint.Over > OverReject {
		d.text("over")
		d.number(int64(r.Fingerprint.Over))
	}
	if n := r.Fingerprint.MaxDecodedBody; n != defaultDecodedBody {
		d.text("max_decoded_body")
		d.number(n)
	}
	if len(r.Record.KeepHeaders) > 0 {
		d.text("keep_headers")
		d.list(r.Record.KeepHeaders)
	}
	if r.Streaming {
		d.text("streaming")
	}
	for i, l := range [...][]int{r.Outcomes.Result, r.Outcomes.Release, r.Outcomes.Unknown} {
		for _, status := range l {
			d.text("outcome")
			d.number(int64(i), int64(status))
		}
	}
	if len(r.PreviousScopes) > 0 {
		d.text("previous_scopes")
		d.list(r.PreviousScopes)
	}
	for _, c := range r.Statuses {
		d.text("status", c.Code)
		d.number(int64(c.Status))
	}
	d.later(r)
	sum := sha256.Sum256(d.b)
	return hex.EncodeToString(sum[:8])
}

// digest is a rendering in which every part carries its length.
type digest struct{ b []byte }

func (d *digest) text(parts ...string) {
	for _, s := range parts {
		d.number(int64(len(s)))
		d.b = append(d.b, s...)
	}
}

func (d *digest) list(parts []string) {
	d.number(int64(len(parts)))
	d.text(parts...)
}

func (d *digest) number(numbers ...int64) {
	for _, n := range numbers {
		d.b = binary.BigEndian.AppendUint64(d.b, uint64(n))
	}
}

func (d *digest) flag(flags ...bool) {
	for _, f := range flags {
		n := int64(0)
		if f {
			n = 1
		}
		d.number(n)
	}
}

// later digests what this version added to matches, principals and keys, each
// behind its name and only where it is set.
func (d *digest) later(r *Rule) {
	part := func(name string, set bool, texts ...string) {
		if set {
			d.text(name)
			d.list(texts)
		}
	}
	m := &r.Match
	part("match.hosts", len(m.Hosts) > 0, m.Hosts...)
	part("match.template", m.Template != "", m.Template)
	part("match.regexp", m.Regexp != "", m.Regexp)
	for _, h := range m.Headers {
		part("match.header", true, h.Name, h.Exact, h.Prefix, h.Regexp)
	}
	part("principal.trust_domain", r.Principal.TrustDomain != "", r.Principal.TrustDomain)
	for _, o := range r.Principal.Or {
		part("principal.or", true, o.Header, o.Claim, o.Issuer, o.Payload, o.Const, o.TrustDomain)
		d.number(int64(o.Kind))
	}
	for i := range r.Key.From {
		d.place(&r.Key.From[i])
	}
	g := &r.Key.Grammar
	if r.EnforcePercent > 0 {
		d.text("enforce_percent")
		d.number(int64(r.EnforcePercent))
	}
	if r.Lookup != r.Principal.Names() {
		d.text("lookup")
	}
	part("key.alphabet", r.Key.Alphabet != "", r.Key.Alphabet)
	if g.MinLength > 0 || g.UUID || g.Versions > 0 || g.MinEntropyBits > 0 {
		d.text("key.grammar")
		d.number(int64(g.MinLength), int64(g.Versions), int64(g.MinEntropyBits))
		d.flag(g.UUID)
	}
}

// place digests what a source of a key has beside a header and JSON.
func (d *digest) place(s *KeySource) {
	if s.Form+s.Query+s.Cookie+s.Claim+s.Issuer+s.Payload == "" && s.Segment == 0 && len(s.All) == 0 {
		return
	}
	d.text("key.place", s.Form, s.Query, s.Cookie, s.Claim, s.Issuer, s.Payload)
	d.number(int64(s.Segment), int64(len(s.All)))
	for i := range s.All {
		d.text(s.All[i].Header)
		d.list(s.All[i].JSON)
		d.place(&s.All[i])
	}
}
