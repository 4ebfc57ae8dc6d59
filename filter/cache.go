package filter

import (
	"bytes"
	"container/list"
	"crypto/sha256"
	"encoding/binary"

	"github.com/oncewall/oncewall/filter/wire"
)

// Bounds of the memory of finished keys, per worker.
const (
	// cacheLife bounds how long a worker remembers a finished key; never beyond
	// the record's own life.
	cacheLife = wire.MemoryLife
	// cacheBytes bounds what the memory holds.
	cacheBytes = 16 << 20
	// entryOverhead is what an entry takes beside the bytes that are counted one
	// by one, lineOverhead what a line of a decoded answer takes; both rounded up to
	// what the allocator gives.
	entryOverhead = 512
	lineOverhead  = 64
)

// recordID names a record within one worker. It never leaves it.
type recordID [sha256.Size]byte

func makeRecordID(scope, principal, key string) recordID {
	b := make([]byte, 0, 256)
	for _, s := range [...]string{scope, principal, key} {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(s)))
		b = append(b, s...)
	}
	return sha256.Sum256(b)
}

// entry is a finished key: what every repeat of it is told.
type entry struct {
	id          recordID
	rule        *Rule
	fingerprint []byte
	// told: the bridge said that the key is finished. The fingerprint is then that of
	// the repeat which asked, and the record's may be of an earlier configuration:
	// of another fingerprint the bridge alone knows whether it is the record's.
	told   bool
	code   wire.Code // Replayed, KeyUsed or ResponseNotKept
	status uint16
	// record is the answer of a key that this worker completed, response what is
	// decoded of it when the first repeat comes, which most keys never see: one
	// piece of memory without pointers costs the collector next to nothing.
	record   []byte
	response *wire.Response // Replayed
	at       int64          // when the store said so
	age      int64          // the record's age then, in nanoseconds
	life     int64          // the record's remaining life then; 0: not known
	until    int64
	size     int
	place    *list.Element
}

// speaksOf reports whether the entry tells what a repeat with a fingerprint gets.
func (e *entry) speaksOf(fingerprint []byte) bool {
	return e != nil && (!e.told || bytes.Equal(e.fingerprint, fingerprint))
}

// cache remembers finished keys, so that a storm of retries is answered without
// a callout. It is filled only from what the store has acknowledged.
type cache struct {
	entries map[recordID]*entry
	order   *list.List // front: used last
	bytes   int
}

func newCache() cache { return cache{entries: map[recordID]*entry{}, order: list.New()} }

// get returns what is known of a finished key under the same rule.
func (c *cache) get(now int64, id recordID, r *Rule) *entry {
	e := c.entries[id]
	if e == nil {
		return nil
	}
	if now >= e.until || e.rule != r {
		c.remove(e)
		return nil
	}
	c.order.MoveToFront(e.place)
	if e.record != nil && !c.decode(e) {
		c.remove(e)
		return nil
	}
	return e
}

// decode reads an entry's record; false: it cannot be sent.
func (c *cache) decode(e *entry) bool {
	r, ok := decodeRecord(e.record)
	if !ok {
		return false
	}
	e.record, e.response = nil, r
	c.bytes -= e.size
	e.measure()
	c.bytes += e.size
	c.shrink()
	return true
}

// measure counts what an entry takes.
func (e *entry) measure() {
	e.size = entryOverhead + len(e.fingerprint) + len(e.record)
	if e.response != nil {
		e.size += len(e.response.Body)
		for _, h := range e.response.Headers {
			e.size += len(h.Name) + len(h.Value) + lineOverhead
		}
	}
}

// shrink forgets what was not used for longest.
func (c *cache) shrink() {
	for c.bytes > cacheBytes {
		c.remove(c.order.Back().Value.(*entry))
	}
}

func (c *cache) put(e *entry) {
	if old := c.entries[e.id]; old != nil {
		c.remove(old)
	}
	if e.measure(); e.size > cacheBytes/8 {
		return
	}
	e.until = e.at + int64(cacheLife)
	if e.life > 0 {
		e.until = min(e.until, e.at+e.life)
	}
	e.place = c.order.PushFront(e)
	c.entries[e.id] = e
	c.bytes += e.size
	c.shrink()
}

func (c *cache) remove(e *entry) {
	c.order.Remove(e.place)
	delete(c.entries, e.id)
	c.bytes -= e.size
}
