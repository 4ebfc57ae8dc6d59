package conformance

import (
	"net"
	"sync"
	"time"
)

// lab is what the sockets of one scenario share: a lock, and a bell that rings
// when anything has happened.
type lab struct {
	mu   sync.Mutex
	bell chan struct{}
	// closing are the listeners and connections.
	closing []interface{ Close() error }
	// seen are the requests that reached each cluster.
	seen map[string][]wire
	// over is closed with the sockets: whoever sends ends then.
	over chan struct{}
}

func newLab() *lab {
	return &lab{bell: make(chan struct{}), seen: map[string][]wire{}, over: make(chan struct{})}
}

// do runs f under the lock and rings.
func (l *lab) do(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f()
	close(l.bell)
	l.bell = make(chan struct{})
}

// ring wakes whoever waits.
func (l *lab) ring() { l.do(func() {}) }

// until waits for cond, which takes the lock itself.
func (l *lab) until(limit time.Duration, cond func() bool) bool {
	deadline := time.NewTimer(limit)
	defer deadline.Stop()
	for {
		l.mu.Lock()
		bell := l.bell
		l.mu.Unlock()
		if cond() {
			return true
		}
		select {
		case <-bell:
		case <-deadline.C:
			return cond()
		}
	}
}

func (l *lab) owns(c interface{ Close() error }) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closing = append(l.closing, c)
}

func (l *lab) close() {
	l.mu.Lock()
	all := l.closing
	l.closing = nil
	select {
	case <-l.over:
	default:
		close(l.over)
	}
	l.mu.Unlock()
	for _, c := range all {
		_ = c.Close()
	}
}

// writer sends bytes in order without ever blocking its caller: Envoy may not
// read for long.
type writer struct {
	mu    sync.Mutex
	queue [][]byte
	more  chan struct{}
	done  func() // see finally
	conn  net.Conn
	over  <-chan struct{}
}

func newWriter(l *lab, c net.Conn) *writer {
	w := &writer{more: make(chan struct{}, 1), conn: c, over: l.over}
	go w.run()
	return w
}

func (w *writer) write(b []byte) {
	w.mu.Lock()
	w.queue = append(w.queue, b)
	w.mu.Unlock()
	w.wake()
}

// finally calls f when all is sent, and sends nothing more.
func (w *writer) finally(f func()) {
	w.mu.Lock()
	w.done = f
	w.mu.Unlock()
	w.wake()
}

func (w *writer) wake() {
	select {
	case w.more <- struct{}{}:
	default:
	}
}

func (w *writer) run() {
	for w.flush() {
		select {
		case <-w.more:
		case <-w.over:
			return
		}
	}
}

// flush sends what is queued; false ends the writer.
func (w *writer) flush() bool {
	for {
		w.mu.Lock()
		if len(w.queue) == 0 {
			done := w.done
			w.mu.Unlock()
			if done != nil {
				done()
			}
			return done == nil
		}
		b := w.queue[0]
		w.queue = w.queue[1:]
		w.mu.Unlock()
		if _, err := w.conn.Write(b); err != nil {
			return false
		}
	}
}
