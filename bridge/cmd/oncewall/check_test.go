package main

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/oncewall/oncewall/bridge/config"
	"github.com/oncewall/oncewall/filter"
	"github.com/oncewall/oncewall/filter/rules"
	"github.com/oncewall/oncewall/filter/wire"
)

// checked are the secrets that testdata's bridge configurations name.
var checked = []string{"S=" + secret, "N=" + strings.ToUpper(secret)}

func TestCheckAgreement(t *testing.T) {
	for name, code := range map[string]int{
		"check-agrees":    exitOK,
		"check-disagrees": exitFailed,
		"check-both":      exitFailed,
	} {
		t.Run(name, func(t *testing.T) {
			plugin := probed
			if name == "check-both" {
				plugin = "testdata/" + name + ".json"
			}
			golden(t, name, code, []string{"check", plugin, "testdata/" + name + ".yaml"}, checked)
		})
	}
}

// TestCheckBounds: a value at its bound agrees, and one step beyond it does not.
func TestCheckBounds(t *testing.T) {
	b, err := os.ReadFile(probed)
	if err != nil {
		t.Fatal(err)
	}
	plugin, err := rules.Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	most := rules.Rule{}
	for _, r := range plugin.Rules {
		most.Recovery.Lease = max(most.Recovery.Lease, r.Recovery.Lease)
		most.Completed.TTL = max(most.Completed.TTL, r.Completed.TTL)
		most.Completed.TombstoneTTL = max(most.Completed.TombstoneTTL, r.Completed.TombstoneTTL)
		if r.Record.Body { // a rule that records none may name any size
			most.Record.MaxBody = max(most.Record.MaxBody, filter.MaxCompletionBytes(r))
		}
	}
	fits := config.Config{ClockSkew: rules.ClockSkew, Limits: config.Limits{MaxBatchBytes: most.Record.MaxBody,
		MaxLease: most.Recovery.Lease, MaxTTL: most.Completed.TTL, MaxTombstone: most.Completed.TombstoneTTL}}
	if faults, _ := disagree(plugin, &fits); len(faults) > 0 {
		t.Errorf("at the bounds: %q", faults)
	}
	for field, step := range map[string]func(*config.Config){
		"recovery.lease":          func(c *config.Config) { c.Limits.MaxLease-- },
		"completed.ttl":           func(c *config.Config) { c.Limits.MaxTTL-- },
		"completed.tombstone_ttl": func(c *config.Config) { c.Limits.MaxTombstone-- },
		"record.max_body":         func(c *config.Config) { c.Limits.MaxBatchBytes-- },
		"clock_skew":              func(c *config.Config) { c.ClockSkew = 4000_000_001 },
	} {
		c := fits
		step(&c)
		if faults, _ := disagree(plugin, &c); len(faults) == 0 || !strings.Contains(faults[0], field) {
			t.Errorf("%s beyond its bound: %q", field, faults)
		}
	}
}

// TestMaxCompletionBytes holds the bound against the batch of a completion whose
// every part is as large as it may be.
func TestMaxCompletionBytes(t *testing.T) {
	r := &rules.Rule{Key: rules.Key{MaxLength: wire.MaxKeyBytes}, Record: rules.Record{MaxBody: 1 << 20}}
	response := wire.Response{Status: 599, Body: make([]byte, r.Record.MaxBody)}
	const lines, bytes = 900, 64 << 10
	for range lines {
		response.Headers = append(response.Headers, wire.HeaderLine{Name: "x", Value: strings.Repeat("v", bytes/lines-1)})
	}
	result, err := wire.AppendResponse(nil, &response)
	if err != nil {
		t.Fatal(err)
	}
	fp := []byte{wire.FingerprintVersion}
	for id := wire.PartMethod; id <= wire.PartHeaders; id++ {
		fp = wire.AppendPart(fp, id, wire.AlgorithmConfigured, [wire.DigestBytes]byte{})
	}
	text := func(n int) string { return strings.Repeat("t", n) }
	const large = 1 << 50
	batch, err := wire.AppendBatch(nil, &wire.Batch{Namespace: text(wire.MaxScopeBytes),
		Policies: []wire.Policy{{Generation: text(128), TTLMS: large, TombstoneMS: large, LeaseMS: large, MaxAttempts: 100, Recovery: 3, Issued: true, RejectRepeat: true, Replicas: 5}},
		Ops: []wire.Operation{{Kind: wire.Complete, BudgetMS: 1 << 30, Scope: text(wire.MaxScopeBytes), Principal: text(wire.MaxPrincipalBytes), Key: text(wire.MaxKeyBytes),
			Owner: make([]byte, wire.OwnerBytes), Fence: 1 << 53, Fingerprint: fp, Status: 599, Result: result, Unprotected: true}}})
	if err != nil {
		t.Fatal(err)
	}
	bound := filter.MaxCompletionBytes(r)
	if n := int64(len(batch)); n > bound || bound-n > 16<<10 {
		t.Errorf("batch of %d bytes, bound %d", n, bound)
	}
}

// TestCheckCallers remarks on callers that nobody in the Envoy file verifies.
func TestCheckCallers(t *testing.T) {
	const text = `listeners:
- tls: %s
  filters: [%s]
  routes: [{metadata: {filter_metadata: {oncewall: {mode: "off"}}}}]
  plugin: {vm_config: {}, configuration: {"@type": type.googleapis.com/google.protobuf.Struct, value: {namespace: edge, bridge: {cluster: b},
    defaults: {upstream_timeout: 5s, recovery: {action: hold}, unavailable: reject},
    rules: [{name: r, match: {path: {prefix: /}}, fingerprint: {body: none},
      principal: {from: [{jwt_claim: sub, issuer: i}, {peer_certificate: uri_san}]}}]}}}
`
	const (
		tls      = `{"@type": x.DownstreamTlsContext, common_tls_context: {validation_context: {trusted_ca: {filename: ca}}}}`
		untested = `{"@type": x.DownstreamTlsContext, common_tls_context: {validation_context: {trusted_ca: {filename: ca}, trust_chain_verification: ACCEPT_UNTRUSTED}}}`
		jwt      = `{"@type": x.JwtAuthentication, providers: {a: {issuer: i}}}`
		unnamed  = `{"@type": x.JwtAuthentication, providers: {a: {issuer: i}, b: {}}}`
		anyIss   = "remark: rule \"r\": reads a jwt_claim, and jwt_authn's provider \"b\" states no issuer: who signs its tokens may say to be any"
		noToken  = "remark: rule \"r\": reads a jwt_claim, and no jwt_authn filter is in this file"
		noCA     = "remark: rule \"r\": reads a peer_certificate, and no listener in this file checks certificates (trusted_ca)"
		anyCA    = "remark: rule \"r\": reads a peer_certificate, and a listener takes unverified ones (ACCEPT_UNTRUSTED)"
		metadata = "remark: routes have metadata under oncewall, which is read only with envoy.route_metadata: true"
	)
	for _, tc := range []struct {
		tls, filters string
		want         []string
	}{
		{"{}", "", []string{noToken, noCA, metadata}},
		{tls, jwt, []string{metadata}},
		{untested, jwt, []string{anyCA, metadata}},
		{tls, unnamed, []string{anyIss, metadata}},
	} {
		file := write(t, "envoy.yaml", fmt.Sprintf(text, tc.tls, tc.filters))
		var out bytes.Buffer
		if code := check([]string{file}, nil, &out, &out); code != exitOK {
			t.Fatalf("code %d: %s", code, out.String())
		}
		for _, remark := range []string{noToken, noCA, anyCA, anyIss, metadata} {
			if strings.Contains(out.String(), remark) != slices.Contains(tc.want, remark) {
				t.Errorf("%s, %s: %q in:\n%s", tc.tls, tc.filters, remark, out.String())
			}
		}
	}
}

func TestCheckEnvoy(t *testing.T) {
	const shipped = "../../../envoy/envoy.yaml"
	var out bytes.Buffer
	if code := check([]string{shipped}, nil, &out, &out); code != exitOK {
		t.Fatalf("code %d: %s", code, out.String())
	}
	b, err := os.ReadFile(shipped)
	if err != nil {
		t.Fatal(err)
	}
	for from, tc := range map[string]struct{ to, want string }{
		"allow_on_headers_stop_iteration: true": {"allow_on_headers_stop_iteration: false", "envoy.allow_on_headers_stop_iteration true: the filter's own is false"},
		"protobuf.StringValue":                  {"protobuf.BytesValue", `want a StringValue or a Struct with a value`},
		"vm_config:":                            {"vm_configs:", "0 Wasm filters with a configuration: want 1"},
		`"namespace": "edge"`:                   {`"namespace": "", "namspace": 1`, "config: namspace is not a field"},
		"static_resources:":                     {"static_resources: [", "envoy: not YAML"},
	} {
		if !bytes.Contains(b, []byte(from)) {
			t.Fatalf("%s has no %q", shipped, from)
		}
		out.Reset()
		broken := write(t, "envoy.yaml", strings.Replace(string(b), from, tc.to, 1))
		if code := check([]string{broken}, nil, &out, &out); code != exitFailed || !strings.Contains(out.String(), tc.want) {
			t.Errorf("%s: code %d: %s", tc.to, code, out.String())
		}
	}
	structured := write(t, "envoy.yaml", `vm: {vm_config: {}, configuration: {"@type": type.googleapis.com/google.protobuf.Struct, value: {namespace: edge,
		bridge: {cluster: b}, rules: [{name: r, mode: off, match: {path: {prefix: /}}}]}}}`)
	out.Reset()
	if code := check([]string{structured}, nil, &out, &out); code != exitOK {
		t.Errorf("Struct: code %d: %s", code, out.String())
	}
	deep := write(t, "envoy.yaml", "a: "+strings.Repeat("[", 200_000))
	out.Reset()
	if code := check([]string{deep}, nil, &out, &out); code != exitFailed || !strings.Contains(out.String(), "envoy: nested more than 256 deep, in line 1") {
		t.Errorf("200,000 brackets: code %d: %s", code, out.String())
	}
}
