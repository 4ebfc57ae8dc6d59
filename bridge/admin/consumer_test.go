package admin_test

import (
	"crypto/sha256"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/oncewall/oncewall/bridge/admin"
	"github.com/oncewall/oncewall/client/api"
	"github.com/oncewall/oncewall/testenv/apitest"
)

// secretKey is a key that must show nowhere but in bodies.
const secretKey = "order-4711-do-not-log"

func owner(letter byte) []byte {
	return []byte(strings.Repeat(string(letter), 24))
}

func policy() api.Policy {
	return api.Policy{TTLMS: 3_600_000, LeaseMS: 60_000, Recovery: "hold"}
}

func key(o byte) api.Key {
	return api.Key{
		Target: api.Target{Namespace: "jobs", Scope: "invoices", Principal: "billing"},
		Key:    secretKey, Policy: policy(), Owner: owner(o),
	}
}

func (c *client) claim(o byte) *answer {
	c.Helper()
	return c.post(apitest.Consumer, api.PathClaim, api.Claim{Key: key(o)})
}

func TestClaimCompleteReplay(t *testing.T) {
	c := start(t)
	created := c.want(c.claim('a'), 200, "created")
	fence := uint64(created.number("fence"))
	if created.number("attempt") != 1 || created.number("lease_ms") < 50_000 {
		t.Errorf("%s", created.text)
	}
	// A lost answer costs nothing.
	if again := c.want(c.claim('a'), 200, "created"); uint64(again.number("fence")) != fence {
		t.Errorf("another fence for the same owner: %s", again.text)
	}
	busy := c.want(c.claim('b'), 409, "in-flight")
	if busy.header.Get("Retry-After") == "" || busy.number("retry_after_ms") < 1 || busy.doc["retryable"] != true {
		t.Errorf("%s", busy.text)
	}
	c.want(c.post(apitest.Consumer, api.PathRenew, api.Settle{Key: key('a'), Fence: fence}), 200, "ok")
	c.want(c.post(apitest.Consumer, api.PathRenew, api.Settle{Key: key('b'), Fence: fence}), 409, "stale")
	c.want(c.post(apitest.Consumer, api.PathExecuted, api.Executed{Key: key('a'), Fence: fence, Status: 201, ResultFollows: true}), 200, "ok")
	c.want(c.claim('b'), 409, "in-flight")
	body := []byte{0, 255, 'x'}
	result := api.Result{Status: 201, Headers: []api.Header{{Name: "X-A", Value: "1"}, {Name: "X-A", Value: "2"}}, Body: body}
	c.want(c.post(apitest.Consumer, api.PathComplete, api.Complete{Key: key('a'), Fence: fence, Result: result}), 200, "ok")
	var out api.Outcome
	if err := json.Unmarshal([]byte(c.want(c.claim('b'), 200, "replayed").text), &out); err != nil {
		t.Fatal(err)
	}
	if out.Result.Status != 201 || string(out.Result.Body) != string(body) || len(out.Result.Headers) != 2 || out.Result.Headers[1].Value != "2" || out.RemainingMS <= 0 {
		t.Errorf("%+v", out)
	}
	c.want(c.post(apitest.Consumer, api.PathComplete, api.Complete{Key: key('b'), Fence: fence, Result: result}), 409, "stale")
}

func TestOtherOutcomes(t *testing.T) {
	c := start(t)
	one, two := sha256.Sum256([]byte("1")), sha256.Sum256([]byte("2"))
	fence := uint64(c.want(c.post(apitest.Consumer, api.PathClaim, api.Claim{Key: key('a'), Fingerprint: one[:]}), 200, "created").number("fence"))
	reused := c.want(c.post(apitest.Consumer, api.PathClaim, api.Claim{Key: key('b'), Fingerprint: two[:]}), 422, "key-reused")
	if parts, _ := reused.doc["parts"].([]any); len(parts) != 1 || parts[0] != "body" {
		t.Errorf("%s", reused.text)
	}
	c.want(c.post(apitest.Consumer, api.PathUnknown, api.Settle{Key: key('a'), Fence: fence, Fingerprint: one[:]}), 200, "ok")
	c.want(c.claim('b'), 409, "outcome-unknown")
	c.want(c.post(apitest.Consumer, api.PathExecuted, api.Executed{Key: key('a'), Fence: fence, Status: 204}), 200, "ok")
	if r := c.want(c.claim('b'), 409, "response-not-kept"); r.number("original_status") != 204 || r.doc["retryable"] != false {
		t.Errorf("%s", r.text)
	}

	freed := key('c')
	freed.Key = "freed"
	c.want(c.post(apitest.Consumer, api.PathClaim, api.Claim{Key: freed}), 200, "created")
	c.want(c.post(apitest.Consumer, api.PathRelease, api.Settle{Key: freed}), 200, "ok")
	c.want(c.post(apitest.Consumer, api.PathClaim, api.Claim{Key: freed}), 409, "stale")
	freed.Owner = owner('d')
	c.want(c.post(apitest.Consumer, api.PathClaim, api.Claim{Key: freed}), 200, "created")
	c.Store.Advance(2 * time.Minute)
	c.want(c.post(apitest.Consumer, api.PathClaim, api.Claim{Key: freed}), 409, "lapsed")
}

func TestIssuedKeys(t *testing.T) {
	c := start(t)
	issued := c.want(c.post(apitest.Consumer, api.PathIssue, api.Issue{Target: key('a').Target, Policy: policy()}), 200, "issued")
	k := key('a')
	k.Key, k.Policy.Issued, k.Policy.RejectRepeat = issued.doc["key"].(string), true, true
	get := api.Get{Target: k.Target, Key: k.Key, Issued: true}
	if r := c.post(apitest.Consumer, api.PathGet, get); r.doc["state"] != "issued" {
		t.Errorf("%s", r.text)
	}
	foreign := k
	foreign.Principal = "somebody else"
	c.want(c.post(apitest.Consumer, api.PathClaim, api.Claim{Key: foreign}), 403, "key-foreign")
	forged := k
	forged.Key = "ow1." + strings.Repeat("A", 76)
	c.want(c.post(apitest.Consumer, api.PathClaim, api.Claim{Key: forged}), 400, "key-not-issued")
	fence := uint64(c.want(c.post(apitest.Consumer, api.PathClaim, api.Claim{Key: k}), 200, "created").number("fence"))
	c.want(c.post(apitest.Consumer, api.PathComplete, api.Complete{Key: k, Fence: fence, Result: api.Result{Status: 200}}), 200, "ok")
	k.Owner = owner('b')
	c.want(c.post(apitest.Consumer, api.PathClaim, api.Claim{Key: k}), 409, "key-used")
}

// TestGetIsTheCallersOwn: neither another consumer nor the same one under another
// principal sees the record.
func TestGetIsTheCallersOwn(t *testing.T) {
	c := start(t)
	fence := uint64(c.want(c.claim('a'), 200, "created").number("fence"))
	get := api.Get{Target: key('a').Target, Key: secretKey, WithResult: true}
	r := c.post(apitest.Consumer, api.PathGet, get)
	if r.doc["state"] != "processing" || uint64(r.number("fence")) != fence || r.doc["name"] != nil {
		t.Errorf("%s", r.text)
	}
	if r := c.post(apitest.Other, api.PathGet, get); r.doc["state"] != "absent" {
		t.Errorf("another consumer: %s", r.text)
	}
	c.post(apitest.Consumer, api.PathComplete, api.Complete{Key: key('a'), Fence: fence, Result: api.Result{Status: 200, Body: []byte("b")}})
	r = c.post(apitest.Consumer, api.PathGet, get)
	if result, _ := r.doc["result"].(map[string]any); r.doc["state"] != "completed" || result["body"] != "Yg==" {
		t.Errorf("%s", r.text)
	}
	get.Principal = "somebody else"
	if r := c.post(apitest.Consumer, api.PathGet, get); r.doc["state"] != "absent" {
		t.Errorf("another principal: %s", r.text)
	}
}

func TestRoles(t *testing.T) {
	c := start(t)
	get := api.Get{Target: key('a').Target, Key: secretKey}
	for _, secret := range []string{"", "nobody", apitest.Operator, apitest.Consumer + "x", apitest.Consumer[1:]} {
		c.want(c.post(secret, api.PathGet, get), 401, "unauthorized")
	}
	for _, secret := range []string{"", apitest.Consumer} {
		c.want(c.post(secret, api.PathOverdue, api.Overdue{}), 401, "unauthorized")
	}
	// Each consumer where it is allowed, and nowhere else.
	mail := get
	mail.Namespace, mail.Scope = "mail", "out"
	if r := c.post(apitest.Consumer, api.PathGet, mail); r.status != 200 {
		t.Errorf("%s", r.text)
	}
	c.want(c.post(apitest.Other, api.PathGet, mail), 403, "forbidden")
	mail.Scope = "in"
	c.want(c.post(apitest.Consumer, api.PathGet, mail), 403, "forbidden")
	claim := api.Claim{Key: key('a')}
	claim.Namespace = "shop"
	c.want(c.post(apitest.Consumer, api.PathClaim, claim), 403, "forbidden")
	// The other listener has none of the paths.
	for url, secret := range map[string]string{c.Admin + api.PathGet: apitest.Consumer, c.Data + api.PathOverdue: apitest.Operator} {
		r, _ := http.NewRequest(http.MethodPost, url, strings.NewReader("{}"))
		r.Header.Set("Authorization", "Bearer "+secret)
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != 404 {
			t.Errorf("%s: %d", url, resp.StatusCode)
		}
	}
}

// TestRoleOff: without a secret for it a role's paths do not exist.
func TestRoleOff(t *testing.T) {
	b := apitest.Start(t, func(cfg *admin.Config) { cfg.Callers = nil })
	for _, url := range []string{b.Data + api.PathGet, b.Admin + api.PathOverdue} {
		r, _ := http.NewRequest(http.MethodPost, url, strings.NewReader("{}"))
		r.Header.Set("Authorization", "Bearer ")
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != 404 {
			t.Errorf("%s: %d", url, resp.StatusCode)
		}
	}
}

func TestInvalidRequests(t *testing.T) {
	c := start(t)
	claim := func(edit func(*api.Claim)) api.Claim {
		in := api.Claim{Key: key('a')}
		edit(&in)
		return in
	}
	for name, tc := range map[string]struct {
		body any
		want string
	}{
		"no object":    {"[]", "body: must be an object"},
		"cut":          {`{"namespace":"jobs"`, "form"},
		"unknown":      {`{"nonsense":1}`, "a member that this request does not have"},
		"type":         {`{"namespace":1}`, "namespace: must be a string"},
		"another case": {`{"namespace":"jobs","Key":"k"}`, "a member that this request does not have"},
		"nested case":  {`{"policy":{"TTL_ms":1}}`, "a member that this request does not have"},
		"twice":        {`{"key":"a","key":"b"}`, "a member that comes twice"},
		"twice within": {`{"policy":{"lease_ms":1,"lease_ms":2}}`, "a member that comes twice"},
		"surrogate":    {`{"key":"k\ud800"}`, "not valid Unicode"},
		"raw bytes":    {"{\"principal\":\"k\xff\"}", "not valid Unicode"},
		"nested type":  {`{"policy":{"ttl_ms":"1"}}`, "policy.ttl_ms: must be a whole number"},
		"key's type":   {`{"key":1}`, "key: must be a string"},
		"no recovery":  {claim(func(in *api.Claim) { in.Policy.Recovery = "" }), "policy.recovery"},
		"no lease":     {claim(func(in *api.Claim) { in.Policy.LeaseMS = 0 }), "lease 0ms"},
		"owner":        {claim(func(in *api.Claim) { in.Owner = in.Owner[1:] }), "owner: 23 bytes"},
		"fingerprint":  {claim(func(in *api.Claim) { in.Fingerprint = []byte("short") }), "fingerprint: 5 bytes"},
		"no key":       {claim(func(in *api.Claim) { in.Key.Key = "" }), "key: 0 bytes"},
		"principal":    {claim(func(in *api.Claim) { in.Principal = "" }), "principal: required"},
		"timeout":      {claim(func(in *api.Claim) { in.TimeoutMS = 60_001 }), "timeout_ms: 60001"},
	} {
		t.Run(name, func(t *testing.T) {
			cc := &client{t, c.Bridge, c.spec}
			a := cc.want(cc.wrong(apitest.Consumer, api.PathClaim, tc.body), 400, "invalid")
			if d, _ := a.doc["detail"].(string); !strings.Contains(d, tc.want) || strings.Contains(d, secretKey) || strings.Contains(d, "Target.") || strings.Contains(d, "Key.") {
				t.Errorf("%q, want %q", d, tc.want)
			}
		})
	}
	c.want(c.wrong(apitest.Consumer, api.PathComplete, api.Complete{Key: key('a'), Result: api.Result{Status: 99}}), 400, "invalid")
	large := claim(func(in *api.Claim) { in.Policy.Generation = strings.Repeat("x", 40_000) })
	c.want(c.wrong(apitest.Consumer, api.PathClaim, large), 413, "body-too-large")
}

// TestEdges: what is wrong beside the document.
func TestEdges(t *testing.T) {
	b := apitest.Start(t)
	document, err := json.Marshal(api.Claim{Key: key('a')})
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		method, path, kind, body string
		want                     int
	}{
		"as it should be": {"POST", api.PathClaim, "application/json; charset=utf-8", string(document), 200},
		"two documents":   {"POST", api.PathClaim, "application/json", string(document) + "{}", 400},
		"another type":    {"POST", api.PathClaim, "text/plain", string(document), 415},
		"no type":         {"POST", api.PathClaim, "", string(document), 415},
		"another method":  {"GET", api.PathClaim, "application/json", "", 405},
		"no such path":    {"POST", "/v1/keys/steal", "application/json", "{}", 404},
	} {
		t.Run(name, func(t *testing.T) {
			r, _ := http.NewRequest(tc.method, b.Data+tc.path, strings.NewReader(tc.body))
			r.Header.Set("Authorization", "bearer "+apitest.Consumer)
			if tc.kind != "" {
				r.Header.Set("Content-Type", tc.kind)
			}
			resp, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			if resp.StatusCode != tc.want {
				t.Errorf("%d, want %d", resp.StatusCode, tc.want)
			}
		})
	}
}

// TestNothingIsLogged: keys, principals, results and secrets stay out of the log.
func TestNothingIsLogged(t *testing.T) {
	c := start(t)
	fence := uint64(c.want(c.claim('a'), 200, "created").number("fence"))
	c.post(apitest.Consumer, api.PathComplete, api.Complete{Key: key('a'), Fence: fence, Result: api.Result{Status: 200, Body: []byte("the-result")}})
	c.wrong(apitest.Consumer, api.PathClaim, `{"`+secretKey+`":1}`)
	for _, s := range []string{secretKey, "billing", "the-result", "dGhlLXJlc3VsdA", apitest.Consumer} {
		if strings.Contains(c.Logs(), s) {
			t.Errorf("%q is in the log", s)
		}
	}
}
