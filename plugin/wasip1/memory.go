//go:build wasip1 && go1.24 && !tinygo

package wasip1

import (
	"unsafe"

	"github.com/tetratelabs/proxy-wasm-go-sdk/proxywasm/internal"
)

// pinned holds what the host has allocated and no host call has claimed yet;
// without it the collector would free memory that only the host knows of.
var pinned = map[uint32][]byte{}

// memoryAllocate gives the host size bytes for a value that it is about to
// return. An allocation of 0 bytes gets an address too: 0 means failure.
//
//go:wasmexport proxy_on_memory_allocate
func memoryAllocate(size uint32) uint32 {
	b := make([]byte, max(size, 1))
	addr := uint32(uintptr(unsafe.Pointer(unsafe.SliceData(b))))
	pinned[addr] = b
	return addr
}

// claim hands the bytes at addr, allocated by memoryAllocate, to the caller. A
// status other than OK and an empty value leave the caller with nothing. The
// host may write less than it asked for, never more.
func claim(addr, size uint32, data **byte, n *int, st uint32) internal.Status {
	*data, *n = nil, 0
	b, ok := pinned[addr]
	if ok {
		delete(pinned, addr)
	}
	if st != 0 || !ok || int(size) > len(b) {
		return internal.Status(st)
	}
	*data, *n = unsafe.SliceData(b), int(size)
	return internal.StatusOK
}

// bytesPtr and stringPtr give the address of a value's first byte, nil where
// there is none.
func bytesPtr(b []byte) unsafe.Pointer  { return unsafe.Pointer(unsafe.SliceData(b)) }
func stringPtr(s string) unsafe.Pointer { return unsafe.Pointer(unsafe.StringData(s)) }
func ptr(b *byte) unsafe.Pointer        { return unsafe.Pointer(b) }
