package host

import (
	"encoding/binary"
	"strings"
)

// WASI error numbers.
const (
	wasiBadf    Status = 8
	wasiFault   Status = 21
	wasiInval   Status = 28
	wasiNoent   Status = 44
	wasiNosys   Status = 52
	wasiNotdir  Status = 20
	wasiNotsup  Status = 58
	wasiSuccess Status = 0
)

// maxRandomBytes bounds one random_get.
const maxRandomBytes = 64 << 10

// What proxy-wasm-cpp-host answers to WASI: output becomes log lines, the clock
// and randomness are the host's, and there are no files, arguments or sockets.
// See https://github.com/WebAssembly/WASI/blob/main/legacy/preview1/docs.md.
func init() {
	answer := func(st Status) func(*call) Status { return func(*call) Status { return st } }
	std := func(c *call) Status { // accepted for stdout and stderr, without effect
		if fd := c.u32(0); fd != 1 && fd != 2 {
			return wasiBadf
		}
		return wasiSuccess
	}
	zero := func(i int, st Status) func(*call) Status {
		return func(c *call) Status { c.setU32(i, 0); return st }
	}
	for name, f := range map[string]struct {
		types string
		fn    func(*call) Status
	}{
		"args_get":                {"ii", answer(wasiSuccess)},
		"args_sizes_get":          {"ii", func(c *call) Status { c.setU32(0, 0); c.setU32(1, 0); return wasiSuccess }},
		"environ_get":             {"ii", wasiEnviron},
		"environ_sizes_get":       {"ii", wasiEnvironSizes},
		"clock_res_get":           {"ii", wasiClockRes},
		"clock_time_get":          {"iIi", wasiClock},
		"fd_advise":               {"iIIi", answer(wasiSuccess)},
		"fd_allocate":             {"iII", std},
		"fd_close":                {"i", answer(wasiSuccess)},
		"fd_datasync":             {"i", std},
		"fd_fdstat_get":           {"ii", wasiFdstat},
		"fd_fdstat_set_flags":     {"ii", answer(wasiNosys)},
		"fd_fdstat_set_rights":    {"iII", std},
		"fd_filestat_get":         {"ii", answer(wasiBadf)},
		"fd_filestat_set_size":    {"iI", std},
		"fd_filestat_set_times":   {"iIIi", std},
		"fd_pread":                {"iiiIi", answer(wasiNosys)},
		"fd_prestat_get":          {"ii", answer(wasiBadf)},
		"fd_prestat_dir_name":     {"iii", answer(wasiNosys)},
		"fd_pwrite":               {"iiiIi", func(c *call) Status { return wasiOutput(c, 4) }},
		"fd_read":                 {"iiii", answer(wasiNosys)},
		"fd_readdir":              {"iiiIi", zero(4, wasiNotdir)},
		"fd_renumber":             {"ii", wasiRenumber},
		"fd_seek":                 {"iIii", answer(wasiSuccess)},
		"fd_sync":                 {"i", std},
		"fd_tell":                 {"ii", std},
		"fd_write":                {"iiii", func(c *call) Status { return wasiOutput(c, 3) }},
		"path_create_directory":   {"iii", answer(wasiNotsup)},
		"path_filestat_get":       {"iiiii", answer(wasiNotsup)},
		"path_filestat_set_times": {"iiiiIIi", answer(wasiNotsup)},
		"path_link":               {"iiiiiii", answer(wasiNotsup)},
		"path_open":               {"iiiiiIIii", answer(wasiNoent)},
		"path_readlink":           {"iiiiii", zero(5, wasiNotsup)},
		"path_remove_directory":   {"iii", answer(wasiNotsup)},
		"path_rename":             {"iiiiii", answer(wasiNotsup)},
		"path_symlink":            {"iiiii", answer(wasiNotsup)},
		"path_unlink_file":        {"iii", answer(wasiNotsup)},
		"poll_oneoff":             {"iiii", zero(3, wasiSuccess)}, // nothing happens, at once
		"proc_exit":               {"i!", answer(wasiSuccess)},    // returns: what follows traps
		"random_get":              {"ii", wasiRandom},
		"sched_yield":             {"", answer(wasiSuccess)},
		"sock_accept":             {"iii", zero(2, wasiNotsup)},
		"sock_recv":               {"iiiiii", zero(4, wasiNotsup)},
		"sock_send":               {"iiiii", zero(4, wasiNotsup)},
		"sock_shutdown":           {"ii", answer(wasiNotsup)},
	} {
		define("wasi_snapshot_preview1", name, f.types, f.fn)
		define("wasi_unstable", name, f.types, f.fn)
	}
	define("env", "emscripten_notify_memory_growth", "i!", answer(0))
	define("env", "pthread_equal", "ii", func(c *call) Status {
		if c.u32(0) == c.u32(1) {
			return 1
		}
		return 0
	})
	hostCalls["env.emscripten_notify_memory_growth"].quiet = true
	hostCalls["env.pthread_equal"].quiet = true
}

// wasiOutput logs what is written to stdout at info and to stderr at error: one
// line per write, without a newline at its end. Other descriptors are EBADF.
//
// Memory: iovs points to pairs (address, size) of 32 bits each; the number of
// bytes written goes to parameter out.
func wasiOutput(c *call, out int) Status {
	level := LogInfo
	switch c.u32(0) {
	case 1:
	case 2:
		level = LogError
	default:
		return wasiBadf
	}
	mem := c.vm.mod.Memory()
	var text []byte
	for i := range c.u32(2) {
		iov, ok := mem.Read(c.u32(1)+8*i, 8)
		if !ok {
			return wasiFault
		}
		b, ok := mem.Read(binary.LittleEndian.Uint32(iov), binary.LittleEndian.Uint32(iov[4:]))
		if !ok {
			return wasiFault
		}
		text = append(text, b...)
	}
	if len(text) > 0 {
		c.vm.logLine(level, strings.TrimSuffix(string(text), "\n"))
	}
	c.setU32(out, uint32(len(text)))
	return wasiSuccess
}

// wasiClock reads the virtual clock: 0 realtime, 1 monotonic (since the host was
// made). Clocks of CPU time are ENOTSUP.
func wasiClock(c *call) Status {
	switch c.u32(0) {
	case 0:
		c.setU64(2, uint64(c.vm.now().UnixNano()))
	case 1:
		c.setU64(2, uint64(c.vm.h.now)+1)
	default:
		return wasiNotsup
	}
	return wasiSuccess
}

func wasiClockRes(c *call) Status {
	if c.u32(0) > 1 {
		return wasiNotsup
	}
	c.setU64(1, 1)
	return wasiSuccess
}

// wasiRandom fills at most 64 KiB from the seeded source; more is EINVAL.
func wasiRandom(c *call) Status {
	n := c.u32(1)
	if n > maxRandomBytes {
		return wasiInval
	}
	b := make([]byte, n)
	c.vm.rand.Read(b)
	c.write(0, b)
	return wasiSuccess
}

// wasiFdstat knows stdout and stderr, with the right to write.
func wasiFdstat(c *call) Status {
	if fd := c.u32(0); fd != 1 && fd != 2 {
		return wasiBadf
	}
	b := make([]byte, 24)
	b[8] = 64
	c.write(1, b)
	return wasiSuccess
}

func wasiEnvironSizes(c *call) Status {
	size := 0
	for _, e := range c.vm.env {
		size += len(e) + 1
	}
	c.setU32(0, uint32(len(c.vm.env)))
	c.setU32(1, uint32(size))
	return wasiSuccess
}

// wasiEnviron writes NAME=value with a closing zero, one after the other, and
// the address of each.
func wasiEnviron(c *call) Status {
	mem := c.vm.mod.Memory()
	array, buf := c.u32(0), c.u32(1)
	for _, e := range c.vm.env {
		if !mem.WriteUint32Le(array, buf) || !mem.Write(buf, append([]byte(e), 0)) {
			return wasiFault
		}
		array, buf = array+4, buf+uint32(len(e))+1
	}
	return wasiSuccess
}

// wasiRenumber renumbers nothing: ENOTSUP for stdout and stderr, else EBADF.
func wasiRenumber(c *call) Status {
	for i := range 2 {
		if fd := c.u32(i); fd != 1 && fd != 2 {
			return wasiBadf
		}
	}
	return wasiNotsup
}
