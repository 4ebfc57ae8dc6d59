package e2e

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/oncewall/oncewall/testenv/stack"
	"github.com/oncewall/oncewall/testenv/story"
)

// TestLookup: a caller asks about its own keys, and learns nothing of others'.
func TestLookup(t *testing.T) {
	w := world(t)
	c := door(t, w.Town)
	key := w.Key("look up: this %")
	first := c.Send(t.Context(), story.Post("/orders", `"`+key+`"`))
	wantKind(t, "an order", first, "201 created")
	ask := func(path string) story.Request { return story.Post(path, "").Method("GET").Body("") }
	path := "/idempotency-keys/" + escape(key)
	a := c.Send(t.Context(), ask(path+"?scope=orders"))
	var doc struct {
		State  string
		Status int
		Kept   bool `json:"result_kept"`
		Result struct{ Body []byte }
	}
	if err := json.Unmarshal([]byte(a.Body), &doc); err != nil || a.Status != 200 {
		t.Fatalf("%v: %s", err, a)
	}
	if doc.State != "completed" || doc.Status != 201 || !doc.Kept || string(doc.Result.Body) != string(first.Body) || a.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("%+v\n%s", doc, a)
	}
	for what, r := range map[string]story.Request{
		"404 key-unknown":       ask(path + "?scope=orders").As("somebody-else"),
		"400 scope-unknown":     ask(path),
		"401 principal-missing": ask(path + "?scope=orders").As(""),
	} {
		wantKind(t, what, c.Send(t.Context(), r), what)
	}
	wantKind(t, "a key never seen", c.Send(t.Context(), ask("/idempotency-keys/never?scope=orders")), "404 key-unknown")
	if head := c.Send(t.Context(), ask(path+"?scope=orders").Method("HEAD")); head.Status != 200 || len(head.Body) != 0 {
		t.Errorf("HEAD: %s", head)
	}
	wantRuns(t, w.Town, key, 1)
}

func escape(key string) string {
	var out []byte
	for _, c := range []byte(key) {
		out = append(out, '%', "0123456789ABCDEF"[c>>4], "0123456789ABCDEF"[c&15])
	}
	return string(out)
}

// TestRename renames a rule under a running Envoy, and back. What was finished
// stays finished, and what was under way is still known to be.
func TestRename(t *testing.T) {
	t.Parallel()
	s := start(t, stack.Options{Live: true})
	use := func(edits ...string) *story.Client {
		t.Helper()
		file := filepath.Join(t.TempDir(), "rules.json")
		write(t, file, shopRules(t, edits...))
		if err := s.SetRules(t.Context(), 0, file); err != nil {
			t.Fatal(err)
		}
		return client(t, s.Gateway(0), story.HTTP1)
	}
	c := client(t, s.Gateway(0), story.HTTP1)
	wantKind(t, "an order", c.Send(t.Context(), story.Post("/orders", "one")), "201 created")
	slow := story.Post("/orders", "slow").With("x-shop-delay", "4s")
	answered := make(chan story.Answer, 1)
	go func() { answered <- c.Send(t.Context(), slow) }()
	eventually(t, "the slow order is claimed", 20*time.Second, func() bool {
		a := c.Send(t.Context(), story.Post("/idempotency-keys/slow?scope=orders", "").Method("GET").Body(""))
		return strings.Contains(string(a.Body), `"state":"processing"`)
	})

	renamed := use(`"name": "orders"`, `"name": "purchases", "previous_scopes": ["orders"]`)
	look := story.Post("/idempotency-keys/none?scope=purchases", "").Method("GET").Body("")
	eventually(t, "the new name in force", 60*time.Second, func() bool {
		renamed.Close()
		return renamed.Send(t.Context(), look).Kind() == "404 key-unknown"
	})
	if a := renamed.Send(t.Context(), slow); a.Kind() != "409 in-flight" && a.Kind() != "201 replayed" {
		t.Errorf("the slow order under the new name: %s", a)
	}
	wantKind(t, "a retry under the new name", renamed.Send(t.Context(), story.Post("/orders", "one")), "201 replayed")
	wantKind(t, "a new order under the new name", renamed.Send(t.Context(), story.Post("/orders", "two")), "201 created")
	wantKind(t, "the slow order", <-answered, "201 created")
	wantKind(t, "its retry under the new name", renamed.Send(t.Context(), slow), "201 replayed")

	// Back, as if nothing had been.
	back := use()
	eventually(t, "the old name in force", 60*time.Second, func() bool {
		back.Close()
		return back.Send(t.Context(), look).Kind() == "400 scope-unknown"
	})
	for _, key := range []string{"one", "two", "slow"} {
		wantKind(t, key+" under the old name", back.Send(t.Context(), story.Post("/orders", key)), "201 replayed")
		wantRuns(t, s, key, 1)
	}
}
