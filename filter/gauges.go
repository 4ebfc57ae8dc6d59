package filter

// Gauge is one of the filter's gauges. Each is the sum over the workers of an
// Envoy; what a VM held that has failed stays in it.
type Gauge uint8

// The gauges.
const (
	GaugeStreams  Gauge = iota // covered streams that have not ended
	GaugePending               // operations that are not acknowledged
	GaugeWaiting               // requests that wait for a concurrent one
	GaugeCallouts              // callouts under way
	GaugeBodies                // bytes of bodies and of results that are not acknowledged
	GaugeCache                 // bytes of the memory of finished keys
	GaugeHeap                  // bytes of living and dead objects of the Go heap
	GaugeMemory                // bytes that the VM's memory has grown to for Go
	GaugeCount
)

var gaugeNames = [GaugeCount]string{
	"idempotency.open_streams",
	"idempotency.pending_operations",
	"idempotency.waiting",
	"idempotency.callouts_under_way",
	"idempotency.body_bytes",
	"idempotency.cache_bytes",
	"idempotency.heap_bytes",
	"idempotency.memory_bytes",
}

// Gauges returns the names of the gauges, indexed by [Gauge].
func Gauges() []string { return gaugeNames[:] }
