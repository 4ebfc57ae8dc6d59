package story

import (
	"context"
	"time"
)

// bookingsLease is the lease of /bookings in the demo's rules.
const bookingsLease = 4 * time.Second

// ClientGone: a client leaves while the backend works, and nobody is there any more
// to hear its answer. When the lease is over the bridge asks the backend.
func ClientGone(ctx context.Context, w *World) Result {
	s := w.begin(ctx, w.Town, "A client goes away, and the backend is asked")
	key, never := w.Key("gone"), w.Key("never")
	booking, lost := Post("/bookings", key), Post("/bookings", never)

	leaving, leave := context.WithCancel(ctx)
	defer leave()
	answer := make(chan Answer, 1)
	if !s.over {
		go func() { answer <- s.door.Send(leaving, booking.With("x-shop-delay", "600ms")) }()
	}
	s.arrived(key, 1)
	leave()
	began := time.Now()
	if !s.over {
		s.row("the client leaves while the shop is at work", Exactly(1, Lost), key, 1, <-answer)
	}
	// One that the shop never began with, meanwhile.
	cut := s.send(lost.With("x-shop-fault", "close-before"))

	got := s.retryUntil(s.door, booking.With("prefer", "wait=0"), 4*bookingsLease, "409 in-flight", "409 outcome-unknown")
	s.row("retries: after the lease, the shop's own answer", Exactly(1, "201 replayed").Rest("409 in-flight", "409 outcome-unknown"), key, 1, got...)
	s.holds(time.Since(began) > bookingsLease/2, got, "the answer was there %s after the claim, in a lease of %s", time.Since(began), bookingsLease)

	s.row("another booking: cut off before the shop began", Exactly(1, "503 outcome-unknown"), never, 0, cut)
	got = s.retryUntil(s.door, lost, 2*bookingsLease, "409 outcome-unknown")
	s.row("the shop promises that it never ran: the retry runs", Exactly(1, "201 created").Rest("409 outcome-unknown"), never, 1, got...)
	x, err := s.shop.Compensations(ctx, never)
	s.must(err)
	s.holds(x.Count == 1, got, "it must have been compensated once before, and was %d times", x.Count)
	return s.end()
}
