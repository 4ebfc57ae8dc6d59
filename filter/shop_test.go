package filter

import (
	"os"
	"testing"

	"github.com/oncewall/oncewall/filter/rules"
)

// What these rules do to a whole request is told in testenv/scenario.

// shopRig runs the rules of the local stack.
func shopRig(t *testing.T) *rig {
	b, err := os.ReadFile("rules/testdata/shop.json")
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := rules.Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	return rigWith(t, cfg)
}

func TestKeyInBody(t *testing.T) {
	cases := []struct {
		name, path, body string
		key              string
		status           uint32 // 0: forwarded
	}{
		{"string", "/transfers", `{"transfer_id":"t1"}`, "t1", 0},
		{"number", "/transfers", `{"transfer_id":17}`, "17", 0},
		{"composite", "/callbacks/psp", `{"type":"paid","id":"a:b"}`, "paid:a%3Ab", 0},
		{"absent", "/transfers", `{"a":1}`, "", 400},
		{"not JSON", "/transfers", `transfer_id=1`, "", 400},
		{"empty", "/transfers", `{"transfer_id":""}`, "", 400},
		{"twice", "/transfers", `{"transfer_id":"a","transfer_id":"b"}`, "", 400},
		{"another case beside it", "/transfers", `{"transfer_id":"a","Transfer_ID":"b"}`, "", 400},
		{"control byte", "/transfers", `{"transfer_id":"a\u0000b"}`, "", 400},
		{"half of a composite", "/callbacks/psp", `{"type":"paid"}`, "", 400},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			g := shopRig(t)
			s := g.open("POST", c.path, "", false)
			g.body(s, c.body[:3], false)
			g.body(s, c.body[3:], true)
			if c.status != 0 {
				if len(s.replies) != 1 || s.replies[0].Status != c.status || len(g.flights) != 0 {
					t.Fatalf("%+v", s.replies)
				}
				return
			}
			if len(g.flights) != 1 || g.flights[0].batch.Ops[0].Key != c.key {
				t.Fatalf("flights %+v, replies %+v", g.flights, s.replies)
			}
			g.answerAll()
			if s.resumed != 1 {
				t.Fatal("not forwarded")
			}
		})
	}
}
