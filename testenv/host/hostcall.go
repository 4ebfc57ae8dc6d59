package host

import (
	"context"
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/tetratelabs/wazero/api"
)

// hostCall is one function that the host offers to filters.
type hostCall struct {
	module          string
	params, results []api.ValueType
	fn              func(*call) Status
	quiet           bool // not traced: WASI
}

// hostCalls are all functions of the host by "module.name". The table lists
// what Envoy registers; the functions are in hostcall_*.go and wasi.go.
var hostCalls = map[string]*hostCall{}

// define adds a function. In types, i is i32 and I is i64; every function
// returns an i32 but those that are declared with a trailing "!".
func define(module, name, types string, fn func(*call) Status) {
	c := &hostCall{module: module, fn: fn, quiet: module != "env"}
	if !strings.HasSuffix(types, "!") {
		c.results = []api.ValueType{api.ValueTypeI32}
	}
	c.params = []api.ValueType{}
	for _, t := range strings.TrimSuffix(types, "!") {
		if t == 'I' {
			c.params = append(c.params, api.ValueTypeI64)
		} else {
			c.params = append(c.params, api.ValueTypeI32)
		}
	}
	hostCalls[module+"."+name] = c
}

// call is one call of a host function.
type call struct {
	vm   *vm
	name string
	a    []uint64
	args string // as traced
	out  string // what it gave, as traced
}

// badPointer ends a host call whose pointer lies outside the memory.
type badPointer struct{ what string }

// run adapts the function to wazero: it finds the calling VM, records the call
// and catches bad pointers.
func (hc *hostCall) run(name string) func(context.Context, []uint64) {
	return func(ctx context.Context, stack []uint64) {
		v := ctx.Value(vmKey{}).(*vm)
		if v.allowed != nil && !v.allowed[name] {
			panic(fmt.Errorf("restricted call of %s", name))
		}
		c := call{vm: v, name: name, a: stack}
		st := c.guarded(hc.fn)
		if !hc.quiet {
			v.h.trace.add(v, "< ", "%s(%s) = %s%s", name, c.args, st, c.out)
		}
		if len(hc.results) > 0 {
			stack[0] = uint64(st)
		}
	}
}

func (c *call) guarded(fn func(*call) Status) (st Status) {
	defer func() {
		if r := recover(); r != nil {
			bad, ok := r.(badPointer)
			if !ok {
				panic(r)
			}
			st = StatusInvalidMemoryAccess
			c.misuse("%s outside the memory", bad.what)
		}
	}()
	return fn(c)
}

// misuse reports a fault of the filter that Envoy answers with a status.
func (c *call) misuse(format string, args ...any) {
	if !c.vm.h.o.Lenient {
		c.vm.h.blame(c.vm, fmt.Errorf("%s(%s): %s", c.name, c.args, fmt.Sprintf(format, args...)))
	}
}

// unmodelled reports a call whose effect the model does not have.
func (c *call) unmodelled(what string) Status {
	c.vm.h.blame(c.vm, fmt.Errorf("%s(%s): %s is not modelled", c.name, c.args, what))
	return StatusUnimplemented
}

func (c *call) ctx() *fctx { return c.vm.context() }

func (c *call) u32(i int) uint32 { return uint32(c.a[i]) }

// str reads the string whose address is parameter i and whose size is i+1.
func (c *call) str(i int) string {
	b, ok := c.vm.mod.Memory().Read(c.u32(i), c.u32(i+1))
	if !ok {
		panic(badPointer{fmt.Sprintf("parameter %d, %d bytes at %#x,", i+1, c.u32(i+1), c.u32(i))})
	}
	return string(b)
}

// write puts bytes at the address that is parameter i.
func (c *call) write(i int, b []byte) {
	if !c.vm.mod.Memory().Write(c.u32(i), b) {
		panic(badPointer{fmt.Sprintf("parameter %d, %#x,", i+1, c.u32(i))})
	}
}

func (c *call) setU32(i int, v uint32) {
	var b [4]byte
	binary.LittleEndian.PutUint32(b[:], v)
	c.write(i, b[:])
}

func (c *call) setU64(i int, v uint64) {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], v)
	c.write(i, b[:])
}

// give allocates memory in the filter, copies b there, and writes its address
// and size where parameters i and j say. Nothing is allocated for no bytes: both
// are 0 then.
func (c *call) give(i, j int, b []byte) {
	at := uint32(0)
	if len(b) > 0 {
		if at = c.vm.alloc(len(b)); at == 0 || !c.vm.mod.Memory().Write(at, b) {
			panic(badPointer{fmt.Sprintf("%d bytes allocated at %#x", len(b), at)})
		}
	}
	c.setU32(i, at)
	c.setU32(j, uint32(len(b)))
}

// show sets what the trace shows of the parameters, got of the results.
func (c *call) show(format string, args ...any) {
	if !c.vm.h.trace.off || c.vm.h.o.T != nil {
		c.args = fmt.Sprintf(format, args...)
	}
}

func (c *call) got(format string, args ...any) Status {
	if !c.vm.h.trace.off {
		c.out = " " + fmt.Sprintf(format, args...)
	}
	return StatusOK
}
