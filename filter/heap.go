package filter

// Limits of the Go heap of a VM. Its memory never shrinks, so a heap that may
// grow to twice of what lives, as Go's collector lets it, keeps the room of the
// worst moment it ever had. Below a limit the collector runs before the heap
// grows; what lives lifts the limit by whole steps when it comes near.
const (
	// MinHeapLimit is the limit that a VM starts with: three times of what a full
	// memory of finished keys takes.
	MinHeapLimit = 64 << 20
	// MaxHeapLimit is the last one: Envoy gives a VM 1 GiB, and there is no way on
	// from its end.
	MaxHeapLimit  = 768 << 20
	heapLimitStep = 32 << 20
	// HeapPercent is how much a heap below its limit may grow between two
	// collections, in percent of what lives. A collection looks at all that lives,
	// the memory of finished keys above all, and is paid by the requests between it
	// and the last one.
	HeapPercent = 300
)

// HeapLimit returns the limit for a heap of which live bytes survived the last
// collection: the limit it has, or the lowest that leaves a third of it to what
// comes and goes. A limit is never lowered.
func HeapLimit(limit, live int64) int64 {
	limit = max(limit, MinHeapLimit)
	for live > limit/3*2 && limit < MaxHeapLimit {
		limit += heapLimitStep
	}
	return limit
}
