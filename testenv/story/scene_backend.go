package story

import (
	"context"
	"time"

	"github.com/oncewall/oncewall/testenv/shop"
	"github.com/oncewall/oncewall/testenv/stack"
)

// notesLease is the lease of /notes in the demo's rules.
const notesLease = 4 * time.Second

// BackendDown: nothing listens where the shop was. It is certain that nothing
// ran, so the key is free at once.
func BackendDown(ctx context.Context, w *World) Result {
	s := w.begin(ctx, w.Town, "The backend is down")
	key := w.Key("down")
	order := Post("/orders", key)
	s.must(s.stack.Stop(stack.ShopPart))
	down := s.send(order)
	s.must(s.stack.StartPart(ctx, stack.ShopPart))
	s.row("while it is down: never sent, released", Exactly(1, "503 released"), key, 0, down)
	s.row("the shop is back: the retry runs", Exactly(1, "201 created"), key, 1, s.send(order))
	s.row("and once more", Exactly(1, "201 replayed"), key, 1, s.send(order))
	return s.end()
}

// BackendCutOff: the answer breaks off in its middle. The shop has done its
// work, and only the shop knows.
func BackendCutOff(ctx context.Context, w *World) Result {
	s := w.begin(ctx, w.Town, "The backend's answer is cut off")
	key := w.Key("half")
	upload := Post("/uploads", key)
	s.row("half an answer: Envoy's own 502 in its place", Exactly(1, "502 unmarked"), key, 1, s.send(upload.With("x-shop-fault", "half")))
	retry := s.send(upload)
	s.row("recovery: hold - not run again", Exactly(1, "409 outcome-unknown"), key, 1, retry)

	key = w.Key("half")
	note := Post("/notes", key)
	cut := time.Now()
	s.row("half an answer again", Exactly(1, "502 unmarked"), key, 1, s.send(note.With("x-shop-fault", "half")))
	got := s.retryUntil(s.door, note, 3*notesLease, "409 outcome-unknown")
	held := time.Since(cut)
	last := len(got) - 1
	s.row("recovery: reacquire - run again after the lease", Exactly(1, "201 created").Rest("409 outcome-unknown"), key, 2, got...)
	s.holds(last > 0 && held > notesLease/2, got, "the retry ran %s after the cut, in a lease of %s", held, notesLease)
	s.newerOwner(key)
	return s.end()
}

// newerOwner wants the second execution of a key to carry the second attempt and
// a higher fence than the first; it returns both fences.
func (s *stage) newerOwner(key string) (old, young string) {
	if s.over {
		return "", ""
	}
	x, err := s.shop.Executions(s.ctx, key)
	if s.must(err); err != nil || len(x.Requests) != 2 {
		return "", ""
	}
	value := func(e shop.Execution, name string) string {
		if lines := e.Headers[name]; len(lines) == 1 {
			return lines[0]
		}
		return ""
	}
	old, young = value(x.Requests[0], "idempotency-fence"), value(x.Requests[1], "idempotency-fence")
	s.holds(number(young) > number(old) && number(old) > 0, nil, "the second run must carry a higher fence than the first: %q, then %q", old, young)
	one, two := value(x.Requests[0], "idempotency-attempt"), value(x.Requests[1], "idempotency-attempt")
	s.holds(one == "1" && two == "2", nil, "the runs must be attempts 1 and 2: %q, then %q", one, two)
	return old, young
}

// DeadAppBehindProxy: a mesh. The backend's own sidecar answers 503 when the
// application is gone, and such a 503 is nobody's result.
func DeadAppBehindProxy(ctx context.Context, w *World) Result {
	s := w.begin(ctx, w.Mesh, "A dead app behind a second Envoy")
	key := w.Key("sidecar")
	order := Post("/uploads", key)
	s.must(s.stack.Stop(stack.ShopPart))
	first := s.send(order)
	retry := s.send(order)
	s.must(s.stack.StartPart(ctx, stack.ShopPart))
	s.row("the sidecar's 503, passed on as it is", Exactly(1, "503 created"), key, 0, first)
	s.row("its retry: not told as a result", Exactly(1, "409 outcome-unknown"), key, 0, retry)
	s.holds(retry.Header.Get("Idempotent-Replayed") == "", []Answer{retry}, "nothing is replayed")
	s.row("the app is back; recovery: hold", Exactly(1, "409 outcome-unknown"), key, 0, s.send(order))

	key = w.Key("through")
	s.row("another key through both Envoys", Exactly(1, "201 created"), key, 1, s.send(Post("/uploads", key)))
	return s.end()
}
