package host

import "time"

func init() {
	define("env", "proxy_log", "iii", proxyLog)
	define("env", "proxy_get_log_level", "i", getLogLevel)
	define("env", "proxy_get_current_time_nanoseconds", "i", getCurrentTime)
	define("env", "proxy_set_tick_period_milliseconds", "i", setTickPeriod)
	define("env", "proxy_get_status", "iii", getStatus)
	define("env", "proxy_get_property", "iiii", getProperty)
	define("env", "proxy_set_property", "iiii", setProperty)
	define("env", "proxy_call_foreign_function", "iiiiii", callForeignFunction)
}

// proxyLog is proxy_log: a line of Envoy's log.
//
//	in   level 0 trace to 5 critical; address and size of the text
//
// OK; bad argument: no such level. Nothing is escaped.
//
// https://github.com/proxy-wasm/spec/tree/main/abi-versions/v0.2.1#proxy_log
func proxyLog(c *call) Status {
	level := LogLevel(c.u32(0))
	if level > LogCritical {
		c.show("%d", level)
		c.misuse("no such log level")
		return StatusBadArgument
	}
	c.vm.logLine(level, c.str(1))
	return StatusOK
}

// getLogLevel is proxy_get_log_level (ABI 0.2.1): the level below which Envoy
// logs nothing.
//
//	out  level, 32 bits
//
// https://github.com/proxy-wasm/spec/tree/main/abi-versions/v0.2.1#proxy_get_log_level
func getLogLevel(c *call) Status {
	c.setU32(0, uint32(*c.vm.h.o.LogLevel))
	return c.got("%s", *c.vm.h.o.LogLevel)
}

// getCurrentTime is proxy_get_current_time_nanoseconds: the virtual clock.
//
//	out  nanoseconds since 1970, 64 bits
//
// https://github.com/proxy-wasm/spec/tree/main/abi-versions/v0.2.1#proxy_get_current_time_nanoseconds
func getCurrentTime(c *call) Status {
	c.setU64(0, uint64(c.vm.now().UnixNano()))
	return c.got("+%s", c.vm.h.now)
}

// setTickPeriod is proxy_set_tick_period_milliseconds: proxy_on_tick of the root
// context from now on every so many ms; 0 ends it.
//
//	in   period in ms
//
// https://github.com/proxy-wasm/spec/tree/main/abi-versions/v0.2.1#proxy_set_tick_period_milliseconds
func setTickPeriod(c *call) Status {
	c.show("%d", c.u32(0))
	c.ctx().root.setTick(time.Duration(c.u32(0)) * time.Millisecond)
	return StatusOK
}

// getStatus is proxy_get_status: what ended the last callout of the root
// context. The code stays after a later success, the message does not: tell a
// failed HTTP call by its 0 headers instead.
//
//	out  code, 32 bits (11 after a reset); address and size of the message
//
// https://github.com/proxy-wasm/spec/tree/main/abi-versions/v0.2.1#proxy_get_status
func getStatus(c *call) Status {
	root := c.ctx().root
	c.setU32(0, root.statusCode)
	c.give(1, 2, []byte(root.statusMessage))
	return c.got("%d %q", root.statusCode, root.statusMessage)
}

// getProperty is proxy_get_property: an attribute of the request, connection,
// route or node, or filter state that a filter has set.
//
//	in   address and size of the path, its parts separated by zero bytes
//	out  address and size of the value: text and bytes as they are, integers 8
//	     bytes little endian, bool 1 byte, time and duration nanoseconds, maps
//	     and lists as pairs
//
// OK; not found; serialization failure: a value that has no such form.
//
//	proxy_get_property("response.code_details") = ok "via_upstream"
//
// https://github.com/proxy-wasm/spec/tree/main/abi-versions/v0.2.1#proxy_get_property
func getProperty(c *call) Status {
	path := c.str(0)
	c.show("%q", dotted(path))
	value, st := c.ctx().property(path)
	if st != StatusOK {
		return st
	}
	c.give(2, 3, value)
	return c.got("%s", quote(string(value)))
}

// setProperty is proxy_set_property: filter state "wasm.<path>", readable by
// proxy_get_property(path) and Envoy's formatters.
//
//	in   path and value, each by address and size
//
// OK; not found: the context has no stream.
//
// https://github.com/proxy-wasm/spec/tree/main/abi-versions/v0.2.1#proxy_set_property
func setProperty(c *call) Status {
	path, value := c.str(0), c.str(2)
	c.show("%q, %s", dotted(path), quote(value))
	state := c.ctx().filterState()
	if state == nil {
		return StatusNotFound
	}
	state["wasm."+path] = []byte(value)
	return StatusOK
}

// callForeignFunction is proxy_call_foreign_function: functions of Envoy's own.
//
//	in   name and argument, each by address and size
//	out  address and size of the result; each may be null
//
// Not found: no such function; else what the function says.
//
// https://github.com/proxy-wasm/spec/tree/main/abi-versions/v0.2.1#proxy_call_foreign_function
func callForeignFunction(c *call) Status {
	name, args := c.str(0), c.str(2)
	c.show("%q, %d bytes", name, len(args))
	f := c.vm.h.o.Foreign[name]
	if f == nil {
		own, ok := foreign[name]
		if !ok {
			return StatusNotFound
		}
		if own == nil {
			return c.unmodelled(name)
		}
		f = func(args []byte) ([]byte, Status) { return own(c.ctx(), args) }
	}
	result, st := f([]byte(args))
	at := uint32(0)
	if len(result) > 0 && c.u32(4) != 0 {
		if at = c.vm.alloc(len(result)); at == 0 || !c.vm.mod.Memory().Write(at, result) {
			panic(badPointer{"result"})
		}
	}
	if c.u32(4) != 0 {
		c.setU32(4, at)
	}
	if c.u32(5) != 0 {
		c.setU32(5, uint32(len(result)))
	}
	c.got("%d bytes", len(result))
	return st
}
