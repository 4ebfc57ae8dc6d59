package filter

import (
	"strings"
	"testing"

	"github.com/oncewall/oncewall/filter/rules"
)

const certificate = "@connection."

// TestPrincipals names callers by every kind of source. A want is kind, issuer
// and value; empty: principal-missing.
func TestPrincipals(t *testing.T) {
	const (
		mtls   = certificate + "mtls: \x01"
		sub    = `{"jwt_claim": "sub", "issuer": "https://id"}`
		uri    = `{"peer_certificate": "uri_san"}`
		header = `{"header": "x-user", "trusted": true}`
	)
	from := func(sources ...string) string { return `{"from": [` + strings.Join(sources, ", ") + `]}` }
	token := func(claim string) []string { return []string{claims + ".iss: https://id", claims + ".sub: " + claim} }
	stranger := []string{claims + ".iss: https://evil", claims + ".sub: ann"}
	workload := []string{mtls, certificate + "uri_san_peer_certificate: spiffe://prod/ns/a/sa/b"}
	for _, test := range []struct {
		name, principal string
		lines           []string
		want            string
	}{
		{"header", header, []string{"x-user: ann"}, "1 x-user ann"},
		{"no header", header, nil, ""},
		{"empty header", header, []string{"x-user: "}, ""},
		{"header twice", header, []string{"x-user: ann", "x-user: ann"}, ""},
		{"constant", `{"const": "psp"}`, nil, "3  psp"},
		{"anonymous", `"anonymous"`, nil, "4  "},
		{"claim", sub, token("ann"), "2 https://id ann"},
		{"no token", sub, nil, ""},
		{"foreign token", sub, stranger, ""},
		{"token without issuer", sub, []string{claims + ".sub: ann"}, ""},
		{"empty claim", sub, token(""), ""},
		{"no claim", sub, []string{claims + ".iss: https://id"}, ""},
		{"claim that is true", sub, token("\x01"), ""},
		{"claim that is 42", sub, token("\x00\x00\x00\x00\x00\x00\x45\x40"), ""},
		{"claim that is a list", sub, token("\x01\x00\x00\x00\x01\x00\x00\x00\x01\x00\x00\x00a\x00b\x00"), ""},
		{"claim that is not UTF-8", sub, token("a\xff"), ""},
		{"nested claim", `{"jwt_claim": "org.id", "issuer": "https://id"}`, []string{claims + ".iss: https://id", claims + ".org.id: acme"}, "2 https://id acme"},
		{"claim by a pointer", `{"jwt_claim": "/https:~1~1id.example~1tenant", "issuer": "https://id"}`, []string{claims + ".iss: https://id", claims + ".https://id.example/tenant: acme"}, "2 https://id acme"},
		{"nested claim by a pointer", `{"jwt_claim": "/a.b/~0c", "issuer": "https://id"}`, []string{claims + ".iss: https://id", claims + ".a.b.~c: acme"}, "2 https://id acme"},

		{"URI", uri, workload, "5 prod spiffe://prod/ns/a/sa/b"},
		{"URI of the trust domain", `{"peer_certificate": "uri_san", "trust_domain": "prod"}`, workload, "5 prod spiffe://prod/ns/a/sa/b"},
		{"URI of another", `{"peer_certificate": "uri_san", "trust_domain": "test"}`, workload, ""},
		{"URI that only begins so", `{"peer_certificate": "uri_san", "trust_domain": "pro"}`, workload, ""},
		{"URI without host", uri, []string{mtls, certificate + "uri_san_peer_certificate: urn:a:b"}, "5  urn:a:b"},
		{"SPIFFE without trust domain", uri, []string{mtls, certificate + "uri_san_peer_certificate: spiffe:///a"}, ""},
		{"no certificate", uri, []string{certificate + "mtls: \x00", workload[1]}, ""},
		{"no mtls at all", uri, workload[1:], ""},
		{"certificate without URI", uri, []string{mtls}, ""},
		{"certificate with an empty URI", uri, []string{mtls, certificate + "uri_san_peer_certificate: "}, ""},
		{"DNS name", `{"peer_certificate": "dns_san"}`, []string{mtls, certificate + "dns_san_peer_certificate: a.example"}, "6  a.example"},
		{"subject", `{"peer_certificate": "subject"}`, []string{mtls, certificate + "subject_peer_certificate: CN=a,O=b"}, "7  CN=a,O=b"},
		{"digest", `{"peer_certificate": "sha256"}`, []string{mtls, certificate + "sha256_peer_certificate_digest: 0a1b"}, "8  0a1b"},

		{"first of two", from(sub, uri), append(token("ann"), workload...), "2 https://id ann"},
		{"second of two", from(sub, uri), workload, "5 prod spiffe://prod/ns/a/sa/b"},
		{"neither", from(sub, uri), nil, ""},
		{"foreign token does not fall through", from(sub, uri), append(workload, stranger...), ""},
		{"empty claim does not fall through", from(sub, uri), append(workload, token("")...), ""},
		{"foreign token is not anonymous", from(sub, `"anonymous"`), stranger, ""},
		{"token that says nothing is not anonymous", from(sub, `"anonymous"`), []string{claims + ": \x00\x00\x00\x00"}, ""},
		{"no token is anonymous", from(sub, `"anonymous"`), nil, "4  "},
		{"certificate without URI is not anonymous", from(uri, `"anonymous"`), []string{mtls}, ""},
		{"certificate of another domain is not anonymous", from(`{"peer_certificate": "uri_san", "trust_domain": "test"}`, `"anonymous"`), workload, ""},
		{"two issuers", from(`{"jwt_claim": "sub", "issuer": "https://other"}`, sub), token("ann"), "2 https://id ann"},
		{"two issuers, then a certificate", from(`{"jwt_claim": "sub", "issuer": "https://other"}`, uri), append(workload, token("ann")...), ""},
		{"two trust domains", from(`{"peer_certificate": "uri_san", "trust_domain": "test"}`, `{"peer_certificate": "uri_san", "trust_domain": "prod"}`), workload, "5 prod spiffe://prod/ns/a/sa/b"},
		{"header, then a claim", from(header, sub), token("ann"), "2 https://id ann"},
		{"empty header does not fall through", from(header, sub), append(token("ann"), "x-user: "), ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			cfg := oneRule(t, `"principal": `+test.principal)
			x := Explain(cfg, "POST", "/a/1/2", ask(append(test.lines, "idempotency-key: k")...), nil)
			got := ""
			if p := x.Principal; p.Kind != 0 {
				got = strings.Join([]string{string('0' + byte(p.Kind)), p.Issuer, p.Value}, " ")
			}
			if got != test.want || (got == "") != (x.Verdict == Refused && x.Reply.code() == CodePrincipalMissing) {
				t.Errorf("got %q, want %q; verdict %d", got, test.want, x.Verdict)
			}
		})
	}
}

// Kinds are part of records' names: a number never means another source.
func TestPrincipalKindsAreStable(t *testing.T) {
	for kind, number := range map[rules.PrincipalKind]uint8{
		rules.PrincipalHeader: 1, rules.PrincipalJWT: 2, rules.PrincipalConst: 3, rules.PrincipalAnonymous: 4,
		rules.PrincipalURISAN: 5, rules.PrincipalDNSSAN: 6, rules.PrincipalSubject: 7, rules.PrincipalDigest: 8,
	} {
		if uint8(kind) != number {
			t.Errorf("kind %d was %d", kind, number)
		}
	}
}
