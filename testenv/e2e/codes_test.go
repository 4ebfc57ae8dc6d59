package e2e

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/oncewall/oncewall/testenv/stack"
	"github.com/oncewall/oncewall/testenv/story"
)

// answers makes one answer of each code that needs no fault, on a fresh key.
type answers struct {
	t *testing.T
	w *story.World
	c *story.Client
}

func (a answers) send(r story.Request) story.Answer { return a.c.Send(a.t.Context(), r) }

func (a answers) done(path string) story.Request {
	r := story.Post(path, a.w.Key("code"))
	a.send(r)
	return r
}

func (a answers) issued(c *story.Client, scope string) story.Request {
	a.t.Helper()
	r, _ := a.issuedUntil(c, scope)
	return r
}

// issuedUntil returns a checkout with an issued key, and the key's end.
func (a answers) issuedUntil(c *story.Client, scope string) (story.Request, time.Time) {
	a.t.Helper()
	got := c.Send(a.t.Context(), story.Post("/idempotency-keys", "").Body(`{"scope":"`+scope+`"}`))
	wantKind(a.t, "issue", got, "201 issued")
	var k struct {
		Key       string
		ExpiresAt time.Time `json:"expires_at"`
	}
	if err := json.Unmarshal(got.Body, &k); err != nil || k.Key == "" {
		a.t.Fatalf("no key in %s", got)
	}
	return story.Post("/checkout", k.Key), k.ExpiresAt
}

func (a answers) inFlight() story.Answer {
	r := story.Post("/orders", a.w.Key("code"))
	for _, x := range a.c.SendAll(a.t.Context(), 2, r.With("x-shop-delay", "300ms")) {
		if x.Status == 409 {
			return x
		}
	}
	return story.Answer{}
}

func (a answers) unknown() story.Answer {
	r := story.Post("/uploads", a.w.Key("code"))
	a.send(r.With("x-shop-fault", "close-after"))
	return a.send(r)
}

func (a answers) keyUsed() story.Answer {
	r := a.issued(a.c, "checkout")
	a.send(r)
	return a.send(r)
}

func (a answers) expired() story.Answer {
	mesh := door(a.t, a.w.Mesh)
	r, end := a.issuedUntil(mesh, "checkout")
	// The end is told in whole seconds, rounded down.
	eventually(a.t, "the key's end", 20*time.Second, func() bool { return time.Now().After(end.Add(time.Second)) })
	return mesh.Send(a.t.Context(), r)
}

// TestCodes looks at every code that a client can meet: status, problem document
// and headers.
func TestCodes(t *testing.T) {
	w := world(t)
	c := door(t, w.Town)
	order := func() story.Request { return story.Post("/orders", w.Key("code")) }
	for _, v := range []struct {
		kind      string
		get       func(answers) story.Answer
		retryable bool
		wait      bool // Retry-After is there
		parts     []string
		original  int
	}{
		{kind: "409 in-flight", get: answers.inFlight, retryable: true, wait: true},
		{kind: "422 key-reused", get: func(a answers) story.Answer { return a.send(a.done("/orders").Body("{}")) }, parts: []string{"body"}},
		{kind: "422 key-reused", get: func(a answers) story.Answer { return a.send(a.done("/orders").Method("PUT")) }, parts: []string{"method"}},
		{kind: "400 key-missing", get: func(a answers) story.Answer { return a.send(story.Post("/orders", "")) }},
		{kind: "400 key-missing", get: func(a answers) story.Answer { return a.send(story.Post("/transfers", "").Body(`{"amount":1}`)) }},
		{kind: "400 key-invalid", get: func(a answers) story.Answer { return a.send(order().Key("a b")) }},
		{kind: "400 key-invalid", get: func(a answers) story.Answer {
			return a.send(story.Post("/transfers", "").Body(`{"transfer_id":"a","transfer_id":"b"}`))
		}},
		{kind: "401 principal-missing", get: func(a answers) story.Answer { return a.send(order().As("")) }},
		{kind: "400 key-not-issued", get: func(a answers) story.Answer { return a.send(story.Post("/checkout", "made-up")) }},
		{kind: "403 key-foreign", get: func(a answers) story.Answer { return a.send(a.issued(a.c, "checkout").As("eve")) }},
		{kind: "410 key-expired", get: answers.expired},
		{kind: "409 key-used", get: answers.keyUsed, original: 201},
		{kind: "409 outcome-unknown", get: answers.unknown, retryable: true, wait: true},
		{kind: "409 response-not-kept", get: func(a answers) story.Answer {
			r := order().With("x-shop-body-bytes", "300000")
			a.send(r)
			return a.send(r)
		}, original: 201},
		{kind: "413 too-large", get: func(a answers) story.Answer { return a.send(order().Body(strings.Repeat("x", 1<<20+1))) }},
		{kind: "400 scope-unknown", get: func(a answers) story.Answer {
			return a.send(story.Post("/idempotency-keys", "").Body(`{"scope":"orders"}`))
		}},
		{kind: "500 misconfigured", get: func(a answers) story.Answer { return a.send(order().With("x-oncewall-debug", "trap")) }, retryable: true},
	} {
		t.Run(v.kind, func(t *testing.T) {
			got := v.get(answers{t, w, c})
			wantKind(t, "answer", got, v.kind)
			wantProblem(t, got, v.retryable, v.wait)
			p := got.Problem()
			if !slices.Equal(p.Parts, v.parts) || p.OriginalStatus != v.original {
				t.Errorf("parts %q, original_status %d; want %q, %d", p.Parts, p.OriginalStatus, v.parts, v.original)
			}
		})
	}
	t.Run("503 unavailable", func(t *testing.T) {
		if err := w.Mesh.Kill(stack.BridgePart(0)); err != nil {
			t.Fatal(err)
		}
		got := door(t, w.Mesh).Send(t.Context(), order())
		if err := w.Mesh.StartPart(t.Context(), stack.BridgePart(0)); err != nil {
			t.Fatal(err)
		}
		wantKind(t, "answer", got, "503 unavailable")
		wantProblem(t, got, true, true)
	})
	t.Run("a refused key is not consumed", func(t *testing.T) {
		a := answers{t, w, c}
		r := order()
		wantKind(t, "too large", a.send(r.Body(strings.Repeat("x", 1<<20+1))), "413 too-large")
		wantKind(t, "of a fitting size", a.send(r), "201 created")
		issued := a.issued(a.c, "checkout")
		wantKind(t, "foreign", a.send(issued.As("eve")), "403 key-foreign")
		wantKind(t, "its owner's", a.send(issued), "201 created")
	})
}

// problemBase is where the pages of the problem types are.
const problemBase = "https://github.com/oncewall/oncewall/blob/main/docs/problems/"

// wantProblem checks what all problem documents have in common.
func wantProblem(t *testing.T, a story.Answer, retryable, wait bool) {
	t.Helper()
	p := a.Problem()
	status, code, _ := strings.Cut(a.Kind(), " ")
	if p.Type != problemBase+code+".md" || p.Code != code || strconv.Itoa(p.Status) != status || p.Title == "" || p.Detail == "" {
		t.Errorf("problem document: %+v", p)
	}
	if p.Retryable == nil || *p.Retryable != retryable {
		t.Errorf("retryable must be %t: %s", retryable, a.Body)
	}
	after, err := strconv.Atoi(a.Header.Get("Retry-After"))
	if wait && (err != nil || after < 1 || after > 30) || !wait && a.Header.Get("Retry-After") != "" {
		t.Errorf("Retry-After %q, wanted: %t", a.Header.Get("Retry-After"), wait)
	}
	if a.Header.Get("Cache-Control") != "no-store" || a.Header.Get("Idempotent-Replayed") != "" {
		t.Errorf("headers: %v", a.Header)
	}
}

// TestWhatTheBackendSees: what a client sends in our names is removed, and what
// the gateway says is there.
func TestWhatTheBackendSees(t *testing.T) {
	w := world(t)
	c := door(t, w.Town)
	key := w.Key("headers")
	r := story.Post("/orders", key)
	for _, name := range []string{"idempotency-fence", "idempotency-attempt", "idempotency-gateway", "idempotency-status", "idempotency-outcome"} {
		r = r.With(name, "forged")
	}
	wantKind(t, "answer", c.Send(t.Context(), r), "201 created")
	x, err := story.Shop{Addr: w.Town.Shop()}.Executions(t.Context(), key)
	if err != nil || x.Count != 1 {
		t.Fatalf("%+v, %v", x, err)
	}
	h := x.Requests[0].Headers
	for name, want := range map[string]string{"idempotency-attempt": "1", "idempotency-gateway": "edge", "idempotency-key": key} {
		if !slices.Equal(h[name], []string{want}) {
			t.Errorf("%s: %q, want %q alone", name, h[name], want)
		}
	}
	if fence := h["idempotency-fence"]; len(fence) != 1 || fence[0] == "forged" {
		t.Errorf("idempotency-fence: %q", fence)
	}
	if h["idempotency-status"] != nil || h["idempotency-outcome"] != nil {
		t.Errorf("status %q, outcome %q: want none", h["idempotency-status"], h["idempotency-outcome"])
	}
}
