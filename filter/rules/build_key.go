package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/oncewall/oncewall/filter/key"
)

// ownHeaders are set or removed by the filter: none of them can carry a key.
var ownHeaders = []string{
	"idempotency-fence", "idempotency-attempt", "idempotency-resource-fence", "idempotency-gateway",
	"idempotency-status", "idempotency-outcome", "idempotent-replayed",
}

func (p *parser) buildKey(r *Rule, n *node) {
	issued := n.get("issued")
	r.Key = Key{
		Required:  n.get("required").boolOr(true),
		Issued:    issued.boolOr(false),
		MaxLength: int(n.get("max_length").valueOr(defaultMaxLength)),
	}
	if r.Key.Issued && p.top.get("issue") == nil {
		p.add("key.issued", issued, "needs an issue block at the top: no keys are issued")
	}
	from := n.get("from")
	if from == nil {
		r.Key.From = []KeySource{{Header: defaultKeyHeader}}
	} else {
		for i, item := range from.items {
			if item.kind == nodeObject {
				r.Key.From = append(r.Key.From, p.buildKeySource(r, fmt.Sprintf("key.from[%d]", i), item))
			}
		}
		p.checkKeySources("key.from", r.Key.From)
	}
	p.buildGrammar(r, n)
}

// keyMembers are the places that a key can be in.
var keyMembers = []string{"header", "json", "form", "query", "cookie", "path", "jwt_claim", "all"}

func (p *parser) buildKeySource(r *Rule, at string, n *node) (s KeySource) {
	var places []*node
	for _, name := range keyMembers {
		places = append(places, n.get(name))
	}
	if countNodes(places...) != 1 {
		p.add(at, nil, "must have exactly one of %s", strings.Join(keyMembers, ", "))
		return s
	}
	for _, name := range []string{"issuer", "payload"} {
		if n.get(name) != nil && n.get("jwt_claim") == nil {
			p.add(join(at, name), nil, "belongs to jwt_claim, which is not there")
		}
	}
	header, claim, path := n.get("header"), n.get("jwt_claim"), n.get("path")
	if header.good() {
		p.checkKeyHeader(at+".header", header, r)
	}
	s = KeySource{
		Header: header.stringOr(""), JSON: n.get("json").strings(), Form: n.get("form").stringOr(""),
		Query: n.get("query").stringOr(""), Cookie: n.get("cookie").stringOr(""),
	}
	if path.good() {
		s.Segment = p.keySegment(r, at+".path", path)
	}
	if claim != nil {
		s.Claim, s.Issuer = claim.stringOr(""), n.get("issuer").stringOr("")
		s.Payload = n.get("payload").stringOr(defaultPayload)
		p.checkClaim(join(at, "jwt_claim"), claim)
		if n.get("issuer") == nil {
			p.add(join(at, "issuer"), nil, "is required with jwt_claim: two issuers may use one value for two actions")
		}
	}
	if all := n.get("all"); all != nil {
		for i, item := range all.items {
			if item.kind == nodeObject {
				s.All = append(s.All, p.buildKeySource(r, fmt.Sprintf("%s.all[%d]", at, i), item))
			}
		}
	}
	return s
}

// keySegment is the segment that a number or a template's variable means.
func (p *parser) keySegment(r *Rule, at string, n *node) int {
	if n.kind == nodeNumber {
		return int(n.value)
	}
	i := variables(r.Match.Template)[n.text]
	if i == 0 {
		p.add(at, n, "is no variable of match.path.template; a number counts segments from 1")
	}
	return i
}

func (p *parser) checkKeyHeader(at string, n *node, r *Rule) {
	switch {
	case n.text == "x-request-id":
		p.add(at, n, "cannot be a key: Envoy makes up a new x-request-id for each request, so a retry would be a new key")
	case slices.Contains(ownHeaders, n.text), strings.HasPrefix(n.text, "x-envoy-"):
		p.add(at, n, "cannot be a key: the gateway sets or removes this header itself")
	case n.text == "cookie":
		p.add(at, n, "cannot be a key: it is the same for different requests of a client; name one cookie with cookie")
	case n.text == "authorization":
		p.add(at, n, "cannot be a key: it is the same for different requests of a client")
	case slices.Contains(notOfAnAction, n.text):
		p.add(at, n, "cannot be a key: it does not name an action, or is a new one for each retry")
	case r.Principal.usesHeader(n.text):
		p.add(at, n, "cannot be a key: it is the rule's principal")
	}
}

func (p *parser) buildGrammar(r *Rule, n *node) {
	least, set, form := n.get("min_length"), n.get("alphabet"), n.get("format")
	versions, bits := n.get("uuid_versions"), n.get("min_entropy_bits")
	g := &r.Key.Grammar
	g.MinLength = int(least.valueOr(0))
	g.UUID = form.valueOr(formatAny) == formatUUID
	g.MinEntropyBits = int(bits.valueOr(0))
	if set.good() {
		r.Key.Alphabet = set.text
		g.Alphabet, _ = key.ParseAlphabet(set.text)
	}
	if versions != nil {
		for _, v := range versions.items {
			if v.good() && v.value > 0 {
				g.Versions |= 1 << v.value
			}
		}
		if !g.UUID && (form == nil || form.good()) {
			p.add("key.uuid_versions", nil, `belongs to format "uuid"`)
		}
	}
	switch {
	case g.MinLength > r.Key.MaxLength:
		p.add("key.min_length", least, "must be <= %d (key.max_length)", r.Key.MaxLength)
	case g.UUID && r.Key.MaxLength < 36:
		p.add("key.format", form, "needs key.max_length >= 36, the length of a UUID")
	}
	p.checkSatisfiable(&r.Key, least, set, bits)
	if r.Key.Issued && countNodes(least, set, form, versions, bits) > 0 {
		p.add("key.issued", n.get("issued"), "makes the grammar of keys the gateway's own: state no min_length, alphabet, format, uuid_versions or min_entropy_bits")
	}
	for i := range r.Key.From {
		if g.UUID && len(r.Key.From[i].Parts()) > 1 {
			p.add("key.format", form, "cannot be met by key.from[%d], whose parts are joined by colons", i)
		}
	}
}
