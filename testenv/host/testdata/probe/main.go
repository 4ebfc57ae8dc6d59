//go:build wasip1

// Command probe is a filter that does what a script tells it: the raw host calls
// without any SDK, so that hosts can be compared. It runs in this host and in
// Envoy alike.
//
// The script of a stream is its request header x-probe; that of a root context
// is the plugin configuration. It is steps by ";", each
//
//	callback=operation,operation,...
//
// Callbacks: rqh rqb rqt rsh rsb rst log done delete cb; of root contexts:
// configure tick queue done ginit grecv gtrail gclose, and for TCP connections
// newconn down up downclose upclose. A number behind a name
// means the n-th call of it alone ("rqb2"), an e the one with end of stream
// ("rsbe"); these go before the plain name. Operations take arguments by ":",
// see ops.go. What an operation returned is logged where the configuration has
// the step "trace".
package main

import (
	"strconv"
	"strings"
)

type script map[string][]string

// stream is what is known of a stream context.
type stream struct {
	root   uint32
	script script
	calls  map[string]int // of each callback
}

// call is who made a callout; the script outlives the stream.
type call struct {
	ctx    uint32
	script script
}

var (
	streams   = map[uint32]*stream{}
	roots     = map[uint32]*stream{}
	owners    = map[uint32]call{}
	metrics   = map[string]uint32{}
	lastToken uint32
	lastCas   uint32
	tracing   bool
)

func main() {}

func parse(s string) script {
	m := script{}
	for _, step := range strings.Split(s, ";") {
		name, ops, _ := strings.Cut(strings.TrimSpace(step), "=")
		if ops != "" {
			m[name] = strings.Split(ops, ",")
		} else if name != "" {
			m[name] = nil
		}
	}
	return m
}

func configure(ctx, size uint32) {
	b, _ := buffer(7, 0, size)
	roots[ctx] = &stream{script: parse(b), calls: map[string]int{}}
	_, tracing = roots[ctx].script["trace"]
}

// play runs the operations of a callback and gives its return value, or def.
func play(ctx, self uint32, name string, end bool, def uint32, own ...script) uint32 {
	s := streams[ctx]
	if s == nil {
		s = roots[ctx]
	}
	if len(own) > 0 && (s == nil || s.script == nil) {
		s = &stream{script: own[0], calls: map[string]int{}}
	}
	if s == nil {
		return def
	}
	s.calls[name]++
	names := []string{name + strconv.Itoa(s.calls[name])}
	if end {
		names = append(names, name+"e")
	}
	for _, n := range append(names, name) {
		ops, ok := s.script[n]
		if !ok {
			continue
		}
		ret := def
		for _, op := range ops {
			if v, ok := do(ctx, s, op); ok {
				ret = v
			}
		}
		return ret
	}
	return def
}

// playRoot plays a callback of a connection: its script is its root context's,
// its calls are counted by themselves.
func playRoot(ctx uint32, name string, end bool) uint32 {
	if s := streams[ctx]; s != nil && s.script == nil && roots[s.root] != nil {
		s.script = roots[s.root].script
	}
	return play(ctx, ctx, name, end, 0)
}

// note logs a callback.
func note(ctx uint32, name string, args ...uint32) {
	if !tracing {
		return
	}
	var b strings.Builder
	b.WriteString("T " + strconv.Itoa(int(ctx)) + " " + name)
	for _, a := range args {
		b.WriteString(" " + strconv.Itoa(int(a)))
	}
	logText(2, b.String())
}
