package config

import (
	"fmt"
	"math"
	"net"
	"strconv"
	"strings"
	"time"
)

// The constructors of fields. Each accepts its own YAML type, and the string
// that an environment variable holds; nothing is coerced.

func text(path string, dst *string) field {
	return field{path: path, read: func(v any) error {
		s, ok := v.(string)
		if !ok {
			return fmt.Errorf("%s: must be a string", show(v))
		}
		*dst = s
		return nil
	}}
}

func choice[T ~string](path string, dst *T, allowed ...T) field {
	return field{path: path, read: func(v any) error {
		for _, a := range allowed {
			if v == string(a) {
				*dst = a
				return nil
			}
		}
		return fmt.Errorf("%s: must be one of %v", show(v), allowed)
	}}
}

func boolean(path string, dst *bool) field {
	return field{path: path, read: func(v any) error {
		switch v {
		case true, "true":
			*dst = true
		case false, "false":
			*dst = false
		default:
			return fmt.Errorf("%s: must be true or false", show(v))
		}
		return nil
	}}
}

func integer(path string, dst *int, low, high int) field {
	return field{path: path, read: func(v any) error {
		n, ok := whole(v)
		if !ok || n < int64(low) || n > int64(high) {
			return fmt.Errorf("%s: must be a whole number, %d to %d", show(v), low, high)
		}
		*dst = int(n)
		return nil
	}}
}

func whole(v any) (int64, bool) {
	switch n := v.(type) {
	case int64:
		return n, true
	case uint64:
		return int64(n), n <= math.MaxInt64
	case string:
		i, err := strconv.ParseInt(n, 10, 64)
		return i, err == nil
	}
	return 0, false
}

func duration(path string, dst *time.Duration, low, high time.Duration) field {
	return field{path: path, read: func(v any) error {
		s, _ := v.(string)
		d, err := time.ParseDuration(s)
		if err != nil || d < low || d > high {
			return fmt.Errorf("%s: must be a duration with its unit, %s to %s", show(v), low, high)
		}
		*dst = d
		return nil
	}}
}

func time3339(path string, dst *time.Time) field {
	return field{path: path, read: func(v any) error {
		s, _ := v.(string)
		at, err := time.Parse(time.RFC3339, s)
		if err != nil {
			return fmt.Errorf("%s: must be a time as in \"2026-07-01T12:00:00Z\"", show(v))
		}
		*dst = at
		return nil
	}}
}

func bytes(path string, dst *int64, low, high int64) field {
	return field{path: path, read: func(v any) error {
		s, _ := v.(string)
		n, ok := parseBytes(s)
		if !ok || n < low || n > high {
			return fmt.Errorf("%s: must be a size with its unit (B, KiB, MiB, GiB), %dB to %dB", show(v), low, high)
		}
		*dst = n
		return nil
	}}
}

func parseBytes(s string) (int64, bool) {
	for _, u := range []struct {
		suffix string
		shift  int
	}{{"KiB", 10}, {"MiB", 20}, {"GiB", 30}, {"B", 0}} {
		digits, ok := strings.CutSuffix(s, u.suffix)
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(digits, 10, 64)
		if err != nil || n < 0 || n > math.MaxInt64>>u.shift {
			return 0, false
		}
		return n << u.shift, true
	}
	return 0, false
}

func address(path string, dst *string) field {
	return field{path: path, read: func(v any) error {
		s, _ := v.(string)
		if !validAddress(s) {
			return fmt.Errorf("%s: must be host:port", show(v))
		}
		*dst = s
		return nil
	}}
}

// maxAddresses bounds the addresses at which a store is first looked for.
const maxAddresses = 64

func addresses(path string, dst *[]string) field {
	return field{path: path, list: true, read: func(v any) error {
		items, ok := v.([]any)
		if !ok || len(items) == 0 || len(items) > maxAddresses {
			return fmt.Errorf("%s: must be a list of 1 to %d host:port", show(v), maxAddresses)
		}
		list := make([]string, 0, len(items))
		for _, item := range items {
			s, _ := item.(string)
			if !validAddress(s) {
				return fmt.Errorf("%s: must be host:port", show(item))
			}
			list = append(list, s)
		}
		*dst = list
		return nil
	}}
}

func validAddress(s string) bool {
	_, port, err := net.SplitHostPort(s)
	if err != nil {
		return false
	}
	_, err = strconv.ParseUint(port, 10, 16)
	return err == nil
}

// isLoopback reports whether only this machine reaches addr. A name other than
// localhost may come to mean anything.
func isLoopback(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return false
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// show quotes a value for a fault, cut where it is long.
func show(v any) string {
	switch v := v.(type) {
	case nil:
		return "nothing"
	case string:
		const most = 80
		if len(v) > most {
			return fmt.Sprintf("%q...", v[:most])
		}
		return fmt.Sprintf("%q", v)
	case []any:
		return "a list"
	case int64, uint64, float64, bool:
		return fmt.Sprint(v)
	}
	return "a mapping"
}
