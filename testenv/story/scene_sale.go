package story

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/oncewall/oncewall/testenv/shop"
)

// The flash sale.
const (
	saleItems    = 100
	saleBuyers   = 2_000
	saleRequests = 20_000 // ten clicks a buyer, all mixed
	saleWidth    = 64     // requests under way at one time
)

// FlashSale: 2,000 buyers click ten times each for 100 items. The shop's own
// guards are off, so that it is the gateway that is shown, and then it is taken
// away.
func FlashSale(ctx context.Context, w *World) Result {
	s := w.begin(ctx, w.Town, fmt.Sprintf("Flash sale: %d requests of %d buyers for %d items", saleRequests, saleBuyers, saleItems))
	s.must(s.shop.SetGuards(ctx, shop.NoGuards))

	tag, report, got := s.sell("/orders/sale", s.door)
	x, err := s.shop.Tagged(ctx, tag)
	s.must(err)
	s.note(Row{Step: "through the gateway", Ran: x.Count, WantRan: saleBuyers},
		Exactly(saleItems, "201 created").And(saleBuyers-saleItems, "409 created").Rest("201 replayed", "409 replayed", "409 in-flight"), got)
	s.sold("orders in the shop, its guards off", report, func(n int) bool { return n == saleItems }, "exactly 100")
	s.holds(report.Doubled == 0 && report.Buyers == saleItems, nil, "%d buyers hold the orders, %d of them more than one", report.Buyers, report.Doubled)

	bare := NewClient(s.stack.Bare(), HTTP1, saleWidth)
	defer bare.Close()
	tag, report, got = s.sell("/orders/sale", bare)
	x, err = s.shop.Tagged(ctx, tag)
	s.must(err)
	s.note(Row{Step: "the same without the filter", Ran: x.Count, WantRan: saleRequests}, Exactly(0, "201 created").Rest("201 unmarked", "409 unmarked"), got)
	s.sold("orders in the shop: wrong, as it must be here", report, func(n int) bool { return n > saleItems }, "more than 100")

	if err := s.shop.SetGuards(context.WithoutCancel(ctx), shop.AllGuards); err != nil {
		s.must(err)
	}
	return s.end()
}

// sell plays one sale through a client and returns the tag of its requests, the
// shop's report and the answers.
func (s *stage) sell(path string, c *Client) (tag string, r shop.SaleReport, got []Answer) {
	tag = s.w.Key("sale")
	if s.over {
		return tag, r, nil
	}
	s.must(s.shop.OpenSale(s.ctx, saleItems))
	requests := make([]Request, saleRequests)
	for i := range requests {
		buyer := fmt.Sprintf("buyer-%d", i%saleBuyers)
		requests[i] = Post(path, tag+"-"+buyer).As(buyer).With("x-shop-tag", tag)
	}
	mixed := rand.New(rand.NewPCG(1, 2)) // the same order in every run
	mixed.Shuffle(len(requests), func(i, j int) { requests[i], requests[j] = requests[j], requests[i] })
	got = c.SendEach(s.ctx, saleWidth, requests)
	r, err := s.shop.Sale(s.ctx)
	s.must(err)
	return tag, r, got
}

func (s *stage) sold(step string, r shop.SaleReport, right func(int) bool, want string) {
	if s.over {
		return
	}
	s.add(Row{Step: step, Saw: fmt.Sprintf("%d orders", r.Orders), Expected: want, Ran: NotCounted, WantRan: NotCounted, OK: right(r.Orders)})
}
