//go:build wasip1 && go1.24 && !tinygo

package wasip1

import (
	"bytes"
	"unsafe"

	"github.com/tetratelabs/proxy-wasm-go-sdk/proxywasm/internal"
)

//go:wasmimport env proxy_get_property
func proxyGetProperty(path unsafe.Pointer, pathSize uint32, value, valueSize unsafe.Pointer) uint32

// ProxyGetProperty reads an Envoy attribute; path segments are separated by a
// zero byte, integers are 8 bytes little endian. Not found: 1. An attribute that
// Envoy has moved since the SDK named it is found under its old name too.
func (host) ProxyGetProperty(path *byte, pathSize int, value **byte, valueSize *int) internal.Status {
	st := getProperty(unsafe.Slice(path, pathSize), value, valueSize)
	if st == internal.StatusNotFound {
		if p := moved(unsafe.Slice(path, pathSize)); p != nil {
			return getProperty(p, value, valueSize)
		}
	}
	return st
}

func getProperty(path []byte, value **byte, valueSize *int) internal.Status {
	var addr, n uint32
	st := proxyGetProperty(bytesPtr(path), uint32(len(path)), unsafe.Pointer(&addr), unsafe.Pointer(&n))
	return claim(addr, n, value, valueSize, st)
}

// moved returns the present path of an attribute of the SDK's time, nil where
// there is none: what describes the configuration stood alone, and stands under
// xds now (https://www.envoyproxy.io/docs/envoy/latest/intro/arch_overview/advanced/attributes).
func moved(path []byte) []byte {
	first, _, _ := bytes.Cut(path, []byte{0})
	switch string(first) {
	case "node", "cluster_name", "cluster_metadata", "listener_direction", "listener_metadata",
		"route_name", "route_metadata", "upstream_host_metadata", "filter_chain_name":
		return append([]byte("xds\x00"), path...)
	}
	return nil
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
