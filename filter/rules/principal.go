package rules

import (
	"fmt"
)

func (p *parser) buildPrincipal(r *Rule, s source) {
	n, stated := s.block("principal")
	p.require(r, "principal", stated)
	if n == nil {
		return
	}
	from := n.get("from")
	if from == nil {
		r.Principal = p.buildSource("principal", n)
		return
	}
	if len(n.members) > 1 {
		p.add("principal", nil, "must have either from or one source, not both")
		return
	}
	if from.kind != nodeList {
		return // reported by check
	}
	var sources []Principal
	for i, item := range from.items {
		at := fmt.Sprintf("principal.from[%d]", i)
		next := p.buildSource(at, item)
		p.checkOrder(at, sources, &next)
		sources = append(sources, next)
	}
	if len(sources) > 0 {
		r.Principal = sources[0]
		if len(sources) > 1 {
			r.Principal.Or = sources[1:]
		}
	}
}

// checkOrder refuses a source that would never be looked at, and one by which a
// caller without a verified name could take that of another.
func (p *parser) checkOrder(at string, before []Principal, next *Principal) {
	for i := range before {
		b := &before[i]
		switch {
		case b.Kind == PrincipalConst || b.Kind == PrincipalAnonymous:
			p.add(at, nil, "stands behind a source that is never absent")
			return
		case b.Kind.Verified() && next.Kind == PrincipalHeader:
			p.add(at, nil, "must not be a header: whoever leaves out what principal.from[%d] verifies would be named by it", i)
			return
		case b.Kind != 0 && b.same(next):
			p.add(at, nil, "is there twice, first at [%d]", i)
			return
		}
	}
}

func (p *Principal) same(o *Principal) bool {
	return p.Kind == o.Kind && p.Header == o.Header && p.Claim == o.Claim && p.Issuer == o.Issuer &&
		p.Payload == o.Payload && p.TrustDomain == o.TrustDomain
}

// sources calls f with the sources in their order, until it returns false.
func (p *Principal) sources(f func(*Principal) bool) {
	if !f(p) {
		return
	}
	for i := range p.Or {
		if !f(&p.Or[i]) {
			return
		}
	}
}

// Names reports whether every source names a caller: a constant and "anonymous" name
// everybody who can reach the filter.
func (p *Principal) Names() bool {
	names := true
	p.sources(func(s *Principal) bool {
		names = s.Kind != PrincipalConst && s.Kind != PrincipalAnonymous
		return names
	})
	return names
}

// usesHeader reports whether one of the sources is the header.
func (p *Principal) usesHeader(name string) (uses bool) {
	p.sources(func(s *Principal) bool {
		uses = s.Kind == PrincipalHeader && s.Header == name
		return !uses
	})
	return uses
}

// meets reports whether two rules may give a caller one name: they have a kind in
// common. Kinds that are not known count.
func (p *Principal) meets(o *Principal) (meets bool) {
	p.sources(func(a *Principal) bool {
		o.sources(func(b *Principal) bool {
			meets = meets || a.Kind == b.Kind || a.Kind == 0 || b.Kind == 0
			return !meets
		})
		return !meets
	})
	return meets
}

// companions names the members that belong to another one.
var companions = []struct{ name, of string }{
	{"trusted", "header"}, {"issuer", "jwt_claim"}, {"payload", "jwt_claim"}, {"trust_domain", "peer_certificate"},
}

// buildSource returns a source; Kind is 0 where it has a fault.
func (p *parser) buildSource(at string, n *node) (s Principal) {
	if n.kind == nodeString && n.good() {
		return Principal{Kind: PrincipalAnonymous}
	}
	if n.kind != nodeObject {
		return s // reported by check
	}
	header, claim, constant, cert := n.get("header"), n.get("jwt_claim"), n.get("const"), n.get("peer_certificate")
	if countNodes(header, claim, constant, cert) != 1 {
		p.add(at, nil, `must have exactly one source: header, jwt_claim, peer_certificate or const; or be "anonymous"`)
		return s
	}
	for _, c := range companions {
		if n.get(c.name) != nil && n.get(c.of) == nil {
			p.add(join(at, c.name), nil, "belongs to %s, which is not there", c.of)
		}
	}
	switch {
	case header != nil:
		s = Principal{Kind: PrincipalHeader, Header: header.stringOr("")}
		p.checkCallerHeader(join(at, "header"), header)
		if trusted := n.get("trusted"); !trusted.boolOr(false) && (trusted == nil || trusted.good()) {
			p.add(join(at, "trusted"), trusted, "must be true: it states that no client can set the header %s", quote(header.text))
		}
	case claim != nil:
		s = Principal{
			Kind: PrincipalJWT, Claim: claim.stringOr(""), Issuer: n.get("issuer").stringOr(""),
			Payload: n.get("payload").stringOr(defaultPayload),
		}
		p.checkClaim(join(at, "jwt_claim"), claim)
		if n.get("issuer") == nil {
			p.add(join(at, "issuer"), nil, "is required with jwt_claim: two issuers may use one value for two people")
		}
	case cert != nil:
		s.Kind = PrincipalKind(cert.valueOr(0))
		domain := n.get("trust_domain")
		s.TrustDomain = domain.stringOr("")
		if domain != nil && cert.good() && s.Kind != PrincipalURISAN {
			p.add(join(at, "trust_domain"), domain, "belongs to peer_certificate uri_san")
		}
	default:
		s = Principal{Kind: PrincipalConst, Const: constant.stringOr("")}
	}
	return s
}
