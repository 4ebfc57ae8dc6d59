package reconcile

import (
	"strings"
	"testing"

	"github.com/oncewall/oncewall/filter"
	"github.com/oncewall/oncewall/filter/wire"
)

func TestParseAnswer(t *testing.T) {
	line := func(n, v string) wire.HeaderLine { return wire.HeaderLine{Name: n, Value: v} }
	for _, tc := range []struct {
		in   string
		want answer
	}{
		{`{"outcome":"unknown"}`, answer{}},
		{`{"outcome":"running"}`, answer{outcome: running}},
		{`{"outcome":"not-executed"}`, answer{outcome: notExecuted}},
		{`{"outcome":"not-executed","refused_up_to":1796000000000001}`, answer{outcome: notExecuted, refusedUpTo: 1796000000000001}},
		{`{"outcome":"final","status":201}`, answer{outcome: final, status: 201}},
		{`{"outcome":"final","status":204,"body":""}`, answer{outcome: final, status: 204, response: &wire.Response{Status: 204}}},
		{`{"outcome":"final","status":409,"body":""}` + "\n", answer{outcome: final, status: 409, response: &wire.Response{Status: 409}}},
		{
			`{"outcome":"final","status":201,"headers":[["Content-Type"," text/plain "],["x-a","1"],["X-A","2"]],"body":"é"}`,
			answer{outcome: final, status: 201, response: &wire.Response{
				Status: 201, Body: []byte("é"), Headers: []wire.HeaderLine{line("content-type", "text/plain"), line("x-a", "1"), line("x-a", "2")},
			}},
		},
		{
			`{"outcome":"final","status":200,"headers":[["set-cookie","s=1"],["Content-Length","9"],["idempotency-status","x"],["X-Envoy-Foo","1"]],"body_base64":"AP8="}`,
			answer{outcome: final, status: 200, response: &wire.Response{Status: 200, Body: []byte{0, 255}}},
		},
	} {
		got, err := parseAnswer([]byte(tc.in))
		if err != nil || got.outcome != tc.want.outcome || got.refusedUpTo != tc.want.refusedUpTo || got.status != tc.want.status {
			t.Errorf("%s: %+v, %v", tc.in, got, err)
			continue
		}
		if (got.response == nil) != (tc.want.response == nil) {
			t.Errorf("%s: response %+v", tc.in, got.response)
		} else if got.response != nil {
			a, _ := wire.AppendResponse(nil, got.response)
			b, _ := wire.AppendResponse(nil, tc.want.response)
			if string(a) != string(b) {
				t.Errorf("%s: %+v, want %+v", tc.in, got.response, tc.want.response)
			}
		}
	}
}

// What is not understood whole is no answer, and says nothing of its content.
func TestParseAnswerRefuses(t *testing.T) {
	for _, in := range []string{
		``, `null`, `[]`, `"final"`, `<html>secret</html>`, `{}`, `{"outcome":""}`, `{"outcome":"Final","status":200}`, `{"outcome":"done"}`,
		`{"outcome":"final"}`, `{"outcome":"final","status":199}`, `{"outcome":"final","status":1000}`, `{"outcome":"final","status":"200"}`,
		`{"outcome":"final","status":200.5}`, `{"outcome":"final","status":200,"extra":1}`, `{"outcome":"final","status":200}{}`,
		`{"outcome":"final","status":200} x`, `{"outcome":"final","status":200,"body":"a","body_base64":"YQ=="}`,
		`{"outcome":"final","status":200,"headers":[["a","b"]]}`, `{"outcome":"final","status":200,"body_base64":"secret!"}`,
		`{"outcome":"final","status":200,"body":"","headers":[["a"]]}`, `{"outcome":"final","status":200,"body":"","headers":[["","b"]]}`,
		`{"outcome":"final","status":200,"body":"","headers":[["a b","b"]]}`, `{"outcome":"final","status":200,"body":"","headers":[["a","b\r\nc: secret"]]}`,
		`{"outcome":"final","status":200,"body":"","headers":[[":status","200"]]}`, `{"outcome":"final","status":200,"body":"","headers":{"a":"b"}}`,
		`{"outcome":"running","status":200}`, `{"outcome":"not-executed","body":"secret"}`, `{"outcome":"final","status":200,"refused_up_to":1}`,
		`{"outcome":"not-executed","refused_up_to":-1}`, `{"outcome":"not-executed","refused_up_to":1.5}`, `{"outcome":"not-executed","refused_up_to":1e30}`,
		// The filter would never replay these.
		`{"outcome":"final","status":204,"body":"a"}`, `{"outcome":"final","status":304,"body":"a"}`, `{"outcome":"final","status":205,"body_base64":"YQ=="}`,
		`{"outcome":"final","status":600,"body":""}`, `{"outcome":"final","status":200,"body":"","headers":[["a","\u0000"]]}`,
		`{"outcome":"final","status":200,"body":"","headers":[` + strings.Repeat(`["a",""],`, 900) + `["a",""]]}`,
		// Readers do not agree on these: a later member may contradict an earlier one.
		`{"outcome":"final","status":200,"outcome":"not-executed","status":null}`, `{"outcome":"running","outcome":"not-executed"}`,
		`{"outcome":"running","Outcome":"not-executed"}`, `{"OUTCOME":"not-executed"}`, `{"outcome":"not-executed","refused_up_to":1,"Refused_up_to":9}`,
		`{"outcome":"final","\u0073tatus":201,"status":200}`, `{"outcome":"final","status":200,"body":"\ud800"}`, "{\"outcome\":\"final\",\"status\":200,\"body\":\"\xff\"}",
	} {
		a, err := parseAnswer([]byte(in))
		if err == nil {
			t.Errorf("%s: %+v", in, a)
		} else if strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", in, err)
		}
		if a.outcome != unknown || a.response != nil {
			t.Errorf("%s: refused, and yet %+v", in, a)
		}
	}
}

func FuzzParseAnswer(f *testing.F) {
	f.Add([]byte(`{"outcome":"final","status":201,"headers":[["content-type","a"]],"body":"x"}`))
	f.Add([]byte(`{"outcome":"not-executed","refused_up_to":7}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		a, err := parseAnswer(b)
		if err != nil && (a.outcome != unknown || a.response != nil) || err == nil && a.outcome == final && a.status < 200 {
			t.Fatalf("%+v, %v", a, err)
		}
		if a.response == nil {
			return
		}
		if err := filter.CheckResponse(a.response); err != nil {
			t.Fatal(err)
		}
		for _, h := range a.response.Headers {
			if filter.NotFromOutside(h.Name) {
				t.Fatalf("%q: %q", h.Name, h.Value)
			}
		}
	})
}
