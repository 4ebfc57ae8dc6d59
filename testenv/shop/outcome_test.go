package shop

import (
	"encoding/base64"
	"strconv"
	"strings"
	"testing"
)

// A probe finds what was executed, with its answer; what was not is refused from
// then on, up to the fence that was asked about.
func TestOutcome(t *testing.T) {
	s := serve(t, false, AllGuards)
	ask := func(key string, fence int) string {
		t.Helper()
		a := s.do("GET", "/outcome?route=/payments&principal=ann&fence="+strconv.Itoa(fence)+"&key="+key, "")
		if a.StatusCode != 200 {
			t.Fatalf("%d %s", a.StatusCode, a.body)
		}
		return strings.TrimSpace(string(a.body))
	}
	pay := func(user, key string, fence int, more ...string) answer {
		t.Helper()
		return *s.do("POST", "/payments", "{}", append(more, "X-User-Id", user, "Idempotency-Key", key, "Idempotency-Fence", strconv.Itoa(fence))...)
	}
	first := pay("ann", "a", 7)
	want := `{"outcome":"final","status":201,"headers":[["content-type","application/json"]],"body_base64":"` +
		base64.StdEncoding.EncodeToString(first.body) + `"}`
	if got := ask("a", 9); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := ask("b", 7); got != `{"outcome":"not-executed","refused_up_to":7}` {
		t.Errorf("%s", got)
	}
	for _, fence := range []int{6, 7} {
		if a := pay("ann", "b", fence); a.StatusCode != 409 || a.Header.Get("Idempotency-Outcome") != "not-executed" {
			t.Errorf("fence %d, refused by promise: %d %s", fence, a.StatusCode, a.body)
		}
	}
	if a := pay("bob", "b", 7); a.StatusCode != 201 {
		t.Errorf("another's key: %d %s", a.StatusCode, a.body)
	}
	if a := pay("ann", "b", 8); a.StatusCode != 201 {
		t.Errorf("the next owner: %d %s", a.StatusCode, a.body)
	}
	if got := ask("b", 8); !strings.Contains(got, `"final"`) {
		t.Errorf("%s", got)
	}
	pay("ann", "c", 7, "X-Shop-Status", "500")
	if got := ask("c", 7); !strings.Contains(got, `"not-executed"`) {
		t.Errorf("an answer that says so had no effect: %s", got)
	}
	pay("ann", "d", 7, "X-Shop-Body-Bytes", strconv.Itoa(keptAnswerBody+1))
	if got := ask("d", 7); got != `{"outcome":"final","status":201}` {
		t.Errorf("a long answer: %s", got)
	}
	s.SetGuards(GuardUnique)
	if got := ask("e", 7); got != `{"outcome":"not-executed"}` {
		t.Errorf("a promise without the guard that keeps it: %s", got)
	}
	for _, q := range []string{"", "?route=/payments&key=a", "?route=/payments&key=a&fence=x", "?key=a&fence=1"} {
		if a := s.do("GET", "/outcome"+q, ""); a.StatusCode != 400 {
			t.Errorf("%q: %d", q, a.StatusCode)
		}
	}
	if a := s.do("POST", "/outcome?route=/payments&key=a&fence=1", ""); a.StatusCode != 405 {
		t.Errorf("POST: %d", a.StatusCode)
	}
}
