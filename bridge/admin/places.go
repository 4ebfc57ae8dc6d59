package admin

import "sync"

const (
	// operatorPlaces is how many requests of operators are served at one time. They
	// have places of their own: whatever consumers do, an operator is heard.
	operatorPlaces = 32
	// leastShare is the least of a consumer's share.
	leastShare = 8
)

// places bounds how many requests are served at one time, together and of one
// caller. It is safe for concurrent use.
type places struct {
	all, each int

	mu    sync.Mutex
	taken int
	by    map[string]int // caller's id; without those who have none
}

func newPlaces(all, each int) *places {
	return &places{all: all, each: each, by: make(map[string]int)}
}

// share is how many of all places one of n callers may take: with up to all /
// leastShare callers, none can take another's.
func share(all, n int) int {
	if n == 0 {
		return all
	}
	return max(all/n, min(leastShare, all))
}

// take takes a place for a caller; false: there is none.
func (p *places) take(id string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.taken >= p.all || p.by[id] >= p.each {
		return false
	}
	p.taken++
	p.by[id]++
	return true
}

// leave gives a place back.
func (p *places) leave(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.taken--
	if p.by[id]--; p.by[id] == 0 {
		delete(p.by, id)
	}
}
