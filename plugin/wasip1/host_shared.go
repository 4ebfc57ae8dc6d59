//go:build wasip1 && go1.24 && !tinygo

package wasip1

import (
	"unsafe"

	"github.com/tetratelabs/proxy-wasm-go-sdk/proxywasm/internal"
)

//go:wasmimport env proxy_get_shared_data
func proxyGetSharedData(key unsafe.Pointer, keySize uint32, value, valueSize, cas unsafe.Pointer) uint32

// ProxyGetSharedData reads a value that all VMs with one vm_id share, with the
// number that a later compare-and-set names. Not found: 1.
func (host) ProxyGetSharedData(key *byte, keySize int, value **byte, valueSize *int, cas *uint32) internal.Status {
	var addr, n uint32
	st := proxyGetSharedData(ptr(key), uint32(keySize), unsafe.Pointer(&addr), unsafe.Pointer(&n), unsafe.Pointer(cas))
	return claim(addr, n, value, valueSize, st)
}

//go:wasmimport env proxy_set_shared_data
func proxySetSharedData(key unsafe.Pointer, keySize uint32, value unsafe.Pointer, valueSize, cas uint32) uint32

// ProxySetSharedData writes a shared value; cas 0 writes without comparing. CAS
// mismatch: 8.
func (host) ProxySetSharedData(key *byte, keySize int, value *byte, valueSize int, cas uint32) internal.Status {
	return internal.Status(proxySetSharedData(ptr(key), uint32(keySize), ptr(value), uint32(valueSize), cas))
}

//go:wasmimport env proxy_register_shared_queue
func proxyRegisterSharedQueue(name unsafe.Pointer, nameSize uint32, id unsafe.Pointer) uint32

// ProxyRegisterSharedQueue makes or finds this VM's queue of that name.
func (host) ProxyRegisterSharedQueue(name *byte, nameSize int, id *uint32) internal.Status {
	return internal.Status(proxyRegisterSharedQueue(ptr(name), uint32(nameSize), unsafe.Pointer(id)))
}

//go:wasmimport env proxy_resolve_shared_queue
func proxyResolveSharedQueue(vm unsafe.Pointer, vmSize uint32, name unsafe.Pointer, nameSize uint32, id unsafe.Pointer) uint32

// ProxyResolveSharedQueue finds another VM's queue. Not found: 1.
func (host) ProxyResolveSharedQueue(vm *byte, vmSize int, name *byte, nameSize int, id *uint32) internal.Status {
	return internal.Status(proxyResolveSharedQueue(ptr(vm), uint32(vmSize), ptr(name), uint32(nameSize), unsafe.Pointer(id)))
}

//go:wasmimport env proxy_dequeue_shared_queue
func proxyDequeueSharedQueue(id uint32, value, valueSize unsafe.Pointer) uint32

// ProxyDequeueSharedQueue takes the oldest value. Empty: 7. No such queue: 1.
func (host) ProxyDequeueSharedQueue(id uint32, value **byte, valueSize *int) internal.Status {
	var addr, n uint32
	st := proxyDequeueSharedQueue(id, unsafe.Pointer(&addr), unsafe.Pointer(&n))
	return claim(addr, n, value, valueSize, st)
}

//go:wasmimport env proxy_enqueue_shared_queue
func proxyEnqueueSharedQueue(id uint32, value unsafe.Pointer, valueSize uint32) uint32

// ProxyEnqueueSharedQueue appends a value. No such queue: 1.
func (host) ProxyEnqueueSharedQueue(id uint32, value *byte, valueSize int) internal.Status {
	return internal.Status(proxyEnqueueSharedQueue(id, ptr(value), uint32(valueSize)))
}
