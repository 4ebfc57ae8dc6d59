//go:build wasip1 && go1.24 && !tinygo

package wasip1

import (
	"unsafe"

	"github.com/tetratelabs/proxy-wasm-go-sdk/proxywasm/internal"
)

//go:wasmimport env proxy_log
func proxyLog(level uint32, message unsafe.Pointer, messageSize uint32) uint32

// ProxyLog writes a line to the host's log; the host does not escape it.
func (host) ProxyLog(level internal.LogLevel, message *byte, messageSize int) internal.Status {
	return internal.Status(proxyLog(uint32(level), ptr(message), uint32(messageSize)))
}

//go:wasmimport env proxy_define_metric
func proxyDefineMetric(metricType uint32, name unsafe.Pointer, nameSize uint32, id unsafe.Pointer) uint32

// ProxyDefineMetric makes or finds a counter, gauge or histogram. The same name
// in another worker names the same statistic.
func (host) ProxyDefineMetric(t internal.MetricType, name *byte, nameSize int, id *uint32) internal.Status {
	return internal.Status(proxyDefineMetric(uint32(t), ptr(name), uint32(nameSize), unsafe.Pointer(id)))
}

//go:wasmimport env proxy_increment_metric
func proxyIncrementMetric(id uint32, offset int64) uint32

// ProxyIncrementMetric adds to a counter (offset > 0) or a gauge.
func (host) ProxyIncrementMetric(id uint32, offset int64) internal.Status {
	return internal.Status(proxyIncrementMetric(id, offset))
}

//go:wasmimport env proxy_record_metric
func proxyRecordMetric(id uint32, value uint64) uint32

// ProxyRecordMetric sets a gauge or adds a value to a histogram.
func (host) ProxyRecordMetric(id uint32, value uint64) internal.Status {
	return internal.Status(proxyRecordMetric(id, value))
}

//go:wasmimport env proxy_get_metric
func proxyGetMetric(id uint32, value unsafe.Pointer) uint32

// ProxyGetMetric reads a counter or a gauge.
func (host) ProxyGetMetric(id uint32, value *uint64) internal.Status {
	return internal.Status(proxyGetMetric(id, unsafe.Pointer(value)))
}

//go:wasmimport env proxy_set_tick_period_milliseconds
func proxySetTickPeriodMilliseconds(period uint32) uint32

// ProxySetTickPeriodMilliseconds sets how often proxy_on_tick is called for the
// root of the effective context; 0 ends it. Each worker and the main thread
// tick on their own.
func (host) ProxySetTickPeriodMilliseconds(period uint32) internal.Status {
	return internal.Status(proxySetTickPeriodMilliseconds(period))
}
