package e2e

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/oncewall/oncewall/testenv/stack"
	"github.com/oncewall/oncewall/testenv/story"
)

// TestTelling sends one request of each of three outcomes and finds each in the
// counters by rule and outcome, in the access log, and the refusal in the log,
// the key in none of them.
func TestTelling(t *testing.T) {
	t.Parallel()
	s := start(t, stack.Options{})
	c := door(t, s)
	const key = "telling-secret-key"
	wantKind(t, "first", c.Send(t.Context(), story.Post("/orders", key)), "201 created")
	wantKind(t, "repeat", c.Send(t.Context(), story.Post("/orders", key)), "201 replayed")
	wantKind(t, "another", c.Send(t.Context(), story.Post("/orders", key).Body(`{"other":1}`)), "422 key-reused")

	metrics := string(page(t, "http://"+s.GatewayAdmin(0)+"/stats/prometheus"))
	for _, outcome := range []string{"created", "replayed", "key-reused"} {
		if line := fmt.Sprintf(`idempotency_requests{rule="orders",outcome=%q} 1`, outcome); !strings.Contains(metrics, line) {
			t.Errorf("no %s", line)
		}
	}
	count := regexp.MustCompile(`idempotency_callout_ms_count\{?\}? (\d+)`)
	eventually(t, "two callouts in the distribution", 30*time.Second, func() bool {
		m := count.FindStringSubmatch(string(page(t, "http://"+s.GatewayAdmin(0)+"/stats/prometheus")))
		if m == nil {
			return false
		}
		n, _ := strconv.Atoi(m[1])
		return n >= 2
	})
	var log string
	eventually(t, "the log", 30*time.Second, func() bool {
		b, err := os.ReadFile(s.Log(stack.GatewayPart(0)))
		if err != nil {
			t.Fatal(err)
		}
		log = string(b)
		return strings.Contains(log, "rule=orders outcome=created") &&
			strings.Contains(log, "rule=orders outcome=replayed") &&
			strings.Contains(log, "rule=orders outcome=key-reused") &&
			strings.Contains(log, `{"msg":"refused","rule":"orders","code":"key-reused","status":422}`)
	})
	if strings.Contains(log, key) || strings.Contains(metrics, key) {
		t.Error("the key is told")
	}
}
