package admin_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/oncewall/oncewall/bridge/admin"
	"github.com/oncewall/oncewall/bridge/store"
	oncewall "github.com/oncewall/oncewall/client"
	"github.com/oncewall/oncewall/client/api"
	"github.com/oncewall/oncewall/testenv/apitest"
)

// get sends a GET of an operator, judged by the description both ways.
func (c *client) get(path string, valid bool) (int, []byte) {
	c.Helper()
	request := func() *http.Request {
		r, err := http.NewRequest(http.MethodGet, c.Admin+path, nil)
		if err != nil {
			c.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+apitest.Operator)
		return r
	}
	if ok, errs := c.spec.ValidateHttpRequest(request()); ok != valid {
		c.Fatalf("%s: the description finds the request valid: %v, want %v: %v", path, ok, valid, errs)
	}
	resp, err := http.DefaultClient.Do(request())
	if err != nil {
		c.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		c.Fatal(err)
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	if ok, errs := c.spec.ValidateHttpResponse(request(), resp); !ok {
		c.Fatalf("%s: an answer beside the description: %v\n%s", path, errs, body)
	}
	return resp.StatusCode, body
}

func TestReport(t *testing.T) {
	c := start(t)
	one, two := make([]byte, 32), bytes.Repeat([]byte{2}, 32)
	c.want(c.post(apitest.Consumer, api.PathClaim, api.Claim{Key: key('a'), Fingerprint: one}), 200, "created")
	c.want(c.post(apitest.Consumer, api.PathClaim, api.Claim{Key: key('b'), Fingerprint: one}), 409, "in-flight")
	c.want(c.post(apitest.Consumer, api.PathClaim, api.Claim{Key: key('b'), Fingerprint: two}), 422, "key-reused")
	again := key('c')
	again.Key = "another"
	c.want(c.post(apitest.Consumer, api.PathClaim, api.Claim{Key: again, Fingerprint: one}), 200, "created")

	status, body := c.get(api.PathReport+"?since=90m", true)
	var got api.Report
	if err := json.Unmarshal(body, &got); err != nil || status != 200 || len(got.Rules) != 1 {
		t.Fatalf("%d: %s: %v", status, body, err)
	}
	want := api.RuleReport{Namespace: "jobs", Scope: "invoices", First: 2, DoubleClick: 1, KeyReused: 1, SuspectedNewKey: 1}
	if got.Rules[0] != want {
		t.Errorf("got %+v, want %+v", got.Rules[0], want)
	}
	from, err := time.Parse(time.RFC3339, got.From)
	if ago := time.Since(from); err != nil || ago < 90*time.Minute || ago > 151*time.Minute || from.Minute() != 0 {
		t.Errorf("from %s: %v", got.From, err)
	}
	o, err := oncewall.NewOperator(c.Admin, apitest.Operator, nil)
	if err != nil {
		t.Fatal(err)
	}
	if r, err := o.Report(t.Context(), 0); err != nil || len(r.Rules) != 1 || r.Rules[0] != want {
		t.Errorf("by the client: %+v, %v", r, err)
	}
	for query, valid := range map[string]bool{"?since=day": false, "?since=-1h": false, "?since=0s": true, "?since=841h": true, "?since=1h&since=2h": true, "?until=1h": true} {
		if status, body := c.get(api.PathReport+query, valid); status != http.StatusBadRequest {
			t.Errorf("%s: %d %s", query, status, body)
		}
	}
}

// TestReportAway: a store that does not answer is told of.
func TestReportAway(t *testing.T) {
	c := start(t, func(cfg *admin.Config) { cfg.Server = noCounts{cfg.Server} })
	if status, body := c.get(api.PathReport, true); status != http.StatusServiceUnavailable {
		t.Errorf("%d %s", status, body)
	}
}

type noCounts struct{ admin.Server }

func (noCounts) Report(context.Context, time.Time) (time.Time, []store.Tally, error) {
	return time.Time{}, nil, store.ErrUnavailable
}
