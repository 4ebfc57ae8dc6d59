package host

// bufferType is a buffer's number in the ABI.
type bufferType uint32

// Buffers of the ABI.
const (
	requestBody bufferType = iota
	responseBody
	downstreamData
	upstreamData
	callBody
	grpcMessage
	vmConfiguration
	pluginConfiguration
	callData
)

var bufferNames = [...]string{"request_body", "response_body", "downstream_data", "upstream_data", "call_body",
	"grpc_message", "vm_configuration", "plugin_configuration", "call_data"}

func init() {
	define("env", "proxy_get_buffer_bytes", "iiiii", getBufferBytes)
	define("env", "proxy_get_buffer_status", "iii", getBufferStatus)
	define("env", "proxy_set_buffer_bytes", "iiiii", setBufferBytes)
}

func (c *call) bufferName() (string, bool) {
	if t := c.u32(0); t < uint32(len(bufferNames)) {
		return bufferNames[t], true
	}
	c.show("%d", c.u32(0))
	c.misuse("no such buffer")
	return "", false
}

// buffer is what a filter may read, and where in is set also change.
type bufferView struct {
	b  []byte
	in *buffer
}

// buffer finds a buffer; false where it does not exist at all now. A body
// outside its callbacks exists and is empty.
func (x *fctx) buffer(t bufferType) (bufferView, bool) {
	body := func(b *buffer) (bufferView, bool) {
		if b == nil {
			return bufferView{}, true
		}
		return bufferView{b.b, b}, true
	}
	switch t {
	case requestBody:
		if x.bufferingReq && x.stream != nil {
			return body(x.stream.dec.buf)
		}
		return body(x.reqBody)
	case responseBody:
		if x.bufferingResp && x.stream != nil {
			return body(x.stream.enc.buf)
		}
		return body(x.respBody)
	case downstreamData, upstreamData:
		if x.conn == nil {
			return bufferView{}, true
		}
		if t == downstreamData {
			return body(x.conn.down)
		}
		return body(x.conn.up)
	case callBody:
		if x.root.answer == nil {
			return bufferView{}, false
		}
		return bufferView{b: x.root.answer.body}, true
	case grpcMessage:
		return bufferView{b: x.root.grpcMessage}, true
	case vmConfiguration:
		return bufferView{b: x.vm.h.o.VMConfig}, true
	case pluginConfiguration:
		if x.starting == nil {
			return bufferView{}, false
		}
		return bufferView{b: x.starting.config}, true
	}
	return bufferView{}, true // call_data
}

// view is the buffer of parameter 0, as it is now.
func (c *call) view() (bufferView, bool) {
	x, t := c.ctx(), bufferType(c.u32(0))
	if t == requestBody && x.staleReq || t == responseBody && x.staleResp {
		c.misuse("the chunk of a callback that has returned 2 or 3: Envoy reads memory that it has freed")
	}
	return x.buffer(t)
}

// getBufferBytes is proxy_get_buffer_bytes: a part of a buffer.
//
//	in   buffer type, start, length
//	out  address and size of what there is of it
//
// OK, with less or nothing where the buffer is shorter; not found: the buffer
// does not exist now (plugin configuration outside proxy_on_configure, a call's
// body outside its callback); bad argument: start + length overflows 64 bits,
// which 32-bit values cannot.
//
//	proxy_get_buffer_bytes(request_body, 0, 100) = ok 24 bytes
//
// https://github.com/proxy-wasm/spec/tree/main/abi-versions/v0.2.1#proxy_get_buffer_bytes
func getBufferBytes(c *call) Status {
	name, ok := c.bufferName()
	if !ok {
		return StatusBadArgument
	}
	start, length := uint64(c.u32(1)), uint64(c.u32(2))
	c.show("%s, %d, %d", name, start, length)
	v, ok := c.view()
	if !ok {
		return StatusNotFound
	}
	size := uint64(len(v.b))
	part := v.b[min(start, size):min(start+length, size)]
	c.give(3, 4, part)
	return c.got("%d bytes", len(part))
}

// getBufferStatus is proxy_get_buffer_status: a buffer's length.
//
//	in   buffer type
//	out  length and flags, 32 bits each; flags are 0
//
// OK; not found as for proxy_get_buffer_bytes.
//
// https://github.com/proxy-wasm/spec/tree/main/abi-versions/v0.2.1#proxy_get_buffer_status
func getBufferStatus(c *call) Status {
	name, ok := c.bufferName()
	if !ok {
		return StatusBadArgument
	}
	c.show("%s", name)
	v, ok := c.view()
	if !ok {
		return StatusNotFound
	}
	c.setU32(1, uint32(len(v.b)))
	c.setU32(2, 0)
	return c.got("%d", len(v.b))
}

// setBufferBytes is proxy_set_buffer_bytes: changes a body at its ends only.
//
//	in   buffer type, start, length, address and size of the bytes
//
//	start 0, length 0                 before what is there
//	start 0, length < the buffer's    instead of its first bytes
//	start 0, length >= the buffer's   instead of it
//	start >= the buffer's length      behind it
//
// OK; bad argument: anything else, and buffers that are not bodies; not found as
// for proxy_get_buffer_bytes.
//
// https://github.com/proxy-wasm/spec/tree/main/abi-versions/v0.2.1#proxy_set_buffer_bytes
func setBufferBytes(c *call) Status {
	name, ok := c.bufferName()
	if !ok {
		return StatusBadArgument
	}
	start, length, data := int(c.u32(1)), int(c.u32(2)), []byte(c.str(3))
	c.show("%s, %d, %d, %d bytes", name, start, length, len(data))
	v, ok := c.view()
	if !ok {
		return StatusNotFound
	}
	if v.in == nil {
		return StatusBadArgument
	}
	switch {
	case start == 0 && length == 0:
		v.in.replace(append(data, v.in.b...))
	case start == 0 && length >= len(v.b):
		v.in.replace(data)
	case start == 0:
		v.in.replace(append(data, v.in.b[length:]...))
	case start >= len(v.b):
		v.in.add(data)
	default:
		return StatusBadArgument
	}
	return StatusOK
}
