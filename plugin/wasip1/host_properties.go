//go:build wasip1

package wasip1

import (
	"unsafe"

	"github.com/tetratelabs/proxy-wasm-go-sdk/proxywasm/internal"
)

//go:wasmimport env proxy_get_property
func proxyGetProperty(path unsafe.Pointer, pathSize uint32, value, valueSize unsafe.Pointer) uint32

// ProxyGetProperty reads an Envoy attribute; path segments are separated by a
// zero byte, integers are 8 bytes little endian. Not found: 1.
func (host) ProxyGetProperty(path *byte, pathSize int, value **byte, valueSize *int) internal.Status {
	var addr, n uint32
	st := proxyGetProperty(ptr(path), uint32(pathSize), unsafe.Pointer(&addr), unsafe.Pointer(&n))
	return claim(addr, n, value, valueSize, st)
}

//go:wasmimport env proxy_set_property
func proxySetProperty(path unsafe.Pointer, pathSize uint32, value unsafe.Pointer, valueSize uint32) uint32

// ProxySetProperty stores a value as filter state under "wasm." and the path.
func (host) ProxySetProperty(path *byte, pathSize int, value *byte, valueSize int) internal.Status {
	return internal.Status(proxySetProperty(ptr(path), uint32(pathSize), ptr(value), uint32(valueSize)))
}

//go:wasmimport env proxy_call_foreign_function
func proxyCallForeignFunction(name unsafe.Pointer, nameSize uint32, args unsafe.Pointer, argsSize uint32, result, resultSize unsafe.Pointer) uint32

// ProxyCallForeignFunction calls a function that the host adds to the
// interface. Unknown name: 1.
func (host) ProxyCallForeignFunction(name *byte, nameSize int, args *byte, argsSize int, result **byte, resultSize *int) internal.Status {
	var addr, n uint32
	st := proxyCallForeignFunction(ptr(name), uint32(nameSize), ptr(args), uint32(argsSize), unsafe.Pointer(&addr), unsafe.Pointer(&n))
	return claim(addr, n, result, resultSize, st)
}
