package shop

import (
	"encoding/hex"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// execution is one request that reached a handler. The log's mutex guards
// every field that changes after it was begun.
type execution struct {
	serial  int64
	at      time.Time
	method  string
	path    string // as received, without the query
	query   string
	proto   string
	header  string // packed; see packHeader
	tag     string
	key     string
	trailer string // packed
	sum     string // hex SHA-256 of the body as far as it came
	whole   bool   // the body came to its end
	effect  string // one of the effect constants, empty while running
	cost    int64
	dropped bool
}

// executionBytes is the fixed cost of a remembered execution: the struct, its
// share of the two indexes and the digest.
const executionBytes = 512

// log remembers executions, newest last, within two bounds.
type log struct {
	maxRequests int
	maxBytes    int64

	mu        sync.Mutex
	queue     []*execution // oldest first
	bytes     int64
	forgotten int64
	byKey     map[string][]*execution
	byTag     map[string][]*execution
}

func newLog(maxRequests int, maxBytes int64) *log {
	l := &log{maxRequests: maxRequests, maxBytes: maxBytes}
	l.reset()
	return l
}

// reset forgets everything. Executions under way finish unrecorded.
func (l *log) reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.queue {
		e.dropped = true
	}
	l.queue, l.bytes, l.forgotten = nil, 0, 0
	l.byKey = make(map[string][]*execution)
	l.byTag = make(map[string][]*execution)
}

// begin counts a request whose headers have arrived, under its tag and, when
// it is known already, its key.
func (l *log) begin(e *execution) {
	e.cost = executionBytes + int64(len(e.header)+len(e.path)+len(e.query))
	l.mu.Lock()
	defer l.mu.Unlock()
	l.queue = append(l.queue, e)
	l.bytes += e.cost
	if e.key != "" {
		l.byKey[e.key] = append(l.byKey[e.key], e)
	}
	if e.tag != "" {
		l.byTag[e.tag] = append(l.byTag[e.tag], e)
	}
	for len(l.queue) > l.maxRequests || l.bytes > l.maxBytes {
		l.forgetOldest()
	}
}

func (l *log) forgetOldest() {
	e := l.queue[0]
	l.queue[0] = nil
	l.queue = l.queue[1:]
	l.bytes -= e.cost
	e.dropped = true
	l.forgotten++
	drop(l.byKey, e.key, e)
	drop(l.byTag, e.tag, e)
}

// drop removes e from an index. It is nearly always the first of its list.
func drop(index map[string][]*execution, name string, e *execution) {
	list := index[name]
	for i, other := range list {
		if other != e {
			continue
		}
		if len(list) == 1 {
			delete(index, name)
			return
		}
		index[name] = slices.Delete(list, i, i+1)
		return
	}
}

// bodyRead notes what the body turned out to be, and counts the request under
// its key if only the body named it.
func (l *log) bodyRead(e *execution, key, sum, trailer string, whole bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e.sum, e.trailer, e.whole = sum, trailer, whole
	late := e.key == "" && key != ""
	e.key = key
	if e.dropped {
		return // indexing it now would keep it for ever
	}
	more := int64(len(trailer))
	if late {
		l.byKey[key] = append(l.byKey[key], e)
		more += int64(len(key))
	}
	e.cost += more
	l.bytes += more
}

func (l *log) finished(e *execution, effect string) {
	l.mu.Lock()
	e.effect = effect
	l.mu.Unlock()
}

// find returns copies of the executions under a key, a tag, or both, oldest
// first, and how many of any kind were forgotten.
func (l *log) find(key, tag string) (found []execution, forgotten int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := l.byTag[tag]
	if key != "" {
		list = l.byKey[key]
	}
	for _, e := range list {
		if tag == "" || e.tag == tag {
			found = append(found, *e)
		}
	}
	return found, l.forgotten
}

// packHeader stores header lines in one string, lower-case name, NUL, value,
// NUL: a map of slices takes several times the memory. Neither part can hold
// a NUL, which net/http refuses.
func packHeader(h http.Header, extra ...string) string {
	n := 0
	for name, values := range h {
		for _, v := range values {
			n += len(name) + len(v) + 2
		}
	}
	var b strings.Builder
	b.Grow(n + 64)
	line := func(name, value string) {
		b.WriteString(strings.ToLower(name))
		b.WriteByte(0)
		b.WriteString(value)
		b.WriteByte(0)
	}
	for name, values := range h {
		for _, v := range values {
			line(name, v)
		}
	}
	for i := 0; i+1 < len(extra); i += 2 {
		line(extra[i], extra[i+1])
	}
	return b.String()
}

func unpackHeader(packed string) map[string][]string {
	h := make(map[string][]string)
	for packed != "" {
		var name, value string
		name, packed, _ = strings.Cut(packed, "\x00")
		value, packed, _ = strings.Cut(packed, "\x00")
		h[name] = append(h[name], value)
	}
	return h
}

func hexSum(sum []byte) string { return hex.EncodeToString(sum) }
