package redis

import (
	"context"
	"encoding/hex"
	"errors"
	"sync"
	"time"

	"github.com/oncewall/oncewall/bridge/store"
)

// linger is how long a channel stays subscribed after its last waiter has gone:
// the next is then there at once.
const linger = 5 * time.Second

var errClosed = errors.New("redis: closed")

// board is who waits for what: a post for each bucket that anybody waits in, and
// one subscription for each post, however many wait. There are at most [Buckets]
// of them.
type board struct {
	ctx    context.Context
	end    context.CancelFunc
	listen func(context.Context, *post)
	ended  sync.WaitGroup

	mu    sync.Mutex
	posts map[int]*post
}

// post is the waiters of one bucket. Its fields are the board's to guard.
type post struct {
	bucket  int
	waiters map[string]map[*waiter]bool // by record, as messages name it
	n       int
	live    bool  // subscribed, as far as is known
	fault   error // why it cannot be
	end     context.CancelFunc
	restart context.CancelFunc // ends the subscription under way
	idle    *time.Timer
}

// waiter is one Watch. wake holds at most one token: look at the record, or at
// the post's fault.
type waiter struct {
	post   *post
	record string
	wake   chan struct{}
}

func (w *waiter) poke() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

func newBoard(listen func(context.Context, *post)) *board {
	b := &board{listen: listen, posts: map[int]*post{}}
	b.ctx, b.end = context.WithCancel(context.Background())
	return b
}

// join makes a waiter. It is woken once its channel is subscribed, which may be
// at once.
func (b *board) join(n store.Name) *waiter {
	w := &waiter{record: hex.EncodeToString(n[:]), wake: make(chan struct{}, 1)}
	b.mu.Lock()
	defer b.mu.Unlock()
	p := b.posts[bucket(n)]
	if p == nil {
		p = b.open(bucket(n))
	}
	w.post = p
	if p.idle != nil {
		p.idle.Stop()
		p.idle = nil
	}
	of := p.waiters[w.record]
	if of == nil {
		of = map[*waiter]bool{}
		p.waiters[w.record] = of
	}
	of[w] = true
	p.n++
	if p.live || p.fault != nil || b.ctx.Err() != nil {
		w.poke()
	}
	return w
}

func (b *board) open(bucket int) *post {
	p := &post{bucket: bucket, waiters: map[string]map[*waiter]bool{}}
	ctx, end := context.WithCancel(b.ctx)
	p.end = end
	b.posts[bucket] = p
	if b.ctx.Err() == nil {
		b.ended.Go(func() { b.listen(ctx, p) })
	}
	return p
}

func (b *board) leave(w *waiter) {
	b.mu.Lock()
	defer b.mu.Unlock()
	p := w.post
	of := p.waiters[w.record]
	delete(of, w)
	if len(of) == 0 {
		delete(p.waiters, w.record)
	}
	if p.n--; p.n > 0 {
		return
	}
	var idle *time.Timer
	idle = time.AfterFunc(linger, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		if p.idle == idle {
			delete(b.posts, p.bucket)
			p.end()
		}
	})
	p.idle = idle
}

// fault is why w's channel cannot be listened to; nil: it can.
func (b *board) fault(w *waiter) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ctx.Err() != nil {
		return errClosed
	}
	return w.post.fault
}

// told hands a message on: the record's name.
func (b *board) told(p *post, record string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for w := range p.waiters[record] {
		w.poke()
	}
}

// confirmed notes that the server has taken the subscription. What was told
// before that was missed, so every waiter looks.
func (b *board) confirmed(p *post) {
	b.mu.Lock()
	defer b.mu.Unlock()
	p.live, p.fault = true, nil
	p.poke()
}

func (b *board) lost(p *post) {
	b.mu.Lock()
	defer b.mu.Unlock()
	p.live = false
}

// failed notes that the server refuses the subscription.
func (b *board) failed(p *post, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	p.fault = err
	p.poke()
}

func (p *post) poke() {
	for _, of := range p.waiters {
		for w := range of {
			w.poke()
		}
	}
}

// restartable notes what ends the subscription that is now being made.
func (b *board) restartable(p *post, end context.CancelFunc) {
	b.mu.Lock()
	defer b.mu.Unlock()
	p.restart = end
}

// moved makes the subscriptions of those buckets anew whose master is another
// than it was. The server mostly says so itself; a master that became a replica
// need not.
func (b *board) moved(was, is *layout) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for bucket, p := range b.posts {
		if was.of[bucket].id != is.of[bucket].id && p.restart != nil {
			p.restart()
		}
	}
}

func (b *board) size() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.posts)
}

func (b *board) closed() bool { return b.ctx.Err() != nil }

// close ends every subscription and every wait.
func (b *board) close() {
	b.mu.Lock()
	b.end()
	for _, p := range b.posts {
		p.poke()
	}
	b.mu.Unlock()
	b.ended.Wait()
}
