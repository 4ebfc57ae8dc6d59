//go:build wasip1

package main

import (
	"encoding/binary"
	"strconv"
	"strings"

	"github.com/tetratelabs/proxy-wasm-go-sdk/proxywasm"

	"github.com/oncewall/oncewall/filter"
	"github.com/oncewall/oncewall/filter/wire"
)

// requestView reads the current stream's request headers, once.
type requestView struct {
	pairs [][2]string
	names uint64 // a bit for each name that is there, see nameBit
	read  bool
}

// nameBit spreads header names over 64 bits, so that most questions for a name
// that is not there, and most questions are, need no comparison.
func nameBit(name string) uint64 {
	n := len(name)
	if n == 0 {
		return 1
	}
	return 1 << ((uint(n) + 7*uint(name[n-1]) + 29*uint(name[n/2])) & 63)
}

func (v *requestView) Header(name string) (lines []string) {
	if !v.read && name == ":authority" {
		// The rule may hang on it, and most requests have none.
		if host, err := proxywasm.GetHttpRequestHeader(name); err == nil {
			return []string{host}
		}
		return nil
	}
	if !v.read {
		v.read = true
		// An error leaves no lines: a rule then finds neither key nor principal,
		// and refuses.
		v.pairs, _ = proxywasm.GetHttpRequestHeaders()
		for i := range v.pairs {
			v.names |= nameBit(v.pairs[i][0])
		}
	}
	if v.names&nameBit(name) == 0 {
		return nil
	}
	for _, p := range v.pairs {
		if p[0] == name {
			lines = append(lines, p[1])
		}
	}
	return lines
}

func (v *requestView) Property(path ...string) (string, bool) {
	b, err := proxywasm.GetProperty(path)
	return string(b), err == nil
}

// responseView reads the current stream's response headers, once.
type responseView struct {
	status int
	lines  []wire.HeaderLine
	read   bool
}

func (v *responseView) load() {
	if v.read {
		return
	}
	v.read = true
	pairs, err := proxywasm.GetHttpResponseHeaders()
	if err != nil {
		return
	}
	v.lines = make([]wire.HeaderLine, 0, len(pairs))
	for _, p := range pairs {
		if p[0] == ":status" {
			v.status, _ = strconv.Atoi(p[1])
		} else if !strings.HasPrefix(p[0], ":") {
			v.lines = append(v.lines, wire.HeaderLine{Name: p[0], Value: p[1]})
		}
	}
}

func (v *responseView) Status() int              { v.load(); return v.status }
func (v *responseView) Lines() []wire.HeaderLine { v.load(); return v.lines }
func (v *responseView) Trail() filter.Trail      { return trail() }

// responseTrailers reads the current stream's response trailers. That there are none,
// as in an empty frame of HTTP/2, is an error to the SDK.
func responseTrailers() []wire.HeaderLine {
	pairs, _ := proxywasm.GetHttpResponseTrailers()
	lines := make([]wire.HeaderLine, len(pairs))
	for i, p := range pairs {
		lines[i] = wire.HeaderLine{Name: p[0], Value: p[1]}
	}
	return lines
}

var (
	pathDetails  = []string{"response", "code_details"}
	pathFlags    = []string{"response", "flags"}
	pathAttempts = []string{"upstream", "request_attempt_count"}
)

func (v *responseView) ViaUpstream() bool {
	b, err := proxywasm.GetProperty(pathDetails)
	return err == nil && string(b) == "via_upstream"
}

// trail reads how far the current stream's request got. What the host does not
// say counts as an attempt that may have reached upstream, except the count of
// attempts itself, which is absent before the first.
func trail() filter.Trail {
	attempts, _ := number(pathAttempts)
	flags, _ := number(pathFlags)
	t := filter.Trail{Attempts: int(attempts), Flags: flags}
	if b, err := proxywasm.GetProperty(pathDetails); err == nil {
		t.Refused = flags != 0 && strings.Contains(string(b), "remote_refused_stream_reset")
		t.Overflow = strings.Contains(string(b), "{overflow}")
		t.Redirected = string(b) == "internal_redirect"
	}
	return t
}

func number(path []string) (uint64, bool) {
	b, err := proxywasm.GetProperty(path)
	if err != nil || len(b) != 8 {
		return 0, false
	}
	return binary.LittleEndian.Uint64(b), true
}
