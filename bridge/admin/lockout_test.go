package admin_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/oncewall/oncewall/bridge/admin"
	"github.com/oncewall/oncewall/client/api"
	"github.com/oncewall/oncewall/testenv/apitest"
)

// A consumer whose requests never end takes its own share, and neither another
// consumer's place nor an operator's.
func TestNobodyIsLockedOut(t *testing.T) {
	b := apitest.Start(t, func(cfg *admin.Config) { cfg.MaxInFlight = 16 }) // 8 for each of two
	send := func(url, secret string, body io.Reader) int {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, body)
		if err != nil {
			return 0
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", "Bearer "+secret)
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			return 0
		}
		resp.Body.Close()
		return resp.StatusCode
	}
	fill := func(secret string) {
		for range 20 {
			body, end := io.Pipe()
			t.Cleanup(func() { end.Close() })
			go send(b.Data+api.PathClaim, secret, body)
		}
		for limit := time.Now().Add(20 * time.Second); send(b.Data+api.PathGet, secret, strings.NewReader("{}")) != 503; {
			if time.Now().After(limit) {
				t.Fatal("the consumer's share has no end")
			}
		}
	}
	fill(apitest.Consumer)
	if got := send(b.Data+api.PathGet, apitest.Other, strings.NewReader("[]")); got != 400 {
		t.Errorf("another consumer: %d", got)
	}
	fill(apitest.Other)
	if got := send(b.Admin+api.PathOverdue, apitest.Operator, strings.NewReader("{}")); got != 200 {
		t.Errorf("an operator: %d", got)
	}
}
