package bench

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of CPU time in /proc: USER_HZ is 100 on every architecture
// that Go runs on.
const tick = 10 * time.Millisecond

// cpuOf returns the CPU time, user and system, that a process has used so far,
// with that of its threads that have ended.
func cpuOf(pid int) (time.Duration, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	return parseCPU(b)
}

// parseCPU reads utime and stime, fields 14 and 15 of proc(5)'s stat. The second
// field is the name in parentheses, which may itself hold spaces and
// parentheses.
func parseCPU(stat []byte) (time.Duration, error) {
	f := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(f) < 13 {
		return 0, fmt.Errorf("procfs: stat has %d fields behind the name, want 13 or more", len(f))
	}
	var ticks int64
	for _, v := range f[11:13] {
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("procfs: stat: %w", err)
		}
		ticks += n
	}
	return time.Duration(ticks) * tick, nil
}

// loadAverage returns the machine's load of the last minute.
func loadAverage() string {
	b, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "not known"
	}
	first, _, _ := strings.Cut(string(b), " ")
	return first
}
