package rules

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

const (
	durationForm = `a duration such as "250ms", "60s" or "24h", in whole milliseconds`
	sizeForm     = `a size such as "100B", "256KiB" or "1MiB", or a whole number of bytes`

	durationPattern = `^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`
	sizePattern     = `^[0-9]+(B|KiB|MiB|GiB)$`
)

// parseDuration reads Go's form of a duration, less what a configuration has no
// use for: signs, a bare "0", and parts of a millisecond, which the bridge's
// messages could not carry.
func parseDuration(s string) (time.Duration, bool) {
	if s == "" || len(s) > 32 || strings.Trim(s, "0123456789.mhs") != "" || s[0] < '0' || s[0] > '9' {
		return 0, false
	}
	if last := s[len(s)-1]; last != 's' && last != 'm' && last != 'h' {
		return 0, false
	}
	d, err := time.ParseDuration(s)
	if err != nil || d%time.Millisecond != 0 {
		return 0, false
	}
	return d, true
}

// parseSize reads a number of bytes with a binary unit.
func parseSize(s string) (int64, bool) {
	unit := int64(0)
	for _, u := range []struct {
		suffix string
		bytes  int64
	}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"B", 1}} {
		if digits, ok := strings.CutSuffix(s, u.suffix); ok {
			s, unit = digits, u.bytes
			break
		}
	}
	if unit == 0 {
		return 0, false
	}
	n, ok := parseWhole(s)
	if !ok || n > math.MaxInt64/unit {
		return 0, false
	}
	return n * unit, true
}

// parseWhole reads decimal digits alone: no sign, no exponent, no fraction.
func parseWhole(s string) (int64, bool) {
	if s == "" || len(s) > 19 || strings.Trim(s, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil
}

// formatDuration writes d as the configuration would: 24h, not 24h0m0s.
func formatDuration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = s[:len(s)-2]
	}
	if strings.HasSuffix(s, "h0m") {
		s = s[:len(s)-2]
	}
	return s
}

func formatSize(n int64) string {
	switch {
	case n > 0 && n%(1<<20) == 0:
		return fmt.Sprintf("%dMiB", n>>20)
	case n > 0 && n%(1<<10) == 0:
		return fmt.Sprintf("%dKiB", n>>10)
	}
	return fmt.Sprintf("%dB", n)
}

// ParseSize reads a size as a configuration writes it: "100B", "256KiB", "1MiB".
func ParseSize(s string) (bytes int64, ok bool) { return parseSize(s) }
