package rules

import "fmt"

func (p *parser) buildPrincipal(r *Rule, s source) {
	n, stated := s.block("principal")
	p.require(r, "principal", stated)
	if n == nil {
		return
	}
	at := "principal"
	if from := n.get("from"); from != nil {
		if len(n.members) > 1 {
			p.add(at, nil, "must have either from or one source, not both")
			return
		}
		if from.kind != nodeList || len(from.items) != 1 {
			return // reported by check
		}
		n, at = from.items[0], fmt.Sprintf("%s.from[0]", at)
	}
	if n.kind == nodeString {
		if n.good() {
			r.Principal.Kind = PrincipalAnonymous
		}
		return
	}
	if n.kind == nodeObject {
		p.buildSource(r, at, n)
	}
}

// companions names the members that belong to another one.
var companions = []struct{ name, of string }{
	{"trusted", "header"}, {"issuer", "jwt_claim"}, {"payload", "jwt_claim"},
}

func (p *parser) buildSource(r *Rule, at string, n *node) {
	header, claim, constant := n.get("header"), n.get("jwt_claim"), n.get("const")
	count := 0
	for _, source := range []*node{header, claim, constant} {
		if source != nil {
			count++
		}
	}
	if count != 1 {
		if n.get("peer_certificate") == nil {
			p.add(at, nil, `must have exactly one source: header, jwt_claim or const; or be "anonymous"`)
		}
		return
	}
	for _, c := range companions {
		if n.get(c.name) != nil && n.get(c.of) == nil {
			p.add(join(at, c.name), nil, "belongs to %s, which is not there", c.of)
		}
	}
	switch {
	case header != nil:
		r.Principal = Principal{Kind: PrincipalHeader, Header: header.stringOr("")}
		if trusted := n.get("trusted"); !trusted.boolOr(false) && (trusted == nil || trusted.good()) {
			p.add(join(at, "trusted"), trusted, "must be true: it states that no client can set the header %s", quote(header.text))
		}
	case claim != nil:
		r.Principal = Principal{
			Kind: PrincipalJWT, Claim: claim.stringOr(""), Issuer: n.get("issuer").stringOr(""),
			Payload: n.get("payload").stringOr(defaultPayload),
		}
		if n.get("issuer") == nil {
			p.add(join(at, "issuer"), nil, "is required with jwt_claim: two issuers may use one value for two people")
		}
	default:
		r.Principal = Principal{Kind: PrincipalConst, Const: constant.stringOr("")}
	}
}
