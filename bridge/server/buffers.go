package server

import (
	"sync"

	"github.com/oncewall/oncewall/filter/wire"
)

// Buffers between these bounds are for batches and answers with large results,
// which are few: a job of every kind that kept its own would hold ever more
// memory, and a collector that has to look after each of them takes processors
// from the small ones beside.
const (
	// maxKept bounds the buffers that stay with a job.
	maxKept = 512 << 10
	// maxShared bounds those that the next large batch may have.
	maxShared = 4 << 20
)

// shared are buffers that no job has. The collector takes those that nobody
// needed for two of its rounds.
var shared sync.Pool

// roomFor returns buf, empty, or a buffer of others that holds size bytes, if size
// is more than a job keeps and there is one.
func roomFor(buf []byte, size int64) []byte {
	if size > maxKept && size > int64(cap(buf)) {
		if b, ok := shared.Get().(*[]byte); ok {
			if int64(cap(*b)) >= size {
				return (*b)[:0]
			}
			shared.Put(b)
		}
	}
	return buf[:0]
}

// keep returns what of a buffer stays with its job, and shares one that is too
// large for that.
func keep(buf []byte) []byte {
	if cap(buf) <= maxKept {
		return buf[:0]
	}
	if cap(buf) <= maxShared {
		buf = buf[:0]
		shared.Put(&buf)
	}
	return nil
}

// answerSize is about what an answer with results takes.
func answerSize(results []wire.Result) int64 {
	size := int64(64 * len(results))
	for i := range results {
		size += int64(len(results[i].Result))
	}
	return size
}
