package shop

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
)

func TestParseGuards(t *testing.T) {
	for text, want := range map[string]Guards{
		"none": 0, "all": AllGuards, "unique": GuardUnique, "fence, state": GuardFence | GuardState,
	} {
		got, err := ParseGuards(text)
		if err != nil || got != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
		if again, err := ParseGuards(got.String()); err != nil || again != got {
			t.Errorf("%q does not survive String: %v, %v", text, again, err)
		}
	}
	for _, text := range []string{"", "uniq", "unique,", "none,unique"} {
		if g, err := ParseGuards(text); err == nil {
			t.Errorf("%q gave %v", text, g)
		}
	}
}

func TestGuardsAreSwitchedAtRunTime(t *testing.T) {
	protocols(t, func(t *testing.T, s *served) {
		for _, c := range []struct{ body, want string }{{"unique,fence", `["unique","fence"]`}, {"none", `[]`}, {"all", `["unique","state","fence"]`}} {
			if a := s.do("PUT", "/guards", c.body); a.StatusCode != 200 || !strings.Contains(string(a.body), c.want) {
				t.Errorf("PUT %s: %d %s", c.body, a.StatusCode, a.body)
			}
		}
		if a := s.do("PUT", "/guards", "some"); a.StatusCode != 400 || s.Guards() != AllGuards {
			t.Errorf("PUT some: %d, guards %v", a.StatusCode, s.Guards())
		}
	})
}

func TestUniqueGuard(t *testing.T) {
	s := serve(t, false, GuardUnique)
	order := func(path, user, key string, more ...string) receipt {
		return s.do("POST", path, "{}", append(more, "X-User-Id", user, "Idempotency-Key", key)...).receipt(t)
	}
	first := order("/orders", "alice", "k")
	second := order("/orders", "alice", `"k"`)
	if first.Effect != effectDone || second.Effect != effectAlready || second.Order != first.Order || second.Execution == first.Execution {
		t.Errorf("first %+v, second %+v", first, second)
	}
	for _, r := range []receipt{order("/orders", "bob", "k"), order("/refunds", "alice", "k"), order("/orders", "alice", "K")} {
		if r.Effect != effectDone {
			t.Errorf("another's key: %+v", r)
		}
	}
	order("/orders", "alice", "failed", "X-Shop-Status", "500")
	if r := order("/orders", "alice", "failed"); r.Effect != effectDone {
		t.Errorf("after a failure: %+v", r)
	}
	s.SetGuards(NoGuards)
	if r := order("/orders", "alice", "k"); r.Effect != effectDone {
		t.Errorf("guard off: %+v", r)
	}
}

func TestStateGuard(t *testing.T) {
	s := serve(t, false, GuardState)
	order := s.do("POST", "/orders", "{}").receipt(t)
	pay := func(id string) *answer { return s.do("POST", "/payments", fmt.Sprintf(`{"order_id":%q}`, id)) }
	if a := pay(order.Order); a.StatusCode != 201 || a.receipt(t).State != "PAID" {
		t.Errorf("first payment: %d %s", a.StatusCode, a.body)
	}
	if a := pay(order.Order); a.StatusCode != 409 || a.receipt(t).Effect != effectPaid {
		t.Errorf("second payment: %d %s", a.StatusCode, a.body)
	}
	if a := pay("no order of this shop"); a.StatusCode != 201 {
		t.Errorf("foreign order: %d", a.StatusCode)
	}
	state := func() receipt { return s.do("GET", "/orders/"+order.Order, "").receipt(t) }
	if r := state(); r.State != "PAID" || r.Payments != 1 {
		t.Errorf("order %+v", r)
	}
	s.SetGuards(NoGuards)
	pay(order.Order)
	if r := state(); r.Payments != 2 {
		t.Errorf("guard off: order %+v", r)
	}
}

// What one guard refuses leaves no trace in another: the key of a refused
// payment is free to be used again.
func TestRefusalRollsBack(t *testing.T) {
	s := serve(t, false, AllGuards)
	pay := func(order, key string) receipt {
		return s.do("POST", "/payments", fmt.Sprintf(`{"order":%q}`, order), "Idempotency-Key", key).receipt(t)
	}
	one, two := s.do("POST", "/orders", "").receipt(t).Order, s.do("POST", "/orders", "").receipt(t).Order
	for i, c := range []struct{ order, key, want string }{
		{one, "a", effectDone}, {one, "b", effectPaid}, {one, "a", effectAlready}, {two, "b", effectDone},
	} {
		if got := pay(c.order, c.key).Effect; got != c.want {
			t.Errorf("payment %d: %s, want %s", i, got, c.want)
		}
	}
}

func TestFenceGuard(t *testing.T) {
	s := serve(t, false, GuardFence)
	try := func(fence int, more ...string) *answer {
		return s.do("POST", "/orders", "{}", append(more, "Idempotency-Key", "k", "Idempotency-Fence", strconv.Itoa(fence))...)
	}
	for _, c := range []struct {
		fence  int
		status int
		more   []string
	}{
		{fence: 10, status: 201},
		{fence: 10, status: 201},
		{fence: 9, status: 409},
		{fence: 0, status: 201}, // no claim behind it: nothing to compare
		{fence: 12, status: 500, more: []string{"X-Shop-Status", "500"}},
		{fence: 11, status: 409}, // though the newer one failed
		{fence: 11, status: 409, more: []string{"X-Shop-Status", "200"}},
		{fence: 9, status: 201, more: []string{"X-User-Id", "bob"}},
	} {
		a := try(c.fence, c.more...)
		outcome := a.Header.Get("Idempotency-Outcome")
		if a.StatusCode != c.status || (outcome == "not-executed") != (c.status == 409) {
			t.Errorf("fence %d %v: %d, outcome %q", c.fence, c.more, a.StatusCode, outcome)
		}
	}
	s.SetGuards(NoGuards)
	if a := try(1); a.StatusCode != 201 {
		t.Errorf("guard off: %d", a.StatusCode)
	}
}

// An owner that was slow must not act after its successor: the guard compares
// when the effect is applied, not when the request arrived.
func TestFenceGuardStopsASlowOwner(t *testing.T) {
	s := serve(t, false, GuardFence)
	slow := make(chan *answer, 1)
	go func() {
		a, _ := s.try("POST", "/orders", "{}", "Idempotency-Key", "k", "Idempotency-Fence", "1", "X-Shop-Delay", "300ms")
		slow <- a
	}()
	eventually(t, "the first owner arrives", func() bool { return s.Find("k", "").Count == 1 })
	if a := s.do("POST", "/orders", "{}", "Idempotency-Key", "k", "Idempotency-Fence", "2"); a.StatusCode != 201 {
		t.Errorf("successor: %d", a.StatusCode)
	}
	if a := <-slow; a == nil || a.StatusCode != 409 {
		t.Errorf("slow owner: %+v", a)
	}
	if x := s.Find("k", ""); x.Count != 2 || x.Effects != 1 {
		t.Errorf("count %d, effects %d", x.Count, x.Effects)
	}
}

// rush sends each buyer's request the given number of times, all at once.
func rush(s *served, buyers, times int) {
	requests := make(chan int)
	var wg sync.WaitGroup
	for range 32 {
		wg.Go(func() {
			for i := range requests {
				b := strconv.Itoa(i % buyers)
				a := s.do("POST", "/checkout/sale", "{}", "X-User-Id", b, "Idempotency-Key", "key-"+b)
				if a.StatusCode != http.StatusCreated && a.StatusCode != http.StatusConflict {
					s.t.Errorf("buyer %s: %d %s", b, a.StatusCode, a.body)
				}
			}
		})
	}
	for i := range buyers * times {
		requests <- i
	}
	close(requests)
	wg.Wait()
}

func TestFlashSale(t *testing.T) {
	exact := SaleReport{Items: 20, Reserved: 20, Orders: 20, Buyers: 20}
	for _, c := range []struct {
		name   string
		guards Guards
		times  int
		want   SaleReport
	}{
		{"each once, guards off", NoGuards, 1, exact},
		{"duplicates, all guards", AllGuards, 4, exact},
		{"duplicates, unique alone", GuardUnique, 4, exact},
		{"duplicates, state alone", GuardState, 4, exact},
		{"duplicates, guards off", NoGuards, 4, SaleReport{Items: 20, Reserved: 20, Orders: 80, Buyers: 20, Doubled: 20}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := serve(t, false, c.guards)
			if a := s.do("PUT", "/sale?items=20", ""); a.StatusCode != 200 {
				t.Fatalf("PUT /sale: %d", a.StatusCode)
			}
			rush(s, 100, c.times)
			if got, err := s.Sale(); err != nil || got != c.want {
				t.Errorf("got %+v, want %+v (%v)", got, c.want, err)
			}
		})
	}
}

func TestSaleReportAndReset(t *testing.T) {
	protocols(t, func(t *testing.T, s *served) {
		s.do("PUT", "/sale?items=1", "")
		for _, path := range []string{"/orders/sale", "/checkout/sale"} {
			if a := s.do("POST", path, "", "X-User-Id", "alice"); a.StatusCode != 201 {
				t.Errorf("%s: %d", path, a.StatusCode)
			}
		}
		if a := s.do("POST", "/orders/sale", "", "X-User-Id", "bob"); a.StatusCode != 409 || a.receipt(t).Effect != effectSoldOut {
			t.Errorf("sold out: %d %s", a.StatusCode, a.body)
		}
		if a := s.do("POST", "/orders/sale", ""); a.StatusCode != 400 {
			t.Errorf("no buyer: %d", a.StatusCode)
		}
		if a := s.do("GET", "/sale", ""); string(a.body) != `{"items":1,"reserved":1,"orders":2,"buyers":1,"doubled":1}`+"\n" {
			t.Errorf("report %s", a.body)
		}
		if a := s.do("PUT", "/sale?items=3", ""); string(a.body) != `{"items":3,"reserved":0,"orders":0,"buyers":0,"doubled":0}`+"\n" {
			t.Errorf("after PUT: %s", a.body)
		}
		for _, items := range []string{"", "-1", "1000001", "x"} {
			if a := s.do("PUT", "/sale?items="+items, ""); a.StatusCode != 400 {
				t.Errorf("items=%s: %d", items, a.StatusCode)
			}
		}
	})
}

func TestPruneKeepsTheNewestRows(t *testing.T) {
	s := newShop(t, NoGuards)
	const rows = keptRows + 10
	if _, err := s.db.Exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
		INSERT INTO effects (id, route) SELECT i, '/orders' FROM n`, rows); err != nil {
		t.Fatal(err)
	}
	s.db.effects.Store(pruneEvery - 1)
	if err := s.db.prune(); err != nil {
		t.Fatal(err)
	}
	var count, oldest int
	if err := s.db.QueryRow("SELECT count(*), min(id) FROM effects").Scan(&count, &oldest); err != nil {
		t.Fatal(err)
	}
	if count != keptRows || oldest != rows-keptRows+1 {
		t.Errorf("%d rows, oldest %d", count, oldest)
	}
}
