//go:build wasip1 && go1.24 && !tinygo

package wasip1

import (
	"unsafe"

	"github.com/tetratelabs/proxy-wasm-go-sdk/proxywasm/internal"
)

//go:wasmimport env proxy_get_header_map_value
func proxyGetHeaderMapValue(mapType uint32, key unsafe.Pointer, keySize uint32, value, valueSize unsafe.Pointer) uint32

// ProxyGetHeaderMapValue returns the first line of a header; repeated lines are
// seen only through ProxyGetHeaderMapPairs. Not found: 1. No such map in this
// phase: 2.
func (host) ProxyGetHeaderMapValue(t internal.MapType, key *byte, keySize int, value **byte, valueSize *int) internal.Status {
	var addr, n uint32
	st := proxyGetHeaderMapValue(uint32(t), ptr(key), uint32(keySize), unsafe.Pointer(&addr), unsafe.Pointer(&n))
	return claim(addr, n, value, valueSize, st)
}

//go:wasmimport env proxy_add_header_map_value
func proxyAddHeaderMapValue(mapType uint32, key unsafe.Pointer, keySize uint32, value unsafe.Pointer, valueSize uint32) uint32

// ProxyAddHeaderMapValue appends a header line. The host checks neither name
// nor value.
func (host) ProxyAddHeaderMapValue(t internal.MapType, key *byte, keySize int, value *byte, valueSize int) internal.Status {
	return internal.Status(proxyAddHeaderMapValue(uint32(t), ptr(key), uint32(keySize), ptr(value), uint32(valueSize)))
}

//go:wasmimport env proxy_replace_header_map_value
func proxyReplaceHeaderMapValue(mapType uint32, key unsafe.Pointer, keySize uint32, value unsafe.Pointer, valueSize uint32) uint32

// ProxyReplaceHeaderMapValue sets a header to one line, adding it where it is
// absent. Possible for as long as the map is held by this filter, a callout's
// callback included.
func (host) ProxyReplaceHeaderMapValue(t internal.MapType, key *byte, keySize int, value *byte, valueSize int) internal.Status {
	return internal.Status(proxyReplaceHeaderMapValue(uint32(t), ptr(key), uint32(keySize), ptr(value), uint32(valueSize)))
}

//go:wasmimport env proxy_remove_header_map_value
func proxyRemoveHeaderMapValue(mapType uint32, key unsafe.Pointer, keySize uint32) uint32

// ProxyRemoveHeaderMapValue removes every line of a header; OK where there is
// none.
func (host) ProxyRemoveHeaderMapValue(t internal.MapType, key *byte, keySize int) internal.Status {
	return internal.Status(proxyRemoveHeaderMapValue(uint32(t), ptr(key), uint32(keySize)))
}

//go:wasmimport env proxy_get_header_map_pairs
func proxyGetHeaderMapPairs(mapType uint32, value, valueSize unsafe.Pointer) uint32

// ProxyGetHeaderMapPairs returns every line of a map in its order, in the
// encoding of the specification: count, then the sizes, then the texts, each
// ended by a zero byte.
func (host) ProxyGetHeaderMapPairs(t internal.MapType, value **byte, valueSize *int) internal.Status {
	var addr, n uint32
	st := proxyGetHeaderMapPairs(uint32(t), unsafe.Pointer(&addr), unsafe.Pointer(&n))
	return claim(addr, n, value, valueSize, st)
}

//go:wasmimport env proxy_set_header_map_pairs
func proxySetHeaderMapPairs(mapType uint32, pairs unsafe.Pointer, pairsSize uint32) uint32

// ProxySetHeaderMapPairs replaces a whole map. Above 1,024 pairs or 1 MiB the
// host drops all of them.
func (host) ProxySetHeaderMapPairs(t internal.MapType, pairs *byte, pairsSize int) internal.Status {
	return internal.Status(proxySetHeaderMapPairs(uint32(t), ptr(pairs), uint32(pairsSize)))
}
