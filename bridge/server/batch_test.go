package server

import (
	"bytes"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oncewall/oncewall/bridge/naming"
	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/filter/wire"
)

func codes(results []wire.Result) []wire.Code {
	var out []wire.Code
	for _, r := range results {
		out = append(out, r.Code)
	}
	return out
}

func expect(t *testing.T, got []wire.Result, want ...wire.Code) {
	t.Helper()
	if !slices.Equal(codes(got), want) {
		t.Fatalf("codes %v, want %v (%+v)", codes(got), want, got)
	}
}

// TestLifeOfAKey goes once through a record's life over both protocols.
func TestLifeOfAKey(t *testing.T) {
	for name, h2c := range map[string]bool{"http1": false, "h2c": true} {
		t.Run(name, func(t *testing.T) {
			b := start(t, embedded(t))
			b.client = client(h2c)

			first := b.send(testPolicy(), testOp(wire.Claim, 1))
			expect(t, first, wire.Created)
			if first[0].Fence == 0 || first[0].Attempt != 1 || first[0].LeaseMS <= 0 {
				t.Errorf("grant: %+v", first[0])
			}
			expect(t, b.send(testPolicy(), testOp(wire.Claim, 2)), wire.InFlight)

			done := testOp(wire.Complete, 1)
			done.Fence = first[0].Fence
			expect(t, b.send(testPolicy(), done), wire.OK)
			again := b.send(testPolicy(), testOp(wire.Claim, 2))
			expect(t, again, wire.Replayed)
			if !bytes.Equal(again[0].Result, testResult()) || again[0].Status != 201 || again[0].RemainingMS <= 0 {
				t.Errorf("replay: %+v", again[0])
			}

			other := testOp(wire.Claim, 3)
			other.Fingerprint = testFingerprint(2)
			reused := b.send(testPolicy(), other)
			expect(t, reused, wire.KeyReused)
			if !bytes.Equal(reused[0].Differs, []byte{byte(wire.PartBody)}) {
				t.Errorf("differs: %v", reused[0].Differs)
			}

			for what, edit := range map[string]func(*wire.Operation){
				"principal": func(op *wire.Operation) { op.Principal = "header:user-18" },
				"scope":     func(op *wire.Operation) { op.Scope = "orders" },
			} {
				op := testOp(wire.Claim, 4)
				edit(&op)
				if got := b.send(testPolicy(), op); got[0].Code != wire.Created {
					t.Errorf("another %s: code %d", what, got[0].Code)
				}
			}
		})
	}
}

func TestIssuedKeys(t *testing.T) {
	// With a previous secret the records of issued keys and of client keys are
	// named under different ones.
	ring, err := naming.NewRing(
		naming.Secret{ID: "new", Bytes: bytes.Repeat([]byte{8}, naming.MinSecretBytes)},
		naming.Secret{ID: "old", Bytes: bytes.Repeat([]byte{7}, naming.MinSecretBytes)})
	if err != nil {
		t.Fatal(err)
	}
	b := start(t, embedded(t), func(c *Config) { c.IssueLife, c.Keys = time.Minute, ring })
	policy := testPolicy()
	policy.Issued = true

	issued := b.send(policy, testOp(wire.Issue, 0))
	expect(t, issued, wire.Issued)
	life := time.Until(time.UnixMilli(issued[0].ExpiresAtMS))
	if life <= 50*time.Second || life > time.Minute {
		t.Errorf("life %s, want a minute", life)
	}
	claim := func(edit func(*wire.Operation)) []wire.Result {
		op := testOp(wire.Claim, 1)
		op.Key = issued[0].Key
		edit(&op)
		return b.send(policy, op)
	}
	expect(t, claim(func(op *wire.Operation) { op.Key = "key-4711" }), wire.KeyNotIssued)
	expect(t, claim(func(op *wire.Operation) { op.Principal = "header:user-18" }), wire.KeyForeign)
	expect(t, claim(func(op *wire.Operation) { op.Scope = "orders" }), wire.KeyForeign)
	// The refusals consumed nothing.
	granted := claim(func(*wire.Operation) {})
	expect(t, granted, wire.Created)

	done := testOp(wire.Complete, 1)
	done.Key, done.Fence = issued[0].Key, granted[0].Fence
	expect(t, b.send(policy, done), wire.OK)
	policy.RejectRepeat = true
	expect(t, claim(func(op *wire.Operation) { op.Owner[0] = 9 }), wire.KeyUsed)
}

// TestForgedKeyCostsNoStoreCall holds for every operation; none of them may make
// a record for a key that nobody issued.
func TestForgedKeyCostsNoStoreCall(t *testing.T) {
	st := &stub{do: nil} // a call panics
	b := start(t, st)
	policy := testPolicy()
	policy.Issued = true
	expect(t, b.send(policy, testOp(wire.Claim, 1), testOp(wire.Executed, 1), testOp(wire.Complete, 1),
		testOp(wire.Release, 1), testOp(wire.Unknown, 1), testOp(wire.Renew, 1)),
		wire.KeyNotIssued, wire.Invalid, wire.Invalid, wire.OK, wire.Invalid, wire.Invalid)
	if logs := b.logs.String(); strings.Contains(logs, "panicked") {
		t.Errorf("the store was called: %s", logs)
	}
}

// TestExpiryIsTheStoresWord: a finished key replays after its own expiry.
func TestExpiryIsTheStoresWord(t *testing.T) {
	b := start(t, answering(store.Reply{Code: wire.KeyUsed, Status: 201}))
	policy := testPolicy()
	policy.Issued = true
	op := testOp(wire.Claim, 1)
	op.Key = b.cfg.Keys.Issuer(time.Now()).Issue("edge", op.Scope, op.Principal, time.Now().Add(-time.Hour))
	expect(t, b.send(policy, op), wire.KeyUsed)
}

func TestClockOffsetDatesIssuedKeys(t *testing.T) {
	b := start(t, answering(store.Reply{Code: wire.OK}), func(c *Config) { c.ClockOffset = -24 * time.Hour })
	got := b.send(testPolicy(), testOp(wire.Issue, 0))
	expect(t, got, wire.Issued)
	if !time.UnixMilli(got[0].ExpiresAtMS).Before(time.Now().Add(-23 * time.Hour)) {
		t.Errorf("expires %s", time.UnixMilli(got[0].ExpiresAtMS))
	}
}

func TestUnreadableEnvelopeIsNotKept(t *testing.T) {
	for name, envelope := range map[string][]byte{
		"nothing":          nil,
		"unknown version":  {9, 0, 0, 1, 2},
		"sealed":           {1, byte(wire.SealAES256GCM), 0, wire.ResponseVersion, 2},
		"no response":      {1, 0, 0},
		"foreign response": {1, 0, 0, 99, 1},
	} {
		t.Run(name, func(t *testing.T) {
			b := start(t, answering(store.Reply{Code: wire.Replayed, Status: 201, Result: envelope, Age: time.Second}))
			got := b.send(testPolicy(), testOp(wire.Claim, 1))
			expect(t, got, wire.ResponseNotKept)
			if got[0].Status != 201 || got[0].AgeMS != 1000 || got[0].Result != nil {
				t.Errorf("%+v", got[0])
			}
		})
	}
}

// TestTimesAreRoundedSafely: a wait up, a life down.
func TestTimesAreRoundedSafely(t *testing.T) {
	odd := 1500*time.Millisecond + time.Microsecond
	got := new(Server).answer(&store.Operation{}, &store.Reply{Code: wire.InFlight, RetryAfter: odd, Lease: odd, Remaining: odd})
	if got.RetryAfterMS != 1501 || got.LeaseMS != 1500 || got.RemainingMS != 1500 {
		t.Errorf("%+v", got)
	}
}

func TestRefusals(t *testing.T) {
	b := start(t, answering(store.Reply{Code: wire.OK}), func(c *Config) { c.MaxBatchBytes = 1000 })
	good := encode(t, &wire.Batch{Namespace: "edge"})
	header := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	chunked := func(r *http.Request) { r.ContentLength = -1 }
	for name, tc := range map[string]struct {
		body   []byte
		edit   func(*http.Request)
		status int
		say    string
	}{
		"good":              {good, func(*http.Request) {}, 200, ""},
		"scheme's case":     {good, header("Authorization", "bearer "+testSecret), 200, ""},
		"path":              {good, func(r *http.Request) { r.URL.Path = "/v2/batch" }, 404, "no such path"},
		"method":            {good, func(r *http.Request) { r.Method = http.MethodPut }, 405, "method"},
		"no secret":         {good, func(r *http.Request) { r.Header.Del("Authorization") }, 401, "not authorized"},
		"wrong secret":      {good, header("Authorization", "Bearer "+testSecret+"x"), 401, "not authorized"},
		"secret's prefix":   {good, header("Authorization", "Bearer "+testSecret[:10]), 401, "not authorized"},
		"no scheme":         {good, header("Authorization", testSecret), 401, "not authorized"},
		"two secrets":       {good, func(r *http.Request) { r.Header.Add("Authorization", "Bearer "+testSecret) }, 401, "not authorized"},
		"content type":      {good, header("Content-Type", "application/json"), 415, wire.ContentType},
		"too large":         {make([]byte, 1001), func(*http.Request) {}, 413, "max_batch_bytes is 1000"},
		"too large chunked": {make([]byte, 1001), chunked, 413, "max_batch_bytes is 1000"},
		"empty":             {nil, func(*http.Request) {}, 400, "not a batch"},
		"version":           {append([]byte{9}, good[1:]...), func(*http.Request) {}, 400, `"versions":[1,2]`},
		"trailing":          {append(slices.Clone(good), 0), func(*http.Request) {}, 400, "not a batch"},
		"cut":               {good[:len(good)-1], func(*http.Request) {}, 400, "not a batch"},
	} {
		t.Run(name, func(t *testing.T) {
			resp, body := b.post(tc.body, tc.edit)
			if resp.StatusCode != tc.status || !strings.Contains(string(body), tc.say) {
				t.Fatalf("status %d, body %s; want %d, %q", resp.StatusCode, body, tc.status, tc.say)
			}
			if got := resp.Header.Get("Content-Type"); tc.status != 200 && got != "application/problem+json" {
				t.Errorf("content type %q", got)
			}
		})
	}
}

func TestPreviousSecretIsAccepted(t *testing.T) {
	b := start(t, answering(store.Reply{Code: wire.OK}), func(c *Config) {
		c.Secrets = [][]byte{[]byte("the-new-one"), []byte(testSecret)}
	})
	expect(t, b.send(testPolicy(), testOp(wire.Renew, 1)), wire.OK)
}

// TestInvalidOperations: each is refused for its own fault, and its neighbour is
// served.
func TestInvalidOperations(t *testing.T) {
	b := start(t, answering(store.Reply{Code: wire.OK}))
	for name, tc := range map[string]struct {
		kind   wire.Kind
		op     func(*wire.Operation)
		policy func(*wire.Policy)
		text   string
	}{
		"kind 0":            {op: func(op *wire.Operation) { op.Kind = 0 }, text: "kind 0"},
		"kind 8":            {op: func(op *wire.Operation) { op.Kind = 8 }, text: "kind 8"},
		"no such policy":    {op: func(op *wire.Operation) { op.Policy = 2 }, text: "policy 2"},
		"budget":            {op: func(op *wire.Operation) { op.BudgetMS = 0 }, text: "budget 0ms"},
		"no scope":          {op: func(op *wire.Operation) { op.Scope = "" }, text: "scope: 0 bytes"},
		"long scope":        {op: func(op *wire.Operation) { op.Scope = strings.Repeat("s", 129) }, text: "scope: 129 bytes"},
		"no principal":      {op: func(op *wire.Operation) { op.Principal = "" }, text: "principal: 0 bytes"},
		"long principal":    {op: func(op *wire.Operation) { op.Principal = strings.Repeat("p", 4097) }, text: "principal: 4097 bytes"},
		"no key":            {op: func(op *wire.Operation) { op.Key = "" }, text: "key: 0 bytes"},
		"long key":          {op: func(op *wire.Operation) { op.Key = strings.Repeat("k", 1025) }, text: "key: 1025 bytes"},
		"short owner":       {op: func(op *wire.Operation) { op.Owner = op.Owner[1:] }, text: "owner: 23 bytes"},
		"fence":             {op: func(op *wire.Operation) { op.Fence = 1<<53 + 1 }, text: "fence"},
		"fp version":        {op: func(op *wire.Operation) { op.Fingerprint[0] = 3 }, text: "fingerprint: version 3"},
		"fp form":           {op: func(op *wire.Operation) { op.Fingerprint = op.Fingerprint[:40] }, text: "fingerprint: not in the form"},
		"fp long":           {op: func(op *wire.Operation) { op.Fingerprint = make([]byte, 1025) }, text: "fingerprint: 1025 bytes"},
		"executed status":   {kind: wire.Executed, op: func(op *wire.Operation) { op.Status = 100 }, text: "status 100"},
		"complete switched": {kind: wire.Complete, op: func(op *wire.Operation) { op.Status = 101 }, text: "status 101"},
		"complete status":   {kind: wire.Complete, op: func(op *wire.Operation) { op.Status = 1000 }, text: "status 1000"},
		"no result":         {kind: wire.Complete, op: func(op *wire.Operation) { op.Result = nil }, text: "result"},
		"foreign result":    {kind: wire.Complete, op: func(op *wire.Operation) { op.Result[0] = 9 }, text: "result"},
		"lease 0":           {policy: func(p *wire.Policy) { p.LeaseMS = 0 }, text: "policy lease 0ms"},
		"lease":             {policy: func(p *wire.Policy) { p.LeaseMS = 1 << 62 }, text: "max_lease"},
		"ttl 0":             {policy: func(p *wire.Policy) { p.TTLMS = 0 }, text: "policy ttl 0ms"},
		"ttl":               {policy: func(p *wire.Policy) { p.TTLMS = 721 * 3600 * 1000 }, text: "max_ttl"},
		"tombstone":         {policy: func(p *wire.Policy) { p.TombstoneMS = 8761 * 3600 * 1000 }, text: "max_tombstone_ttl"},
		"attempts 0":        {policy: func(p *wire.Policy) { p.MaxAttempts = 0 }, text: "max_attempts 0"},
		"attempts":          {policy: func(p *wire.Policy) { p.MaxAttempts = 101 }, text: "max_attempts 101"},
		"replicas":          {policy: func(p *wire.Policy) { p.Replicas = 6 }, text: "policy replicas 6: must be 0 to 5"},
		"recovery":          {policy: func(p *wire.Policy) { p.Recovery = 4 }, text: "recovery 4"},
		"policy generation": {policy: func(p *wire.Policy) { p.Generation = strings.Repeat("g", 129) }, text: "generation: 129 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			kind := max(tc.kind, wire.Claim)
			bad, policy := testOp(kind, 1), testPolicy()
			bad.Policy = 1
			if tc.op != nil {
				tc.op(&bad)
			}
			if tc.policy != nil {
				tc.policy(&policy)
			}
			got := b.sendBatch(&wire.Batch{
				Namespace: "edge",
				Policies:  []wire.Policy{testPolicy(), policy},
				Ops:       []wire.Operation{testOp(wire.Claim, 1), bad, testOp(kind, 2)},
			})
			expect(t, got, wire.OK, wire.Invalid, wire.OK)
			if !strings.Contains(got[1].Text, tc.text) {
				t.Errorf("text %q, want %q", got[1].Text, tc.text)
			}
		})
	}
	for _, namespace := range []string{"", strings.Repeat("n", 129)} {
		got := b.sendBatch(&wire.Batch{Namespace: namespace, Policies: []wire.Policy{testPolicy()},
			Ops: []wire.Operation{testOp(wire.Claim, 1)}})
		expect(t, got, wire.Invalid)
	}
}

// TestNothingOfARequestIsLogged runs through answers and faults with every log
// level on, and looks for what was sent.
func TestNothingOfARequestIsLogged(t *testing.T) {
	for name, st := range map[string]store.Store{
		"ok":          answering(store.Reply{Code: wire.Created}),
		"unavailable": answering(store.Reply{Err: store.ErrUnavailable}),
		"panic":       &stub{},
		"replayed":    embedded(t),
	} {
		b := start(t, st)
		bad := testOp(wire.Claim, 1)
		bad.Key = strings.Repeat("key-4711", 200)
		b.send(testPolicy(), testOp(wire.Claim, 1), testOp(wire.Complete, 1), bad)
		repeat, reused := testOp(wire.Claim, 2), testOp(wire.Claim, 3)
		repeat.Trace, reused.Fingerprint = "key-4711", testFingerprint(2)
		b.send(testPolicy(), repeat, reused)
		b.post([]byte("key-4711"))
		if name == "replayed" && (!strings.Contains(b.logs.String(), `"msg":"replayed"`) || !strings.Contains(b.logs.String(), `"code":"key-reused"`)) {
			t.Error("no lines about a replay and a refusal")
		}
		_, metrics := b.get("/metrics")
		for _, secret := range []string{"key-4711", "user-17", "ord-1", testSecret} {
			if strings.Contains(b.logs.String(), secret) || strings.Contains(metrics, secret) {
				t.Errorf("%s: %q is in a log or a metric", name, secret)
			}
		}
	}
}
