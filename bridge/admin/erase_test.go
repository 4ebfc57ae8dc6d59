package admin_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/oncewall/oncewall/client/api"
	"github.com/oncewall/oncewall/testenv/apitest"
)

// done completes the key of the owner with a result.
func (c *client) done(letter byte) {
	c.Helper()
	fence := uint64(c.want(c.claim(letter), 200, "created").number("fence"))
	c.want(c.post(apitest.Consumer, api.PathComplete, api.Complete{Key: key(letter), Fence: fence,
		Result: api.Result{Status: 201, Body: []byte("her secret")}}), 200, "ok")
}

func (c *client) erase(e api.Erase) *answer {
	c.Helper()
	e.Reason = "she asked for it"
	return c.post(apitest.Operator, api.PathErase, e)
}

// TestEraseByKey: the content goes, the key stays known; or all of it goes.
func TestEraseByKey(t *testing.T) {
	c := start(t)
	c.done('a')
	c.want(c.claim('b'), 200, "replayed")
	erased := c.want(c.erase(api.Erase{Subject: subject()}), 200, "erased")
	if ms := erased.number("memories_end_ms"); ms < 30_000 || ms > 60_000 {
		t.Errorf("memories end in %d ms", ms)
	}
	c.want(c.claim('b'), 410, "key-expired")
	c.want(c.claim('a'), 410, "key-expired")
	after := c.record()
	if after.Result != nil || after.ResultKept || after.RemainingMS > 0 || len(after.Audit) != 1 || after.Audit[0].Action != "erase" || after.Audit[0].Before != "completed" {
		t.Errorf("%+v", after)
	}
	if after.State != "erased" || after.Status != 0 || after.RemainingMS != 0 {
		t.Errorf("an erased record is told as %+v", after)
	}
	c.want(c.post(apitest.Consumer, api.PathComplete, api.Complete{Key: key('b'), Fence: 7, Result: api.Result{Status: 200, Body: []byte("late")}}), 409, "stale")
	c.want(c.erase(api.Erase{Subject: subject()}), 200, "erased")
	// For as long as the record would have lived, and no longer.
	c.Store.Advance(59 * time.Minute)
	c.want(c.claim('b'), 410, "key-expired")
	c.want(c.erase(api.Erase{Subject: subject(), Forget: true}), 200, "erased")
	c.want(c.claim('b'), 200, "created")
	if strings.Contains(c.Logs(), secretKey) || !strings.Contains(c.Logs(), `"action":"forget"`) {
		t.Errorf("the log lacks the decision or holds the key: %s", c.Logs())
	}
}

func TestEraseUnresolved(t *testing.T) {
	c := start(t)
	fence := c.stuck()
	refusal := c.want(c.erase(api.Erase{Subject: subject()}), 409, "unresolved")
	if met, _ := refusal.doc["record"].(map[string]any); met["state"] != "unknown" {
		t.Errorf("%s", refusal.text)
	}
	if r := c.record(); r.State != "unknown" || r.Fence != fence {
		t.Errorf("%+v", r)
	}
	c.want(c.erase(api.Erase{Subject: subject(), Force: true}), 200, "erased")
	c.want(c.claim('b'), 410, "key-expired")
	listed := c.post(apitest.Operator, api.PathOverdue, api.Overdue{})
	if !strings.Contains(listed.text, `"records":[]`) {
		t.Errorf("an erased record is overdue: %s", listed.text)
	}
	none := subject()
	none.Key = "no such key"
	c.want(c.erase(api.Erase{Subject: none}), 200, "nothing")
}

// TestEraseByPrincipal: every scope of one principal in one namespace, and nobody
// else's.
func TestEraseByPrincipal(t *testing.T) {
	c := start(t)
	for i := range 30 {
		for _, who := range []string{"ann", "bob"} {
			k := key('a')
			k.Key, k.Principal, k.Scope = fmt.Sprint("job ", i), who, []string{"invoices", "mails"}[i%2]
			claimed := c.want(c.post(apitest.Consumer, api.PathClaim, api.Claim{Key: k}), 200, "created")
			if i%10 == 0 {
				continue // unresolved
			}
			c.want(c.post(apitest.Consumer, api.PathComplete, api.Complete{Key: k, Fence: uint64(claimed.number("fence")),
				Result: api.Result{Status: 201}}), 200, "ok")
		}
	}
	by := api.EraseBy{Namespace: "jobs", Principal: api.Principal{Kind: "api", Issuer: "worker", Value: "ann"}, Reason: "she left"}
	run := func(edit func(*api.EraseBy)) (total api.ErasedBy) {
		t.Helper()
		in := by
		edit(&in)
		for {
			a := c.post(apitest.Operator, api.PathEraseBy, in)
			var part api.ErasedBy
			if err := json.Unmarshal([]byte(a.text), &part); err != nil || a.status != 200 {
				t.Fatalf("%d %v: %s", a.status, err, a.text)
			}
			total.Examined += part.Examined
			total.Found += part.Found
			total.Erased += part.Erased
			total.Unresolved += part.Unresolved
			if in.Cursor = part.Next; in.Cursor == "" {
				return total
			}
		}
	}
	for _, step := range []struct {
		name                             string
		edit                             func(*api.EraseBy)
		examined, found, erased, notable int
	}{
		{"only counted", func(e *api.EraseBy) { e.DryRun = true }, 60, 30, 0, 0},
		{"erased", func(*api.EraseBy) {}, 60, 30, 27, 3},
		{"again", func(*api.EraseBy) {}, 60, 3, 0, 3},
		{"by force", func(e *api.EraseBy) { e.Force = true }, 60, 3, 3, 0},
		{"nothing is left", func(*api.EraseBy) {}, 60, 0, 0, 0},
		{"of another namespace", func(e *api.EraseBy) { e.Namespace = "mail" }, 60, 0, 0, 0},
		{"bob's", func(e *api.EraseBy) { e.Principal.Value, e.Forget, e.Force = "bob", true, true }, 60, 30, 30, 0},
		{"forgotten", func(*api.EraseBy) {}, 30, 0, 0, 0},
	} {
		if got := run(step.edit); got.Examined != step.examined || got.Found != step.found || got.Erased != step.erased || got.Unresolved != step.notable {
			t.Errorf("%s: %+v, want %d examined, %d found, %d erased, %d unresolved", step.name, got, step.examined, step.found, step.erased, step.notable)
		}
	}
	c.want(c.wrong(apitest.Operator, api.PathEraseBy, api.EraseBy{Namespace: "jobs", Principal: by.Principal}), 400, "invalid")
	by.Rate = 1
	c.want(c.wrong(apitest.Operator, api.PathEraseBy, by), 400, "invalid")
	by.Rate, by.Cursor = 0, "nonsense"
	c.want(c.post(apitest.Operator, api.PathEraseBy, by), 400, "invalid")
}
