package host

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sort"
	"strings"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// vm is one instance of the filter on one thread: its memory, its contexts and
// what proxy-wasm-cpp-host keeps beside them.
type vm struct {
	h      *Host
	w      *Worker // the thread
	name   string
	mod    api.Module
	ctx    context.Context // carries the vm to the host calls
	fns    map[string]api.Function
	env    []string
	rand   *rand.ChaCha8
	failed bool

	contexts map[uint32]*fctx
	nextID   uint32
	roots    map[*plugin]*fctx // live root contexts by configuration
	pending  map[*plugin]*fctx // answered on_done with false

	// current is the context of the running callback, effective the one that
	// proxy_set_effective_context chose instead (0: none). Both belong to one
	// call and are restored when it returns.
	current   *fctx
	effective uint32
	// stop makes the host stop the stream whatever the callback returns: a local
	// reply was sent in it.
	stop bool
	// after runs once the running callback has returned.
	after []func()
	// allowed are the only host functions that may be called now; nil means all.
	allowed map[string]bool

	nextHTTPCall, nextGRPCCall, nextGRPCStream uint32
	nextMetric                                 [3]uint32
	metrics                                    map[uint32]*metric
}

type vmKey struct{}

// maxTrapLines bounds what a trap shows of its stack.
const maxTrapLines = 1

// newVM instantiates the filter and runs its start function.
func (h *Host) newVM(w *Worker, name string) (*vm, error) {
	h.vms++
	v := &vm{
		h: h, w: w, name: name, fns: map[string]api.Function{}, nextID: 1,
		contexts: map[uint32]*fctx{}, roots: map[*plugin]*fctx{}, pending: map[*plugin]*fctx{},
		nextGRPCCall: 1, nextGRPCStream: 2, nextMetric: [3]uint32{0, 1, 2}, metrics: map[uint32]*metric{},
	}
	var seed [32]byte
	for i := range 8 {
		seed[i] = byte(h.o.Seed >> (8 * i))
		seed[8+i] = byte(uint64(h.vms) >> (8 * i))
	}
	v.rand = rand.NewChaCha8(seed)
	for k, val := range h.o.Env {
		v.env = append(v.env, k+"="+val)
	}
	sort.Strings(v.env)
	v.ctx = context.WithValue(h.ctx, vmKey{}, v)
	v.contexts[0] = &fctx{vm: v}
	v.contexts[0].root = v.contexts[0]

	v.allowed = startCalls
	v.current = v.contexts[0]
	mod, err := h.o.Binary.runtime.InstantiateModule(v.ctx, h.o.Binary.compiled,
		wazero.NewModuleConfig().WithName("").WithStartFunctions())
	if err != nil {
		return nil, fmt.Errorf("vm %s: %w", name, err)
	}
	v.mod = mod
	h.mods = append(h.mods, mod)
	starts := []string{"_initialize", "main"}
	switch exports := h.o.Binary.exports; {
	case !exports["_initialize"]:
		starts = []string{"_start"}
	case !exports["main"]:
		starts[1] = "__main_void"
	}
	for _, f := range starts {
		if err := v.start(f); err != nil {
			return nil, fmt.Errorf("vm %s: %s: %w", name, f, err)
		}
	}
	v.allowed, v.current = nil, nil
	return v, nil
}

func (v *vm) start(name string) error {
	f := v.mod.ExportedFunction(name)
	if f == nil {
		return nil
	}
	_, err := f.Call(v.ctx, make([]uint64, len(f.Definition().ParamTypes()))...)
	return err
}

// has reports whether the filter exports a callback.
func (v *vm) has(name string) bool { return v.h.o.Binary.exports[name] }

// raw calls an export. An error means that the VM has trapped; it is failed then.
func (v *vm) raw(c *fctx, name string, args ...uint64) (uint64, error) {
	f := v.fns[name]
	if f == nil {
		f = v.mod.ExportedFunction(name)
		v.fns[name] = f
	}
	current, effective := v.current, v.effective
	v.current, v.effective = c, 0
	var stack [6]uint64
	copy(stack[:], args)
	err := f.CallWithStack(v.ctx, stack[:])
	v.current, v.effective = current, effective
	if err != nil {
		v.failed = true
		v.h.trapped(v)
		return 0, err
	}
	return stack[0], nil
}

// invoke calls a callback of context c and records it. The caller runs
// afterCall when it has judged the result.
func (v *vm) invoke(c *fctx, name, args string, result func(uint64) string, params ...uint64) uint64 {
	t := v.h.trace
	if args != "" {
		args = ", " + args
	}
	t.add(v, "> ", "%s(ctx=%d%s)", name, c.id, args)
	t.depth++
	r, err := v.raw(c, name, append([]uint64{uint64(c.id)}, params...)...)
	switch {
	case err != nil:
		t.add(v, "= ", "trap: %s", trapText(err))
	case result != nil:
		t.add(v, "= ", "%s", result(uint64(uint32(r))))
	}
	t.depth--
	return uint64(uint32(r))
}

// afterCall runs what host calls have put off until the callback returns.
func (v *vm) afterCall() {
	v.stop = false
	for len(v.after) > 0 {
		f := v.after[0]
		v.after = v.after[1:]
		f()
	}
}

// alloc asks the filter for memory. 0 means failure, and that of a VM that
// trapped in its allocator is one.
func (v *vm) alloc(size int) uint32 {
	name := "malloc"
	if !v.has(name) {
		name = "proxy_on_memory_allocate"
	}
	allowed := v.allowed
	v.allowed = allocCalls
	r, err := v.raw(v.contexts[0], name, uint64(size))
	v.allowed = allowed
	if err != nil {
		return 0
	}
	return uint32(r)
}

func (v *vm) allocID() uint32 {
	id := v.nextID
	v.nextID++
	return id
}

// context is the effective context of the running call, else the current one.
func (v *vm) context() *fctx {
	if v.effective != 0 {
		if c := v.contexts[v.effective]; c != nil {
			return c
		}
	}
	return v.current
}

func (v *vm) logLine(level LogLevel, text string) {
	v.h.trace.add(v, "! ", "%s: %s", level, text)
	if level >= *v.h.o.LogLevel {
		v.h.record(LogLine{v.name, level, text})
	}
}

func trapText(err error) string {
	lines := strings.SplitN(err.Error(), "\n", maxTrapLines+1)
	return strings.Join(lines[:min(len(lines), maxTrapLines)], " ")
}

func (v *vm) now() time.Time { return v.h.Now() }

// set makes a set of names.
func set(names ...string) map[string]bool {
	m := map[string]bool{}
	for _, n := range names {
		m[n] = true
	}
	return m
}

// allocCalls may be called by the filter's allocator, startCalls by its start
// function. Anything else traps the VM.
var (
	allocCalls = set("proxy_log", "fd_write", "clock_time_get", "poll_oneoff")
	startCalls = set("proxy_log", "fd_write", "args_sizes_get", "args_get", "environ_sizes_get", "environ_get",
		"clock_time_get", "clock_res_get", "random_get", "poll_oneoff", "fd_fdstat_get", "fd_fdstat_set_flags",
		"fd_advise", "fd_allocate", "fd_datasync", "fd_fdstat_set_rights", "fd_filestat_get", "fd_filestat_set_size",
		"fd_filestat_set_times", "fd_pread", "fd_prestat_dir_name", "fd_prestat_get", "fd_pwrite", "fd_readdir",
		"fd_renumber", "fd_sync", "fd_tell", "path_create_directory", "path_filestat_get", "path_filestat_set_times",
		"path_link", "path_readlink", "path_remove_directory", "path_rename", "path_symlink", "path_unlink_file",
		"sock_accept", "sock_recv", "sock_send", "sock_shutdown", "emscripten_notify_memory_growth")
)
