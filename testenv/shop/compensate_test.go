package shop

import (
	"encoding/json"
	"testing"
)

func TestCompensations(t *testing.T) {
	s := serve(t, false, AllGuards)
	call := func(method, query string, want int) []byte {
		t.Helper()
		a := s.do(method, "/compensations"+query, "")
		if a.StatusCode != want {
			t.Fatalf("%s %s: %d, want %d", method, query, a.StatusCode, want)
		}
		return a.body
	}
	call("POST", "?route=/payments&principal=ann&key=a&fence=7", 204)
	call("PUT", "?status=503", 204)
	call("POST", "?route=/payments&principal=ann&key=a&fence=8", 503)
	call("POST", "?route=/payments&principal=ann&key=b&fence=9", 503)
	var got Compensations
	if err := json.Unmarshal(call("GET", "?key=a", 200), &got); err != nil {
		t.Fatal(err)
	}
	if got.Count != 2 || len(got.Calls) != 2 || got.Calls[0].Fence != 7 || got.Calls[0].Status != 204 || got.Calls[1].Status != 503 ||
		got.Calls[0].Route != "/payments" || got.Calls[0].Principal != "ann" {
		t.Errorf("%+v", got)
	}
	if x := s.Find("a", ""); x.Count != 0 {
		t.Errorf("a compensation counts as an execution: %+v", x)
	}
	for _, q := range []string{"?route=/payments&key=a", "?key=a&fence=1", "?route=/payments&fence=1", "?route=/payments&key=a&fence=0"} {
		call("POST", q, 400)
	}
	call("PUT", "?status=x", 400)
	call("DELETE", "", 405)
}
