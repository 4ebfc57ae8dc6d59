package admin_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/oncewall/oncewall/client/api"
	"github.com/oncewall/oncewall/testenv/apitest"
)

func subject() api.Subject {
	return api.Subject{
		Namespace: "jobs", Scope: "invoices", Key: secretKey,
		Principal: &api.Principal{Kind: "api", Issuer: "worker", Value: "billing"},
	}
}

// stuck leaves an UNKNOWN record whose lease is over.
func (c *client) stuck() (fence uint64) {
	c.Helper()
	fence = uint64(c.want(c.claim('a'), 200, "created").number("fence"))
	c.want(c.post(apitest.Consumer, api.PathUnknown, api.Settle{Key: key('a'), Fence: fence}), 200, "ok")
	c.Store.Advance(2 * time.Minute)
	return fence
}

func (c *client) record() api.Record {
	c.Helper()
	a := c.post(apitest.Operator, api.PathRecord, api.GetRecord{Subject: subject(), WithResult: true})
	var r api.Record
	if err := json.Unmarshal([]byte(a.text), &r); err != nil || a.status != 200 {
		c.Fatalf("%d %v: %s", a.status, err, a.text)
	}
	return r
}

func TestOverdueAndResolve(t *testing.T) {
	c := start(t)
	fence := c.stuck()
	listed := c.post(apitest.Operator, api.PathOverdue, api.Overdue{Limit: 500})
	var page api.OverduePage
	if err := json.Unmarshal([]byte(listed.text), &page); err != nil || len(page.Records) != 1 || page.Next != "" {
		t.Fatalf("%v: %s", err, listed.text)
	}
	r := page.Records[0]
	if r.State != "unknown" || r.Fence != fence || !r.LeaseOver || r.LeaseMS > -50_000 || r.Policy.Recovery != "hold" {
		t.Errorf("%+v", r)
	}
	if since, err := time.Parse(time.RFC3339, r.OverdueSince); err != nil || time.Since(since) < 50*time.Second || time.Since(since) > 10*time.Minute {
		t.Errorf("overdue since %q", r.OverdueSince)
	}
	if r.Why != "hold" {
		t.Errorf("why %q", r.Why)
	}
	if by := c.record(); by.Name != r.Name || by.Fence != fence {
		t.Errorf("by its parts: %+v", by)
	}
	decision := api.Resolve{
		Subject: api.Subject{Name: r.Name}, Fence: fence, Action: "complete", Reason: "seen in the ledger of the bank",
		Result: &api.Result{Status: 201, Body: []byte("told")}, Decision: owner('z'),
	}
	old := decision
	old.Fence--
	refusal := c.want(c.post(apitest.Operator, api.PathResolve, old), 409, "conflict")
	if met, _ := refusal.doc["record"].(map[string]any); met["state"] != "unknown" {
		t.Errorf("%s", refusal.text)
	}
	for range 2 { // a lost answer costs nothing
		resolved := c.want(c.post(apitest.Operator, api.PathResolve, decision), 200, "resolved")
		if after, _ := resolved.doc["after"].(map[string]any); after["state"] != "completed" {
			t.Errorf("%s", resolved.text)
		}
	}
	if replay := c.want(c.claim('b'), 200, "replayed"); !strings.Contains(replay.text, "dG9sZA==") {
		t.Errorf("%s", replay.text)
	}
	c.want(c.post(apitest.Consumer, api.PathComplete, api.Complete{Key: key('a'), Fence: fence, Result: api.Result{Status: 200}}), 409, "stale")

	after := c.record()
	if after.Result == nil || string(after.Result.Body) != "told" || len(after.Audit) != 3 {
		t.Fatalf("%+v", after)
	}
	if a := after.Audit[1]; a.Operator != "alice" || a.Action != "complete" || a.Reason != decision.Reason || a.Fence != fence || a.Before != "unknown" || a.Status != 201 {
		t.Errorf("%+v", a)
	}
	logs := c.Logs()
	for _, want := range []string{`"audit":true`, `"operator":"alice"`, `"result":"conflict"`, `"result":"done"`, `"before":"unknown"`, `"after":"completed"`, decision.Reason, r.Name, `"msg":"result read"`} {
		if !strings.Contains(logs, want) {
			t.Errorf("no %s in the log", want)
		}
	}
	for _, s := range []string{secretKey, "told", "dG9sZA", apitest.Operator} {
		if strings.Contains(logs, s) {
			t.Errorf("%q is in the log", s)
		}
	}
}

func TestResolveActions(t *testing.T) {
	c := start(t)
	fence := c.stuck()
	resolve := func(action string, edit func(*api.Resolve)) api.Resolve {
		in := api.Resolve{Subject: subject(), Fence: fence, Action: action, Reason: "r"}
		if edit != nil {
			edit(&in)
		}
		return in
	}
	c.want(c.post(apitest.Operator, api.PathResolve, resolve("extend", func(in *api.Resolve) { in.ExtendMS = 60_000 })), 200, "resolved")
	live := c.want(c.post(apitest.Operator, api.PathResolve, resolve("release", nil)), 409, "lease-live")
	if live.number("retry_after_ms") < 1 || live.header.Get("Retry-After") == "" {
		t.Errorf("%s", live.text)
	}
	c.Store.Advance(2 * time.Minute)
	c.want(c.post(apitest.Operator, api.PathResolve, resolve("release", nil)), 200, "resolved")
	next := uint64(c.want(c.claim('b'), 200, "created").number("fence"))
	if next <= fence {
		t.Errorf("fence %d after %d", next, fence)
	}
	c.Store.Advance(2 * time.Minute)
	fence = next
	c.want(c.post(apitest.Operator, api.PathResolve, resolve("executed", func(in *api.Resolve) { in.Status = 202 })), 200, "resolved")
	if r := c.want(c.claim('c'), 409, "response-not-kept"); r.number("original_status") != 202 {
		t.Errorf("%s", r.text)
	}
	absent := resolve("release", func(in *api.Resolve) { in.Key = "nobody's" })
	c.want(c.post(apitest.Operator, api.PathResolve, absent), 409, "conflict")
}

func TestInvalidDecisions(t *testing.T) {
	c := start(t)
	for name, edit := range map[string]func(*api.Resolve){
		"reason":         func(in *api.Resolve) { in.Reason = "" },
		"long reason":    func(in *api.Resolve) { in.Reason = strings.Repeat("x", 501) },
		"fence":          func(in *api.Resolve) { in.Fence = 0 },
		"action":         func(in *api.Resolve) { in.Action = "free" },
		"extend nothing": func(in *api.Resolve) { in.Action = "extend" },
		"complete":       func(in *api.Resolve) { in.Action = "complete" },
		"executed":       func(in *api.Resolve) { in.Action = "executed" },
		"decision":       func(in *api.Resolve) { in.Decision = []byte("short") },
		"name and key":   func(in *api.Resolve) { in.Name = strings.Repeat("a", 64) },
		"name":           func(in *api.Resolve) { in.Subject = api.Subject{Name: strings.Repeat("g", 64)} },
		"nobody":         func(in *api.Resolve) { in.Subject = api.Subject{} },
		"kind":           func(in *api.Resolve) { in.Principal.Kind = "user" },
		"no key":         func(in *api.Resolve) { in.Key = "" },
	} {
		t.Run(name, func(t *testing.T) {
			cc := &client{t, c.Bridge, c.spec}
			in := api.Resolve{Subject: subject(), Fence: 1, Action: "release", Reason: "r"}
			edit(&in)
			cc.want(cc.wrong(apitest.Operator, api.PathResolve, in), 400, "invalid")
		})
	}
	extend := api.Resolve{Subject: subject(), Fence: 1, Action: "extend", Reason: "r", ExtendMS: time.Hour.Milliseconds() * 3}
	c.want(c.post(apitest.Operator, api.PathResolve, extend), 400, "invalid")
	c.want(c.post(apitest.Operator, api.PathOverdue, api.Overdue{Cursor: "x"}), 400, "invalid")
	c.want(c.wrong(apitest.Operator, api.PathOverdue, api.Overdue{Limit: 501}), 400, "invalid")
}
