//go:build wasip1 && go1.24 && !tinygo

package wasip1

import (
	"unsafe"

	"github.com/tetratelabs/proxy-wasm-go-sdk/proxywasm/internal"
)

//go:wasmimport env proxy_get_buffer_bytes
func proxyGetBufferBytes(bufferType, start, maxSize uint32, data, size unsafe.Pointer) uint32

// ProxyGetBufferBytes copies up to maxSize bytes of a buffer from start on. In
// a body callback that returns 2 (stop and watermark) the buffer is the current
// chunk alone.
func (host) ProxyGetBufferBytes(t internal.BufferType, start, maxSize int, data **byte, size *int) internal.Status {
	var addr, n uint32
	st := proxyGetBufferBytes(uint32(t), uint32(start), uint32(maxSize), unsafe.Pointer(&addr), unsafe.Pointer(&n))
	return claim(addr, n, data, size, st)
}

//go:wasmimport env proxy_set_buffer_bytes
func proxySetBufferBytes(bufferType, start, size uint32, data unsafe.Pointer, dataSize uint32) uint32

// ProxySetBufferBytes replaces (start 0, the buffer's length), prepends (length
// 0) or appends (start at the end); anything else is a bad argument.
func (host) ProxySetBufferBytes(t internal.BufferType, start, size int, data *byte, dataSize int) internal.Status {
	return internal.Status(proxySetBufferBytes(uint32(t), uint32(start), uint32(size), ptr(data), uint32(dataSize)))
}
