package stack

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// tcpListen is the state LISTEN in /proc/net/tcp.
const tcpListen = "0A"

// startTime returns when the process pid was started, in clock ticks since boot,
// which together with pid names a process for good: a pid alone is given out
// again. ok is false where the process is gone or is a zombie, which in a
// container without an init process may stay for ever.
func startTime(pid int) (ticks uint64, ok bool) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, false
	}
	// The second field is the name in parentheses, which may itself hold spaces
	// and parentheses. Fields after it: state is number 3, num_threads 20,
	// starttime 22 (proc(5)).
	i := bytes.LastIndexByte(b, ')')
	if i < 0 {
		return 0, false
	}
	f := strings.Fields(string(b[i+1:]))
	if len(f) < 20 || f[0] == "X" {
		return 0, false
	}
	// After SIGKILL the first thread of a process may be a zombie while others
	// are still ending and hold its sockets open.
	if f[0] == "Z" && (f[17] == "0" || f[17] == "1") {
		return 0, false
	}
	ticks, err = strconv.ParseUint(f[19], 10, 64)
	return ticks, err == nil
}

// processName returns the name that the kernel has for pid, at most 15 bytes.
func processName(pid int) string {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	if err != nil {
		return "gone"
	}
	return strings.TrimSpace(string(b))
}

// listeners returns the processes that listen on a TCP port, on any address.
// Processes of other users are not seen unless the caller is root.
func listeners(port int) []int {
	inodes := make(map[string]bool)
	for _, name := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		listenInodes(name, port, inodes)
	}
	if len(inodes) == 0 {
		return nil
	}
	procs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return nil
	}
	var pids []int
	for _, p := range procs {
		if pid, err := strconv.Atoi(filepath.Base(p)); err == nil && holdsSocket(p, inodes) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// listenInodes adds the socket inodes that listen on port according to one of
// the kernel's tables.
func listenInodes(table string, port int, inodes map[string]bool) {
	f, err := os.Open(table)
	if err != nil {
		return
	}
	defer func() { _ = f.Close() }()
	suffix := fmt.Sprintf(":%04X", port)
	for sc := bufio.NewScanner(f); sc.Scan(); {
		// sl local_address rem_address st tx:rx tr:when retrnsmt uid timeout inode
		fields := strings.Fields(sc.Text())
		if len(fields) > 9 && strings.HasSuffix(fields[1], suffix) && fields[3] == tcpListen {
			inodes["socket:["+fields[9]+"]"] = true
		}
	}
}

func holdsSocket(proc string, inodes map[string]bool) bool {
	fds, err := os.ReadDir(filepath.Join(proc, "fd"))
	if err != nil {
		return false
	}
	for _, fd := range fds {
		if target, err := os.Readlink(filepath.Join(proc, "fd", fd.Name())); err == nil && inodes[target] {
			return true
		}
	}
	return false
}
