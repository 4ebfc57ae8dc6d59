package rules

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

func readShop(t testing.TB) *Config {
	t.Helper()
	b, err := os.ReadFile("testdata/shop.json")
	if err != nil {
		t.Fatal(err)
	}
	return mustParse(t, string(b))
}

func mustParse(t testing.TB, text string) *Config {
	t.Helper()
	c, err := Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// head is everything before the rules, with Envoy able to hold bodies.
const head = `"namespace": "edge", "bridge": {"cluster": "b"}, "envoy": {"allow_on_headers_stop_iteration": true}, "issue": {}`

// must is what a rule has to state beside its name and match.
const must = `"principal": {"header": "x-user", "trusted": true}, "upstream_timeout": "15s", "recovery": {"action": "hold"}, "unavailable": "reject"`

// withRule is a whole configuration with one rule, r, made of head, must and
// what is given.
func withRule(given string) string {
	return fmt.Sprintf(`{%s, "rules": [{"name": "r", "match": {"path": {"prefix": "/r"}}, %s%s}]}`, head, must, given)
}

// replaced is withRule("") with one text in it replaced.
func replaced(old, new string) string {
	text := withRule("")
	if !strings.Contains(text, old) {
		panic("test: no " + old)
	}
	return strings.Replace(text, old, new, 1)
}

func TestShopConfiguration(t *testing.T) {
	c := readShop(t)
	stack, err := os.ReadFile("../../testenv/stack/shop.json")
	if err != nil {
		t.Fatal(err)
	}
	ours, _ := os.ReadFile("testdata/shop.json")
	if !bytes.Equal(stack, ours) {
		t.Error("testenv/stack/shop.json differs from testdata/shop.json")
	}
	type row struct {
		scope                  string
		principal              PrincipalKind
		issued, required       bool
		inFlight, completed    Action
		recovery               RecoveryAction
		lease, upstream, alive time.Duration
		away                   Unavailable
		body                   BodyMode
	}
	const h, s = time.Hour, time.Second
	want := map[string]row{
		"/orders":        {"orders", PrincipalHeader, false, true, Reject, Replay, Reacquire, 10 * s, 5 * s, 24 * h, UnavailableReject, BodyJSON},
		"/payments":      {"payments", PrincipalHeader, false, true, Wait, Replay, Probe, 30 * s, 5 * s, 24 * h, UnavailableReject, BodyJSON},
		"/checkout":      {"checkout", PrincipalHeader, true, true, Reject, Reject, Hold, 30 * s, 5 * s, 24 * h, UnavailableReject, BodyJSON},
		"/refunds":       {"refund", PrincipalHeader, true, true, Reject, Reject, Hold, 30 * s, 5 * s, 24 * h, UnavailableReject, BodyJSON},
		"/transfers":     {"transfers", PrincipalHeader, false, true, Reject, Replay, Hold, 30 * s, 5 * s, 24 * h, UnavailableReject, BodyJSON},
		"/uploads":       {"uploads", PrincipalHeader, false, false, Reject, Replay, Hold, 30 * s, 5 * s, 24 * h, UnavailableForward, BodyRaw},
		"/callbacks/psp": {"psp-callbacks", PrincipalConst, false, true, Wait, Replay, Hold, 30 * s, 5 * s, 24 * h, UnavailableReject, BodyJSON},
		"/bookings":      {"bookings", PrincipalHeader, false, true, Wait, Replay, Probe, 4 * s, 1 * s, 24 * h, UnavailableLocal, BodyJSON},
		"/notes":         {"notes", PrincipalHeader, false, true, Reject, Replay, Reacquire, 4 * s, 1 * s, 2 * s, UnavailableForward, BodyJSON},
	}
	for path, w := range want {
		r := c.Match("POST", path)
		if r == nil {
			t.Errorf("%s: no rule", path)
			continue
		}
		got := row{r.Scope, r.Principal.Kind, r.Key.Issued, r.Key.Required, r.InFlight.Action, r.Completed.Action,
			r.Recovery.Action, r.Recovery.Lease, r.UpstreamTimeout, r.Completed.TTL, r.Unavailable, r.Fingerprint.Body}
		if got != w {
			t.Errorf("%s: got %+v, want %+v", path, got, w)
		}
		if r.Record.MaxBody != 256<<10 {
			t.Errorf("%s: record.max_body %d", path, r.Record.MaxBody)
		}
	}
	if len(c.Rules) != len(want) {
		t.Errorf("%d rules, want %d", len(c.Rules), len(want))
	}
	if got := c.Match("POST", "/callbacks/psp").Key.From; !reflect.DeepEqual(got, []KeySource{{JSON: []string{"/type", "/id"}}}) {
		t.Errorf("callbacks: key %+v", got)
	}
	if !c.IsIssue("POST", "/idempotency-keys") {
		t.Error("/idempotency-keys issues nothing")
	}
}

func TestDefaultsOfARule(t *testing.T) {
	c := mustParse(t, withRule(""))
	c.table = table{}
	want := &Config{
		Namespace: "edge",
		Bridge:    Bridge{Cluster: "b", WaitCluster: "b", Authority: "oncewall", Timeout: 250 * time.Millisecond},
		Envoy:     Envoy{AllowOnHeadersStopIteration: true, BufferLimit: 1 << 20},
		Issue:     &Issue{Path: "/idempotency-keys"},
		Lookup:    "/idempotency-keys",
		Rules: []*Rule{{
			Name: "r", Scope: "r", Lookup: true,
			Match:           Match{Prefix: "/r"},
			Principal:       Principal{Kind: PrincipalHeader, Header: "x-user"},
			Key:             Key{From: []KeySource{{Header: "idempotency-key"}}, Required: true, MaxLength: 255},
			Fingerprint:     Fingerprint{Body: BodyJSON, MaxBody: 1 << 20, Over: OverReject, MaxDecodedBody: 1 << 20},
			InFlight:        InFlight{Action: Reject},
			Completed:       Completed{Action: Replay, TTL: 24 * time.Hour},
			Record:          Record{MaxBody: 256 << 10, When: BeforeReply, Body: true},
			UpstreamTimeout: 15 * time.Second,
			EnvoyRetries:    RetriesOff,
			Recovery:        Recovery{Lease: time.Minute, Action: Hold, MaxAttempts: 3},
			Unavailable:     UnavailableReject,
			Mode:            Enforce,
			Generation:      c.Rules[0].Generation,
		}},
	}
	if !reflect.DeepEqual(c, want) {
		t.Errorf("got  %+v %+v\nwant %+v %+v", c, c.Rules[0], want, want.Rules[0])
	}
}

// good are configurations that are accepted, each with what to look at.
var good = []struct {
	name, text string
	look       func(*Rule) any
	want       any
}{
	{"bare off is false in YAML", withRule(`, "envoy_retries": false`), func(r *Rule) any { return r.EnvoyRetries }, RetriesOff},
	{"retries route", withRule(`, "envoy_retries": "route"`), func(r *Rule) any { return r.EnvoyRetries }, RetriesRoute},
	{"size as a number", withRule(`, "record": {"max_body": 0}`), func(r *Rule) any { return r.Record.MaxBody }, int64(0)},
	{"size in bytes", withRule(`, "record": {"max_body": "100B"}`), func(r *Rule) any { return r.Record.MaxBody }, int64(100)},
	{"default bodies fit a small buffer", strings.Replace(withRule(""), `"envoy": {`, `"envoy": {"buffer_limit": "64KiB", `, 1),
		func(r *Rule) any { return [2]int64{r.Record.MaxBody, r.Fingerprint.MaxBody} }, [2]int64{64 << 10, 64 << 10}},
	{"bodies as large as the buffer", withRule(`, "record": {"max_body": "1MiB"}, "fingerprint": {"max_body": "1MiB"}`),
		func(r *Rule) any { return [2]int64{r.Record.MaxBody, r.Fingerprint.MaxBody} }, [2]int64{1 << 20, 1 << 20}},
	{"durations add up", withRule(`, "completed": {"ttl": "1h30m", "tombstone_ttl": "1.5s"}`),
		func(r *Rule) any { return r.Completed }, Completed{Replay, 90 * time.Minute, 1500 * time.Millisecond}},
	{"nothing recorded", withRule(`, "record": {"body": "none", "when": "after_reply", "drop_headers": ["set-cookie"]}`),
		func(r *Rule) any { return r.Record }, Record{MaxBody: 256 << 10, When: AfterReply, DropHeaders: []string{"set-cookie"}}},
	{"redacted", withRule(`, "record": {"redact": ["/card/number", "/a~1b"]}`),
		func(r *Rule) any { return r.Record.Redact }, []string{"/card/number", "/a~1b"}},
	{"one pointer", withRule(`, "key": {"from": [{"json": "/a~1b"}]}`),
		func(r *Rule) any { return r.Key.From }, []KeySource{{JSON: []string{"/a~1b"}}}},
	{"two sources of a key", withRule(`, "key": {"from": [{"header": "k"}, {"json": ["/a", "/b"]}]}`),
		func(r *Rule) any { return r.Key.From }, []KeySource{{Header: "k"}, {JSON: []string{"/a", "/b"}}}},
	{"principal in a list", replaced(`{"header": "x-user", "trusted": true}`, `{"from": [{"header": "x-user", "trusted": true}]}`),
		func(r *Rule) any { return r.Principal }, Principal{Kind: PrincipalHeader, Header: "x-user"}},
	{"principal from a claim", replaced(`{"header": "x-user", "trusted": true}`, `{"jwt_claim": "a.sub", "issuer": "https://id"}`),
		func(r *Rule) any { return r.Principal }, Principal{Kind: PrincipalJWT, Claim: "a.sub", Issuer: "https://id", Payload: "payload"}},
	{"constant principal", replaced(`{"header": "x-user", "trusted": true}`, `{"from": [{"const": "psp"}]}`),
		func(r *Rule) any { return r.Principal }, Principal{Kind: PrincipalConst, Const: "psp"}},
	{"anonymous", replaced(`{"header": "x-user", "trusted": true}`, `"anonymous"`),
		func(r *Rule) any { return r.Principal }, Principal{Kind: PrincipalAnonymous}},
	{"anonymous in a list", replaced(`{"header": "x-user", "trusted": true}`, `{"from": ["anonymous"]}`),
		func(r *Rule) any { return r.Principal }, Principal{Kind: PrincipalAnonymous}},
	{"lease at its bound", replaced(`{"action": "hold"}`, `{"action": "hold", "lease": "16500ms"}`),
		func(r *Rule) any { return r.Recovery.Lease }, 16500 * time.Millisecond},
	{"durability that asks for nothing", withRule(`, "durability": {"replicas": 0, "ledger": false}, "streaming": false`),
		func(r *Rule) any { return r.Durability }, Durability{}},
	{"replicas", withRule(`, "durability": {"replicas": 5}`),
		func(r *Rule) any { return r.Durability }, Durability{Replicas: 5}},
	{"slash at the end of a path", replaced(`"/r"`, `"/r/"`), func(r *Rule) any { return r.Match.Prefix }, "/r"},
	{"everything", replaced(`"/r"`, `"/"`), func(r *Rule) any { return r.Match.Prefix }, "/"},
	{"off needs no decisions", `{"namespace": "e", "bridge": {"cluster": "b"}, "rules": [{"name": "r", "match": {"path": {"exact": "/r"}}, "mode": "off"}]}`,
		func(r *Rule) any { return r.Mode }, Off},
	{"no body without the flag", strings.Replace(withRule(`, "fingerprint": {"body": "none"}`), `"allow_on_headers_stop_iteration": true`, "", 1),
		func(r *Rule) any { return r.Fingerprint.Body }, BodyNone},
	{"a rule's block replaces the default's", strings.Replace(withRule(`, "completed": {"ttl": "2h"}`), `"rules"`,
		`"defaults": {"completed": {"action": "reject", "tombstone_ttl": "1h"}, "in_flight": {"action": "wait", "max_wait": "1s"}}, "rules"`, 1),
		func(r *Rule) any { return []any{r.Completed, r.InFlight} },
		[]any{Completed{Replay, 2 * time.Hour, 0}, InFlight{Wait, time.Second}}},
	{"decisions by defaults", `{` + head + `, "defaults": {` + must + `}, "rules": [{"name": "r", "match": {"path": {"exact": "/r"}}}]}`,
		func(r *Rule) any { return r.UpstreamTimeout }, 15 * time.Second},
}

func TestGood(t *testing.T) {
	for _, g := range good {
		t.Run(g.name, func(t *testing.T) {
			c := mustParse(t, g.text)
			if got := g.look(c.Rules[0]); !reflect.DeepEqual(got, g.want) {
				t.Errorf("got %+v, want %+v", got, g.want)
			}
		})
	}
}

func TestEveryFaultInOneMessage(t *testing.T) {
	text := `{
		"namespace": "edge", "namespace": "edge2",
		"bridge": {"cluster": "b", "timeout": "5 seconds", "secret": "hunter2"},
		"rules": [
			{"name": "a", "match": {"path": {"prefix": "/a"}}, "principal": "anonymous", "fingerprint": {"body": "none"},
			 "upstream_timeout": "15s", "recovery": {"action": "hold", "lease": "5s"}, "unavailable": "guess", "ttl": "1h"},
			{"name": "a", "match": {"path": {"prefix": "/b"}}, "mode": "off"},
			{"match": {"path": {"prefix": "/c"}}, "mode": "observe"}
		]
	}`
	want := strings.Join([]string{
		`config: namespace is there twice`,
		`config: bridge.timeout "5 seconds" must be a duration such as "250ms", "60s" or "24h", in whole milliseconds, 10ms to 10s`,
		`config: bridge.secret is not a field; the fields here are cluster, wait_cluster, authority, timeout`,
		`config: rule "a": unavailable "guess" must be one of reject, forward, local`,
		`config: rule "a": ttl is not a field; the fields here are name, scope, previous_scopes, match, key, fingerprint, durability, mode, enforce_percent, lookup, streaming, principal, in_flight, completed, record, outcomes, statuses, upstream_timeout, envoy_retries, recovery, unavailable`,
		`config: rules[2]: name is required`,
		`config: rules[2]: principal must be stated by the rule or by defaults`,
		`config: rules[2]: recovery must be stated by the rule or by defaults`,
		`config: rules[2]: fingerprint.body is "json" by default, which needs envoy.allow_on_headers_stop_iteration: true (Envoy 1.35 and later): without it Envoy does not deliver the body of a request whose headers are held; state "none" to leave the body uncompared`,
		`config: rule "a": name is also the name of rules[0]; a name must be unique`,
	}, "\n")
	_, err := Parse([]byte(text))
	if err == nil || err.Error() != want {
		t.Errorf("got:\n%v\nwant:\n%s", err, want)
	}
	// With the timeout mended, the bound that hangs on it is judged too.
	_, err = Parse([]byte(strings.Replace(text, "5 seconds", "250ms", 1)))
	line := `config: rule "a": recovery.lease "5s" must be >= 16.5s (2 x bridge.timeout + upstream_timeout + clock skew + margin)`
	if err == nil || !slices.Contains(strings.Split(err.Error(), "\n"), line) {
		t.Errorf("got:\n%v\nwithout:\n%s", err, line)
	}
}

func TestFaultsAreBounded(t *testing.T) {
	var many strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&many, `, "x%d": 1`, i)
	}
	_, err := Parse([]byte(withRule(many.String())))
	var e *Error
	if !errors.As(err, &e) || len(e.Faults) != maxFaults || e.More != 2000 {
		t.Fatalf("got %d faults and %d more", len(e.Faults), e.More)
	}
	if !strings.HasSuffix(e.Error(), "config: 2000 more faults are not listed") {
		t.Error("the message hides that faults are left out")
	}
	long := strings.Repeat("é", 5000)
	_, err = Parse([]byte(replaced(`"15s"`, `"`+long+`"`)))
	if !errors.As(err, &e) || len(e.Faults) != 1 || len(e.Faults[0].Value) > 80 || !strings.HasPrefix(e.Faults[0].Value, `"é`) {
		t.Errorf("got %v", err)
	}
}

func TestSecretsAndControlBytesAreNotPrinted(t *testing.T) {
	for _, text := range []string{
		strings.Replace(withRule(""), `"cluster"`, `"password": "hunter2", "cluster"`, 1),
		strings.Replace(withRule(""), `"namespace": "edge"`, `"namespace": {"a": "hunter2"}`, 1),
		strings.Replace(withRule(""), `"namespace": "edge"`, `"namespace": "e", "namespace": "hunter2"`, 1),
	} {
		_, err := Parse([]byte(text))
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: got %v", text, err)
		}
	}
	_, err := Parse([]byte(withRule(`, "a\nconfig: all is well": 1`)))
	if err == nil || strings.Contains(err.Error(), "\n") {
		t.Errorf("a name broke the line: %v", err)
	}
}

func TestParseBounds(t *testing.T) {
	for _, test := range []struct{ text, line string }{
		{strings.Repeat(" ", MaxConfigBytes) + "{}", "the configuration has 1048578 bytes; the limit is 1048576"},
		{strings.Repeat("[", 16) + strings.Repeat("]", 16), "must be an object, is a list"},
		{strings.Repeat("[", 17) + strings.Repeat("]", 17), "objects and lists are nested more than 16 deep"},
		{strings.Repeat("[", MaxConfigBytes/2), "not JSON at line 1, column 10001: invalid character '[' exceeded max depth"},
		{"{\"namespace\": \"\xff\"}", "the configuration is not valid UTF-8"},
		{"", "not JSON at line 1, column 1: unexpected end of JSON input"},
		{withRule("") + "{}", "not JSON at line 1, column 314: invalid character '{' after top-level value"},
	} {
		if _, err := Parse([]byte(test.text)); err == nil || err.Error() != "config: "+test.line {
			t.Errorf("got %v, want %s", err, test.line)
		}
	}
	entry := `{"name": "r%d", "match": {"path": {"exact": "/%d"}}, "mode": "off"}`
	var entries []string
	for i := range 1001 {
		entries = append(entries, fmt.Sprintf(entry, i, i))
	}
	if _, err := Parse([]byte(`{` + head + `, "rules": [` + strings.Join(entries[:1000], ",") + `]}`)); err != nil {
		t.Errorf("1000 rules: %v", err)
	}
	_, err := Parse([]byte(`{` + head + `, "rules": [` + strings.Join(entries, ",") + `]}`))
	if want := "config: rules has 1001 entries, must have 1 to 1000 entries"; err == nil || err.Error() != want {
		t.Errorf("1001 rules: got %v", err)
	}
}
