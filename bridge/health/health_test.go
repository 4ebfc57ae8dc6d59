package health

import (
	"context"
	"encoding/json"
	"testing"
	"time"
)

func always(r Report) func(context.Context) Report {
	return func(context.Context) Report { return r }
}

func TestCheck(t *testing.T) {
	hang := make(chan struct{})
	defer close(hang)
	late := func(context.Context) Report { <-hang; return Report{} }
	for what, c := range map[string]struct {
		parts []Part
		state State
	}{
		"no parts":                 {nil, OK},
		"all well":                 {[]Part{{Name: "a"}, {Name: "b", Check: always(Report{})}}, OK},
		"one degraded":             {[]Part{{Name: "a"}, {Name: "b", Check: always(Report{State: Degraded})}}, Degraded},
		"one failed":               {[]Part{{Name: "a"}, {Name: "b", Check: always(Report{State: Failed})}}, Failed},
		"an optional one failed":   {[]Part{{Name: "b", Optional: true, Check: always(Report{State: Failed})}}, Degraded},
		"an optional one degraded": {[]Part{{Name: "b", Optional: true, Check: always(Report{State: Degraded})}}, Degraded},
		"one panics":               {[]Part{{Name: "b", Check: func(context.Context) Report { panic("oh") }}}, Failed},
		"one hangs":                {[]Part{{Name: "b", Check: late}}, Failed},
		"an optional one hangs":    {[]Part{{Name: "b", Optional: true, Check: late}}, Degraded},
	} {
		t.Run(what, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			if s := Check(ctx, c.parts); s.State != c.state || s.Ready != (c.state != Failed) || len(s.Parts) != len(c.parts) {
				t.Errorf("%+v, want %s", s, c.state)
			}
		})
	}
}

func TestJSON(t *testing.T) {
	b, err := json.Marshal(Check(t.Context(), []Part{{Name: "store", Check: always(Report{
		State: Degraded, Detail: "1 of 3", Members: []Member{{Name: "a:1", Role: "master", State: Failed, Detail: "away"}},
	})}}))
	const want = `{"status":"degraded","ready":true,"parts":{"store":{"status":"degraded","detail":"1 of 3","members":[` +
		`{"name":"a:1","role":"master","status":"failed","detail":"away"}]}}}`
	if err != nil || string(b) != want {
		t.Errorf("%s, %v\nwant %s", b, err, want)
	}
}
