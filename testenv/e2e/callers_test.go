package e2e

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/oncewall/oncewall/testenv/stack"
	"github.com/oncewall/oncewall/testenv/story"
)

// callersRules names callers by what Envoy has verified, and lets routes choose.
const callersRules = `{
  "namespace": "edge",
  "bridge": {"cluster": "oncewall_bridge", "authority": "oncewall", "timeout": "1s"},
  "envoy": {"allow_on_headers_stop_iteration": true, "buffer_limit": "1MiB", "route_metadata": true},
  "defaults": {
    "principal": {"from": [{"jwt_claim": "sub", "issuer": "https://id.example"}, {"peer_certificate": "uri_san", "trust_domain": "prod"}]},
    "upstream_timeout": "5s", "recovery": {"action": "hold", "lease": "30s"}, "unavailable": "reject"
  },
  "rules": [
    {"name": "orders", "match": {"path": {"prefix": "/orders"}}},
    {"name": "anyone", "match": {"path": {"exact": "/notes"}}, "principal": {"from": [{"jwt_claim": "sub", "issuer": "https://id.example"}, "anonymous"]}},
    {"name": "dns", "match": {"path": {"exact": "/payments"}}, "principal": {"peer_certificate": "dns_san"}},
    {"name": "subject", "match": {"path": {"exact": "/uploads"}}, "principal": {"peer_certificate": "subject"}},
    {"name": "digest", "match": {"path": {"exact": "/refunds"}}, "principal": {"peer_certificate": "sha256"}},
    {"name": "token", "match": {"path": {"exact": "/checkout"}}, "key": {"from": [{"all": [{"jwt_claim": "order", "issuer": "https://id.example"}, {"query": "part"}]}]}},
    {"name": "org", "match": {"path": {"exact": "/transfers"}}, "principal": {"jwt_claim": "org.id", "issuer": "https://id.example"}},
    {"name": "tenant", "match": {"path": {"exact": "/orders/tenant"}}, "principal": {"jwt_claim": "/https:~1~1id.example~1tenant", "issuer": "https://id.example"}},
    {"name": "routed", "match": {"methods": ["POST"]}, "principal": {"const": "route"}}
  ]
}`

// callers is a gateway with TLS that checks clients' certificates and tokens.
type callers struct {
	t    *testing.T
	live *live
	ca   *x509.Certificate
	key  *ecdsa.PrivateKey // of the authority, and of tokens
	ids  int
}

func startCallers(t *testing.T) *callers {
	c := &callers{t: t, live: startLive(t)}
	var err error
	if c.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		t.Fatal(err)
	}
	authority := c.certify(&x509.Certificate{Subject: pkix.Name{CommonName: "authority"}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature})
	c.ca = authority.Leaf
	server := c.certify(&x509.Certificate{Subject: pkix.Name{CommonName: "gateway"}, DNSNames: []string{"shop.example"}})
	der, err := x509.MarshalPKCS8PrivateKey(server.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	text := func(kind string, der []byte) map[string]any {
		return map[string]any{"inline_string": string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))}
	}
	listener := c.live.listener
	dig(t, listener, "filter_chains", 0)["transport_socket"] = map[string]any{
		"name": "envoy.transport_sockets.tls",
		"typed_config": map[string]any{
			"@type": "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext",
			"common_tls_context": map[string]any{
				"tls_certificates":   []any{map[string]any{"certificate_chain": text("CERTIFICATE", server.Certificate[0]), "private_key": text("PRIVATE KEY", der)}},
				"validation_context": map[string]any{"trusted_ca": text("CERTIFICATE", c.ca.Raw)},
			},
		},
	}
	hcm := dig(t, listener, "filter_chains", 0, "filters", 0, "typed_config")
	filters, _ := hcm["http_filters"].([]any)
	hcm["http_filters"] = append([]any{c.jwtFilter()}, filters...)
	host := dig(t, hcm, "route_config", "virtual_hosts", 0)
	routes, _ := host["routes"].([]any)
	host["routes"] = append(c.routes(dig(t, routes, 0)), routes...)
	c.live.update(callersRules)
	return c
}

// routes are those that say something of the filter themselves, all to the shop.
func (c *callers) routes(like map[string]any) (routes []any) {
	for path, more := range map[string]string{
		"/free":     `{"typed_per_filter_config": {"oncewall": {"@type": "type.googleapis.com/envoy.config.route.v3.FilterConfig", "disabled": true}}}`,
		"/routed":   `{"metadata": {"filter_metadata": {"oncewall": {"rule": "routed"}}}}`,
		"/excepted": `{"metadata": {"filter_metadata": {"oncewall": {"mode": "off"}}}}`,
		"/false":    `{"metadata": {"filter_metadata": {"oncewall": {"mode": false}}}}`,
		"/wrong":    `{"metadata": {"filter_metadata": {"oncewall": {"rule": "gone"}}}}`,
	} {
		b, err := json.Marshal(like)
		if err != nil {
			c.t.Fatal(err)
		}
		var r map[string]any
		for _, text := range []string{string(b), more} {
			if err := json.Unmarshal([]byte(text), &r); err != nil {
				c.t.Fatal(err)
			}
		}
		r["name"], r["match"] = path[1:], map[string]any{"path": "/orders" + path}
		routes = append(routes, r)
	}
	return routes
}

func (c *callers) jwtFilter() any {
	public := func(n *big.Int) string { return base64.RawURLEncoding.EncodeToString(n.FillBytes(make([]byte, 32))) }
	raw, err := c.key.PublicKey.Bytes()
	if err != nil {
		c.t.Fatal(err)
	}
	x, y := new(big.Int).SetBytes(raw[1:33]), new(big.Int).SetBytes(raw[33:])
	keys := fmt.Sprintf(`{"keys": [{"kty": "EC", "crv": "P-256", "alg": "ES256", "x": %q, "y": %q}]}`, public(x), public(y))
	providers := map[string]any{}
	var requirements []any
	for _, name := range []string{"id", "other"} {
		providers[name] = map[string]any{"issuer": "https://" + name + ".example", "payload_in_metadata": "payload",
			"local_jwks": map[string]string{"inline_string": keys}}
		requirements = append(requirements, map[string]string{"provider_name": name})
	}
	requirements = append(requirements, map[string]any{"allow_missing": map[string]string{}})
	return map[string]any{
		"name": "envoy.filters.http.jwt_authn",
		"typed_config": map[string]any{
			"@type":     "type.googleapis.com/envoy.extensions.filters.http.jwt_authn.v3.JwtAuthentication",
			"providers": providers,
			"rules": []any{map[string]any{"match": map[string]string{"prefix": "/"},
				"requires": map[string]any{"requires_any": map[string]any{"requirements": requirements}}}},
		},
	}
}

// certify issues a certificate with a key of its own; the first one is the
// authority's, which signs itself.
func (c *callers) certify(template *x509.Certificate) *tls.Certificate {
	c.t.Helper()
	c.ids++
	template.SerialNumber = big.NewInt(int64(c.ids))
	template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	key, parent := c.key, template
	if c.ca != nil {
		var err error
		if key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
			c.t.Fatal(err)
		}
		parent = c.ca
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, c.key)
	if err != nil {
		c.t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		c.t.Fatal(err)
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}
}

// token signs claims; ES256.
func (c *callers) token(claims string) string {
	c.t.Helper()
	encode := base64.RawURLEncoding.EncodeToString
	text := encode([]byte(`{"alg":"ES256","typ":"JWT"}`)) + "." + encode([]byte(claims))
	sum := sha256.Sum256([]byte(text))
	r, s, err := ecdsa.Sign(rand.Reader, c.key, sum[:])
	if err != nil {
		c.t.Fatal(err)
	}
	return text + "." + encode(append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...))
}

// send posts to the gateway over a connection of its own and returns the answer's
// status with its Idempotency-Status.
func (c *callers) send(path string, cert *tls.Certificate, claims, key string) string {
	c.t.Helper()
	conf := &tls.Config{RootCAs: x509.NewCertPool(), ServerName: "shop.example"}
	conf.RootCAs.AddCert(c.ca)
	if cert != nil {
		conf.Certificates = []tls.Certificate{*cert}
	}
	h := &http.Client{Transport: &http.Transport{TLSClientConfig: conf, DisableKeepAlives: true}, Timeout: 20 * time.Second}
	req, err := http.NewRequestWithContext(c.t.Context(), http.MethodPost, "https://"+stack.Addr(c.live.port)+path, strings.NewReader(`{"item":1}`))
	if err != nil {
		c.t.Fatal(err)
	}
	if claims != "" {
		req.Header.Set("authorization", "Bearer "+c.token(claims))
	}
	if key != "" {
		req.Header.Set("idempotency-key", key)
	}
	resp, err := h.Do(req)
	if err != nil {
		return "no answer: " + err.Error()
	}
	defer func() { _ = resp.Body.Close() }()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return "cut: " + err.Error()
	}
	return fmt.Sprintf("%d %s", resp.StatusCode, resp.Header.Get("Idempotency-Status"))
}

// TestCallersThatEnvoyVerifies names callers by tokens and certificates that a
// real Envoy has checked, and lets its routes switch the filter.
func TestCallersThatEnvoyVerifies(t *testing.T) {
	t.Parallel()
	c := startCallers(t)
	eventually(t, "the listener", 60*time.Second, func() bool {
		return !strings.HasPrefix(c.send("/orders", nil, "", "ready"), "no answer")
	})
	spiffe := func(uri string) *x509.Certificate {
		u, err := url.Parse(uri)
		if err != nil {
			t.Fatal(err)
		}
		return &x509.Certificate{Subject: pkix.Name{CommonName: "workload"}, URIs: []*url.URL{u}, DNSNames: []string{"a.example"}}
	}
	workload, again := c.certify(spiffe("spiffe://prod/a")), c.certify(spiffe("spiffe://prod/a"))
	other, test := c.certify(spiffe("spiffe://prod/b")), c.certify(spiffe("spiffe://test/a"))
	nameless := c.certify(&x509.Certificate{Subject: pkix.Name{CommonName: "nameless"}})
	const (
		ann     = `{"iss":"https://id.example","sub":"ann","order":"t1","org":{"id":"acme"}}`
		bob     = `{"iss":"https://id.example","sub":"bob","order":"t2"}`
		foreign = `{"iss":"https://other.example","sub":"ann"}`
		missing = "401 principal-missing"
	)
	for i, step := range []struct {
		path   string
		cert   *tls.Certificate
		claims string
		key    string
		want   string
	}{
		{"/orders", nil, "", "k", missing},
		{"/orders", nil, ann, "k", "201 created"},
		{"/orders", nil, ann, "k", "201 replayed"},
		{"/orders", nil, bob, "k", "201 created"},
		{"/orders", nil, foreign, "k", missing},
		{"/orders", nil, `{"iss":"https://id.example"}`, "k", missing},
		{"/orders", nil, `{"iss":"https://id.example","sub":""}`, "k", missing},
		// jwt_authn itself wants sub to be text; other claims may be anything.
		{"/transfers", nil, ann, "k", "201 created"},
		{"/transfers", nil, ann, "k", "201 replayed"},
		{"/transfers", nil, bob, "k", missing},
		{"/transfers", nil, `{"iss":"https://id.example","org":"acme"}`, "k", missing},
		{"/transfers", nil, `{"iss":"https://id.example","org":{"id":["acme"]}}`, "k", missing},
		{"/transfers", nil, `{"iss":"https://id.example","org":{"id":{"a":"acme"}}}`, "k", missing},
		{"/transfers", nil, `{"iss":"https://id.example","org":{"id":1e300}}`, "k", missing},
		{"/transfers", nil, `{"iss":"https://id.example","org":{"id":42}}`, "k", missing},
		{"/transfers", nil, `{"iss":"https://id.example","org":{"id":true}}`, "k", missing},
		{"/transfers", nil, `{"iss":"https://id.example","org":{"id":null}}`, "k", missing},

		{"/orders/tenant", nil, `{"iss":"https://id.example","https://id.example/tenant":"acme"}`, "k", "201 created"},
		{"/orders/tenant", nil, `{"iss":"https://id.example","https://id.example/tenant":"acme"}`, "k", "201 replayed"},
		{"/orders/tenant", nil, ann, "k", missing},

		{"/orders", workload, "", "k", "201 created"},
		{"/orders", again, "", "k", "201 replayed"},
		{"/orders", other, "", "k", "201 created"},
		{"/orders", test, "", "k", missing},
		{"/orders", nameless, "", "k", missing},
		{"/orders", workload, ann, "k", "201 replayed"}, // the token goes before
		{"/orders", workload, foreign, "k", missing},
		{"/orders", workload, `{"iss":"https://id.example","sub":""}`, "k", missing},
		{"/notes", nil, "", "k", "201 created"},
		{"/notes", nil, ann, "k", "201 created"},
		{"/notes", nil, foreign, "k", missing},

		{"/payments", workload, "", "k", "201 created"},
		{"/payments", other, "", "k", "201 replayed"}, // of the same DNS name
		{"/payments", nameless, "", "k", missing},
		{"/uploads", nameless, "", "k", "201 created"},
		{"/uploads", workload, "", "k", "201 created"},
		{"/uploads", other, "", "k", "201 replayed"},
		{"/refunds", workload, "", "k", "201 created"},
		{"/refunds", workload, "", "k", "201 replayed"},
		{"/refunds", again, "", "k", "201 created"},
		{"/refunds", nil, ann, "k", missing},

		{"/checkout?part=1", nil, ann, "", "201 created"},
		{"/checkout?part=1", nil, ann, "", "201 replayed"},
		{"/checkout?part=2", nil, ann, "", "201 created"},
		{"/checkout?part=1", nil, bob, "", "201 created"},
		{"/checkout?part=1", workload, "", "", "400 key-missing"},
		{"/checkout?part=1", nil, `{"iss":"https://id.example","sub":"ann","order":7}`, "", "400 key-invalid"},

		// What the routes say. The shop knows none of these paths but takes them.
		{"/orders/free", nil, "", "", "201 "},
		{"/orders/excepted", nil, "", "", "201 "},
		{"/orders/false", nil, "", "", "201 "},
		{"/orders/routed", nil, "", "", "400 key-missing"},
		{"/orders/routed", nil, "", "k", "201 created"},
		{"/orders/routed", workload, ann, "k", "201 replayed"},
		{"/orders/wrong", nil, ann, "k2", "500 misconfigured"},
		{"/orders/else", nil, "", "k", missing},
	} {
		if got := c.send(step.path, step.cert, step.claims, step.key); got != step.want {
			t.Errorf("step %d, %s %s: %s, want %s", i, step.path, step.claims, got, step.want)
		}
	}
}

// TestUpdateUnderWay changes the rules while a request is with the backend: it
// ends, and is recorded, as the rule says under which it was claimed.
func TestUpdateUnderWay(t *testing.T) {
	t.Parallel()
	l := startLive(t)
	rules := func(more string) string {
		return shopRules(t, `"key": {"from": [{"header": "idempotency-key"}]}`, `"key": {"from": [{"header": "idempotency-key"}]`+more)
	}
	l.update(rules(`}`))
	h := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 30 * time.Second}
	send := func(key, delay string) (*http.Response, error) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+stack.Addr(l.port)+"/orders", strings.NewReader("{}"))
		if err != nil {
			return nil, err
		}
		for name, value := range map[string]string{"x-user-id": "ann", "idempotency-key": key, "x-shop-delay": delay, "x-shop-header": "x-kept: 1"} {
			req.Header.Set(name, value)
		}
		resp, err := h.Do(req)
		if err == nil {
			_ = resp.Body.Close()
		}
		return resp, err
	}
	status := func(resp *http.Response, err error) string {
		if err != nil {
			return err.Error()
		}
		return fmt.Sprintf("%d %s", resp.StatusCode, resp.Header.Get("Idempotency-Status"))
	}
	eventually(t, "the listener", 60*time.Second, func() bool { _, err := send("ready", "0s"); return err == nil })
	type answer struct {
		resp *http.Response
		err  error
	}
	slow := make(chan answer, 1)
	go func() {
		resp, err := send("slow", "4s") // less than Envoy takes to drain a listener
		slow <- answer{resp, err}
	}()
	shop := story.Shop{Addr: l.stack.Shop()}
	eventually(t, "the slow request at the shop", 20*time.Second, func() bool {
		x, err := shop.Executions(t.Context(), "slow")
		return err == nil && x.Count == 1
	})

	// Under the new rule nothing of an answer's header x-kept is recorded, and the
	// slow request's key would be too short.
	l.update(rules(`, "min_length": 5}, "record": {"max_body": "256KiB", "when": "before_reply", "drop_headers": ["x-kept"]}`))
	eventually(t, "the update in force", 30*time.Second, func() bool { return status(send("tiny", "0s")) == "400 key-invalid" })
	first := <-slow
	if got := status(first.resp, first.err); got != "201 created" {
		t.Fatalf("the request under way: %s", got)
	}
	if got := status(send("slow", "0s")); got != "400 key-invalid" {
		t.Errorf("its key under the new rule: %s", got)
	}
	l.update(rules(`}`))
	var retry *http.Response
	eventually(t, "the old rule again", 30*time.Second, func() bool {
		resp, err := send("slow", "0s")
		retry = resp
		return status(resp, err) == "201 replayed"
	})
	if retry.Header.Get("x-kept") != "1" {
		t.Error("the request under way was recorded by the rule that came later")
	}
	wantRuns(t, l.stack, "slow", 1)
}
