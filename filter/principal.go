package filter

import (
	"strings"
	"unicode/utf8"

	"github.com/oncewall/oncewall/filter/rules"
	"github.com/oncewall/oncewall/filter/wire"
)

// caller is a source of a principal with the attributes that it reads.
type caller struct {
	*rules.Principal
	token token
}

// token is where jwt_authn leaves a claim of a token that it has verified.
type token struct{ payload, claim, issuer []string }

func newToken(payload, claim string) token {
	at := []string{"metadata", "filter_metadata", "envoy.filters.http.jwt_authn", payload}
	at = at[:len(at):len(at)]
	return token{payload: at, claim: append(at, rules.ClaimPath(claim)...), issuer: append(at, "iss")}
}

// callersOf returns a rule's sources in their order.
func callersOf(p *rules.Principal) []caller {
	out := []caller{{Principal: p}}
	for i := range p.Or {
		out = append(out, caller{Principal: &p.Or[i]})
	}
	for i := range out {
		if c := &out[i]; c.Kind == rules.PrincipalJWT {
			c.token = newToken(c.Payload, c.Claim)
		}
	}
	return out
}

// sighting is what a source says of a request.
type sighting uint8

const (
	absent  sighting = iota
	foreign          // it is there, and of another issuer or trust domain
	invalid          // it is there and names nobody
	named
)

// principalOf returns the encoded principal of a request: kind of source,
// issuer and value, each with its length, so that no two principals share an
// encoding. false: no source is there, or the first that is there names nobody.
//
// Whoever shows something that Envoy has verified is named by that or not at all:
// behind a token of a foreign issuer only sources for other issuers are looked
// at, and the same goes for certificates.
func principalOf(rule *Rule, r Request) (string, bool) {
	var stranger rules.PrincipalKind
	for i := range rule.callers {
		c := &rule.callers[i]
		if stranger != 0 && c.Kind != stranger {
			return "", false
		}
		issuer, value, seen := c.read(r)
		switch seen {
		case absent:
		case foreign:
			stranger = c.Kind
		case named:
			if len(value)+len(issuer)+16 > wire.MaxPrincipalBytes {
				return "", false
			}
			return wire.EncodePrincipal(uint8(c.Kind), issuer, value), true
		default:
			return "", false
		}
	}
	return "", false
}

func (c *caller) read(r Request) (issuer, value string, seen sighting) {
	switch c.Kind {
	case rules.PrincipalAnonymous:
		return "", "", named
	case rules.PrincipalConst:
		return "", c.Const, named
	case rules.PrincipalHeader:
		switch lines := r.Header(c.Header); {
		case len(lines) == 0:
			return "", "", absent
		case len(lines) == 1 && lines[0] != "":
			return c.Header, lines[0], named
		}
		return "", "", invalid
	case rules.PrincipalJWT:
		value, seen = c.token.read(r, c.Issuer)
		return c.Issuer, value, seen
	}
	return c.certificate(r)
}

// read returns the claim of a token of the issuer.
func (t *token) read(r Request, issuer string) (value string, seen sighting) {
	iss, ok := r.Property(t.issuer...)
	if ok && iss == issuer {
		// A claim that is missing is as bad as one that is no text: the token says
		// who the caller is, but not by the name that the rule wants.
		if value, _ = r.Property(t.claim...); !isText(value) {
			return "", invalid
		}
		return value, named
	}
	if !ok {
		if _, ok = r.Property(t.payload...); !ok {
			return "", absent
		}
	}
	return "", foreign
}

// isText reports whether an attribute is the text of a claim or a certificate.
// Envoy gives other types as bytes: a boolean as 0 or 1, a list or an object as
// pairs with their lengths, a number as the eight bytes of a double. All but some
// doubles (of the whole numbers only such over 2^45) have a control byte or are
// not UTF-8.
func isText(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] == 0x7f {
			return false
		}
	}
	return s != "" && utf8.ValidString(s)
}

// The attributes of the client's certificate.
var (
	pathMTLS         = []string{"connection", "mtls"}
	pathCertificates = map[rules.PrincipalKind][]string{
		rules.PrincipalURISAN:  {"connection", "uri_san_peer_certificate"},
		rules.PrincipalDNSSAN:  {"connection", "dns_san_peer_certificate"},
		rules.PrincipalSubject: {"connection", "subject_peer_certificate"},
		rules.PrincipalDigest:  {"connection", "sha256_peer_certificate_digest"},
	}
)

// certificate names the caller by its certificate. The issuer of a URI is its
// host; that of other names is not known to a filter.
func (c *caller) certificate(r Request) (issuer, value string, seen sighting) {
	path := pathCertificates[c.Kind]
	if path == nil {
		return "", "", invalid
	}
	if shown, _ := r.Property(pathMTLS...); shown != "\x01" {
		return "", "", absent
	}
	if value, _ = r.Property(path...); !isText(value) {
		return "", "", invalid
	}
	if c.Kind == rules.PrincipalURISAN {
		issuer = trustDomain(value)
		switch {
		case issuer == "" && (c.TrustDomain != "" || strings.HasPrefix(value, "spiffe:")):
			return "", "", invalid
		case c.TrustDomain != "" && issuer != c.TrustDomain:
			return "", "", foreign
		}
	}
	return issuer, value, named
}

// trustDomain returns the host of a URI, empty where it has none.
func trustDomain(uri string) string {
	_, rest, ok := strings.Cut(uri, "://")
	if !ok {
		return ""
	}
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		rest = rest[:i]
	}
	return rest
}
