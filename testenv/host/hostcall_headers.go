package host

import "github.com/oncewall/oncewall/testenv/host/abi"

// mapType is a header map's number in the ABI.
type mapType uint32

// Header maps of the ABI.
const (
	requestHeaders mapType = iota
	requestTrailers
	responseHeaders
	responseTrailers
	grpcInitialMetadata
	grpcTrailingMetadata
	callHeaders
	callTrailers
)

var mapNames = [...]string{"request", "request_trailers", "response", "response_trailers",
	"grpc_initial", "grpc_trailing", "call", "call_trailers"}

func init() {
	define("env", "proxy_get_header_map_value", "iiiii", getHeaderMapValue)
	define("env", "proxy_add_header_map_value", "iiiii", addHeaderMapValue)
	define("env", "proxy_replace_header_map_value", "iiiii", replaceHeaderMapValue)
	define("env", "proxy_remove_header_map_value", "iii", removeHeaderMapValue)
	define("env", "proxy_get_header_map_pairs", "iii", getHeaderMapPairs)
	define("env", "proxy_set_header_map_pairs", "iii", setHeaderMapPairs)
	define("env", "proxy_get_header_map_size", "ii", getHeaderMapSize)
}

// mapName names the map of parameter 0; false where there is no such map.
func (c *call) mapName() (string, bool) {
	if t := c.u32(0); t < uint32(len(mapNames)) {
		return mapNames[t], true
	}
	c.show("%d", c.u32(0))
	c.misuse("no such header map")
	return "", false
}

// getHeaderMapValue is proxy_get_header_map_value: the first value of a header.
//
//	in   map type, address and size of the name (any case)
//	out  address and size of the value
//
// OK; not found: no such header, or in proxy_on_log no such map; bad argument:
// the map does not exist now (request headers after they went on, a call's
// headers outside its callback). Later values of the name stay hidden: pairs
// show them.
//
//	proxy_get_header_map_value(request, ":path") = ok "/orders"
//
// https://github.com/proxy-wasm/spec/tree/main/abi-versions/v0.2.1#proxy_get_header_map_value
func getHeaderMapValue(c *call) Status {
	name, ok := c.mapName()
	if !ok {
		return StatusBadArgument
	}
	key := c.str(1)
	c.show("%s, %q", name, key)
	x := c.ctx()
	m := x.constMap(mapType(c.u32(0)))
	if m == nil {
		if x.logging {
			return StatusNotFound
		}
		return StatusBadArgument
	}
	value, ok := m.Lookup(key)
	if !ok {
		return StatusNotFound
	}
	c.give(3, 4, []byte(value))
	return c.got("%s", quote(value))
}

// addHeaderMapValue is proxy_add_header_map_value: one more value of a header.
// Headers that Envoy keeps in a fixed slot (content-type) get it joined by a
// comma instead.
//
//	in   map type, name and value, each by address and size
//
// OK; bad argument: the map does not exist now, or is one of a call's.
//
// https://github.com/proxy-wasm/spec/tree/main/abi-versions/v0.2.1#proxy_add_header_map_value
func addHeaderMapValue(c *call) Status {
	return c.change(func(m *Headers, key string) { m.Add(key, c.str(3)) })
}

// replaceHeaderMapValue is proxy_replace_header_map_value: the only value of a
// header from now on. Parameters and statuses are those of adding one.
//
// https://github.com/proxy-wasm/spec/tree/main/abi-versions/v0.2.1#proxy_replace_header_map_value
func replaceHeaderMapValue(c *call) Status {
	return c.change(func(m *Headers, key string) { m.Set(key, c.str(3)) })
}

func (c *call) change(f func(m *Headers, key string)) Status {
	name, ok := c.mapName()
	if !ok {
		return StatusBadArgument
	}
	key := c.str(1)
	c.show("%s, %q, %s", name, key, quote(c.str(3)))
	m := c.ctx().mutableMap(mapType(c.u32(0)))
	if m == nil {
		return StatusBadArgument
	}
	f(m, key)
	return StatusOK
}

// removeHeaderMapValue is proxy_remove_header_map_value: every value of a header
// goes.
//
//	in   map type, address and size of the name
//
// OK, also where there is none; bad argument: the map does not exist now.
//
// https://github.com/proxy-wasm/spec/tree/main/abi-versions/v0.2.1#proxy_remove_header_map_value
func removeHeaderMapValue(c *call) Status {
	name, ok := c.mapName()
	if !ok {
		return StatusBadArgument
	}
	key := c.str(1)
	c.show("%s, %q", name, key)
	m := c.ctx().mutableMap(mapType(c.u32(0)))
	if m == nil {
		return StatusBadArgument
	}
	m.Del(key)
	return StatusOK
}

// getHeaderMapPairs is proxy_get_header_map_pairs: a whole map in the form of
// [abi.EncodePairs].
//
//	in   map type
//	out  address and size of the pairs
//
// OK always: a map that does not exist is empty, and an empty one has size 0.
//
//	proxy_get_header_map_pairs(request) = ok 9 pairs
//
// https://github.com/proxy-wasm/spec/tree/main/abi-versions/v0.2.1#proxy_get_header_map_pairs
func getHeaderMapPairs(c *call) Status {
	name, ok := c.mapName()
	if !ok {
		return StatusBadArgument
	}
	c.show("%s", name)
	m := c.ctx().constMap(mapType(c.u32(0)))
	if m == nil || len(*m) == 0 {
		c.give(1, 2, nil)
		return c.got("0 pairs")
	}
	c.give(1, 2, abi.EncodePairs(*m))
	return c.got("%d pairs", len(*m))
}

// setHeaderMapPairs is proxy_set_header_map_pairs: the map's whole content.
//
//	in   map type, address and size of the pairs
//
// OK; bad argument: the map does not exist now. Pairs that cannot be decoded,
// more than 1024 or more than 1 MiB empty the map without telling.
//
// https://github.com/proxy-wasm/spec/tree/main/abi-versions/v0.2.1#proxy_set_header_map_pairs
func setHeaderMapPairs(c *call) Status {
	name, ok := c.mapName()
	if !ok {
		return StatusBadArgument
	}
	pairs, _ := abi.DecodePairs([]byte(c.str(1)))
	c.show("%s, %d pairs", name, len(pairs))
	m := c.ctx().mutableMap(mapType(c.u32(0)))
	if m == nil {
		return StatusBadArgument
	}
	*m = nil
	for _, p := range pairs {
		m.Add(p[0], p[1])
	}
	return StatusOK
}

// getHeaderMapSize is proxy_get_header_map_size: bytes of all names and values.
//
//	in   map type
//	out  the size, 32 bits
//
// OK; bad argument: the map does not exist now, or is one of a call's.
//
// https://github.com/proxy-wasm/spec/tree/main/abi-versions/v0.2.0#proxy_get_header_map_size
func getHeaderMapSize(c *call) Status {
	name, ok := c.mapName()
	if !ok {
		return StatusBadArgument
	}
	c.show("%s", name)
	m := c.ctx().mutableMap(mapType(c.u32(0)))
	if m == nil {
		return StatusBadArgument
	}
	c.setU32(1, uint32(m.bytes()))
	return c.got("%d", m.bytes())
}

// mutableMap is the map that a filter may change now; nil where there is none.
// Asking for trailers at a body's end adds them.
func (x *fctx) mutableMap(t mapType) *Headers {
	switch t {
	case requestHeaders:
		return x.reqHeaders
	case requestTrailers:
		if x.reqTrailers == nil && x.reqBody != nil && x.end && x.stream != nil {
			x.reqTrailers = x.stream.dec.addTrailers()
		}
		return x.reqTrailers
	case responseHeaders:
		return x.respHeaders
	case responseTrailers:
		if x.respTrailers == nil && x.respBody != nil && x.end && x.stream != nil {
			x.respTrailers = x.stream.enc.addTrailers()
		}
		return x.respTrailers
	}
	return nil
}

// constMap is the map that a filter may read now.
func (x *fctx) constMap(t mapType) *Headers {
	s := x.stream
	switch t {
	case requestHeaders:
		if x.logging {
			return &s.reqHeaders
		}
		return x.reqHeaders
	case requestTrailers:
		if x.logging {
			return nil
		}
		return x.reqTrailers
	case responseHeaders:
		if x.logging {
			return s.respHeaders
		}
		return x.respHeaders
	case responseTrailers:
		if x.logging {
			return s.enc.trailers
		}
		return x.respTrailers
	case grpcInitialMetadata:
		return x.root.grpcInitial
	case grpcTrailingMetadata:
		return x.root.grpcTrailing
	}
	if a := x.root.answer; a != nil {
		if t == callHeaders {
			return &a.headers
		}
		return a.trailers
	}
	return nil
}
