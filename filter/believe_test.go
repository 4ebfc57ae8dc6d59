package filter

import (
	"bytes"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/oncewall/oncewall/filter/wire"
)

// nonsense are answers that no bridge gives to a claim that is not decided, by
// what is wrong with them.
var nonsense = map[string]wire.Result{
	"granted without a fence":   {Code: wire.Created, Attempt: 1, LeaseMS: 10_000},
	"granted without an end":    {Code: wire.Created, Attempt: 1, Fence: 7},
	"granted for the 0th time":  {Code: wire.Created, Fence: 7, LeaseMS: 10_000},
	"no code":                   {},
	"a code of no bridge":       {Code: math.MaxUint8, Fence: 7, Attempt: 1, LeaseMS: 10_000},
	"acknowledged":              {Code: wire.OK, Fence: 7, Attempt: 1, LeaseMS: 10_000},
	"issued":                    {Code: wire.Issued, Key: "k", ExpiresAtMS: 1, Fence: 7, Attempt: 1, LeaseMS: 10_000},
	"free":                      {Code: wire.Free, Fence: 7, Attempt: 1, LeaseMS: 10_000},
	"too many waiting":          {Code: wire.TooManyWaiting},
	"found":                     {Code: wire.Found, State: wire.StateCompleted},
	"not found":                 {Code: wire.NotFound},
	"replayed without a result": {Code: wire.Replayed, Status: 201},
	"replayed from garbage":     {Code: wire.Replayed, Status: 201, Result: []byte("garbage")},
	"withheld for ever":         {Code: wire.Replayed, Status: 201, Withheld: true},
	"in flight for ever":        {Code: wire.InFlight, RetryAfterMS: math.MaxInt64},
	"unknown for ever":          {Code: wire.OutcomeUnknown, RetryAfterMS: math.MaxInt64},
	"over quota for ever":       {Code: wire.OverQuota, RetryAfterMS: math.MaxInt64},
	"differs in everything":     {Code: wire.KeyReused, Differs: bytes.Repeat([]byte{0xff}, 1<<20)},
	"not kept, of no status":    {Code: wire.ResponseNotKept, Status: math.MaxUint16, AgeMS: math.MaxInt64, RemainingMS: math.MaxInt64},
	"used, of no status":        {Code: wire.KeyUsed, AgeMS: math.MaxInt64, RemainingMS: math.MaxInt64},
	"lapsed at once":            {Code: wire.Lapsed},
	"stale at once":             {Code: wire.Stale},
}

// TestNonsenseIsAnswered: whatever the bridge says to a claim, the request is
// answered within its bounds and not forwarded, unless its rule forwards without
// a claim and the bridge's word is as good as none.
func TestNonsenseIsAnswered(t *testing.T) {
	for name, result := range nonsense {
		for _, path := range []string{"/orders", "/forward", "/after", "/wait", "/checkout", "/asked"} {
			t.Run(name+path, func(t *testing.T) {
				g := newRig(t, true)
				s := g.open("POST", path, "k", true)
				began := g.now
				for range 200 {
					if len(s.replies) > 0 || s.resumed > 0 {
						break
					}
					for len(g.flights) > 0 {
						g.say(result)
					}
					g.pass(25 * time.Millisecond)
				}
				if took := time.Duration(g.now - began); took > 2500*time.Millisecond {
					t.Errorf("took %v", took)
				}
				switch {
				case s.resumed > 0 && (path != "/forward" || s.request[HeaderStatus] != string(CodeUnprotected)):
					t.Error("forwarded on nonsense")
				case s.resumed+len(s.replies) != 1:
					t.Errorf("%d replies, resumed %d times", len(s.replies), s.resumed)
				case len(s.replies) == 1 && len(s.replies[0].Body) > 4096:
					t.Errorf("an answer of %d bytes", len(s.replies[0].Body))
				}
			})
		}
	}
}

// TestNonsenseAcknowledgesNothing: a last word stays pending until the bridge
// says one of the few things that acknowledge it, and then it is done.
func TestNonsenseAcknowledgesNothing(t *testing.T) {
	for code := wire.Code(0); code < 40; code++ {
		switch code {
		case wire.OK, wire.Stale, wire.Invalid:
			continue
		}
		t.Run(fmt.Sprint(code), func(t *testing.T) {
			g := newRig(t, true)
			s := g.open("POST", "/orders", "k", true)
			g.answerAll()
			g.respond(s, upstream(201), true)
			for range 40 {
				for len(g.flights) > 0 {
					g.say(wire.Result{Code: code, Fence: 9, Attempt: 1, LeaseMS: 9000})
				}
				g.pass(25 * time.Millisecond)
			}
			if s.released != 1 {
				t.Fatal("the client's answer is held beyond the timeout")
			}
			if g.w.Pending() != 1 {
				t.Fatalf("%d operations pending", g.w.Pending())
			}
			g.finish(s, Trail{Attempts: 1})
			for range 20 {
				g.pass(maxBackoff)
				g.answerAll()
			}
			if g.w.Pending() != 0 || g.records[recordKey(s.core)].state != "C" {
				t.Errorf("%d pending, record %+v", g.w.Pending(), g.records[recordKey(s.core)])
			}
		})
	}
}

// TestLeaseIsOurs: a bridge that grants a lease longer than the rule's is trusted
// for the rule's.
func TestLeaseIsOurs(t *testing.T) {
	g := newRig(t, true)
	s := g.open("POST", "/orders", "k", true)
	g.flights = g.flights[:1]
	g.records[recordKey(s.core)] = &record{state: "P", owner: string(s.core.owner)}
	g.say(wire.Result{Code: wire.Created, Fence: math.MaxUint64, Attempt: math.MaxUint32, LeaseMS: math.MaxInt64})
	if s.resumed != 1 || s.request[HeaderFence] != "18446744073709551615" {
		t.Fatalf("resumed %d, fence %q", s.resumed, s.request[HeaderFence])
	}
	if d := time.Duration(s.core.lease - g.now); d != 10*time.Second {
		t.Errorf("lease %v", d)
	}
}

// TestIssuedNonsense: a key that could not stand in a document or a header is
// nobody's.
func TestIssuedNonsense(t *testing.T) {
	for name, r := range map[string]wire.Result{
		"no key":   {Code: wire.Issued, ExpiresAtMS: 1},
		"a quote":  {Code: wire.Issued, Key: `ow1."`, ExpiresAtMS: 1},
		"a break":  {Code: wire.Issued, Key: "ow1.\r\nx: y", ExpiresAtMS: 1},
		"bytes":    {Code: wire.Issued, Key: "ow1.\xff", ExpiresAtMS: 1},
		"too long": {Code: wire.Issued, Key: string(bytes.Repeat([]byte("k"), wire.MaxKeyBytes+1)), ExpiresAtMS: 1},
		"no end":   {Code: wire.Issued, Key: "ow1.k"},
		"far":      {Code: wire.Issued, Key: "ow1.k", ExpiresAtMS: math.MaxInt64},
		"granted":  {Code: wire.Created, Key: "ow1.k", Fence: 1, Attempt: 1, LeaseMS: 9000, ExpiresAtMS: 1},
	} {
		t.Run(name, func(t *testing.T) {
			g := newRig(t, true)
			s := g.open("POST", "/idempotency-keys", "", false)
			g.body(s, `{"scope":"checkout"}`, true)
			for len(g.flights) > 0 {
				g.say(r)
			}
			if len(s.replies) != 1 || s.replies[0].Status < 500 {
				t.Errorf("%+v", s.replies)
			}
		})
	}
}

// TestAnswersOfAnyShape: bodies that are no answers count as lost callouts.
func TestAnswersOfAnyShape(t *testing.T) {
	whole, err := wire.AppendAnswer(nil, &wire.Answer{Results: []wire.Result{{Code: wire.Created, Fence: 7, Attempt: 1, LeaseMS: 9000}}})
	if err != nil {
		t.Fatal(err)
	}
	many, _ := wire.AppendAnswer(nil, &wire.Answer{Results: make([]wire.Result, 256)})
	bodies := map[string][]byte{"nothing": nil, "too many": many, "text": []byte(`{"title":"no"}`),
		"megabytes": bytes.Repeat([]byte{0xa7}, 4<<20), "and more": append(bytes.Clone(whole), 0)}
	for i := range whole {
		bodies[fmt.Sprint("cut at ", i)] = whole[:i]
	}
	for name, body := range bodies {
		t.Run(name, func(t *testing.T) {
			g := newRig(t, true)
			s := g.open("POST", "/orders", "k", true)
			for range 20 {
				for len(g.flights) > 0 {
					f := g.flights[0]
					g.flights = g.flights[1:]
					g.w.CallAnswered(g.now, f.id, body)
					g.perform()
				}
				g.pass(25 * time.Millisecond)
			}
			if len(s.replies) != 1 || s.replies[0].Status != 503 {
				t.Errorf("%+v, resumed %d", s.replies, s.resumed)
			}
		})
	}
}
