package conformance

import (
	"fmt"
	"regexp"
	"sort"
	"strconv"
	"strings"

	"github.com/oncewall/oncewall/testenv/host"
	"github.com/oncewall/oncewall/testenv/host/abi"
)

func itoa(n int) string { return strconv.Itoa(n) }

func sortedNames[V any](m map[string]V) []string {
	var names []string
	for n := range m {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}

// varying are headers whose value differs from run to run.
var varying = map[string]string{
	"date":                          "<date>",
	"x-request-id":                  "<uuid>",
	"x-envoy-upstream-service-time": "<ms>",
	"x-forwarded-for":               "<addr>",
	"x-envoy-external-address":      "<addr>",
}

// fields gives headers as lines. A line break in a value ends a line, as it does
// on the wire.
func fields(h host.Headers, drop func(name string) bool) []string {
	var lines []string
	for _, p := range h {
		if drop == nil || !drop(p[0]) {
			lines = append(lines, strings.Split(field(p[0], p[1]), "\r\n")...)
		}
	}
	// The order of pseudo headers is not the same in HTTP/1 and HTTP/2.
	n := 0
	for n < len(lines) && strings.HasPrefix(lines[n], ":") {
		n++
	}
	sort.Strings(lines[:n])
	return lines
}

func field(name, value string) string {
	if v, ok := varying[name]; ok && value != "" {
		value = v
	}
	return name + ": " + value
}

// opaqueProperties have values that depend on the run: only whether they are
// there is compared.
var opaqueProperties = regexp.MustCompile(`^prop:(connection_id|connection\|id|source\|.*|destination\|.*|upstream\|(address|port|local_address|cx_pool_ready_duration)|` +
	`request\|(id|time|duration)|response\|(backend_latency|size|total_size)|request\|headers\|x-request-id)$`)

// normalTrace makes the probe's trace comparable: contexts and tokens are
// numbered in the order of their appearance, values that vary are marked, header
// pairs are written out.
func normalTrace(sc *Scenario, all []line) []string {
	var out []string
	vms := byVM(sc, all)
	for _, lines := range vms {
		if sc.Startup {
			out = append(out, "-- another thread")
		}
		out = append(out, normalLines(lines)...)
	}
	if sc.Merge {
		out = merged(out)
	}
	return out
}

// byVM sorts the lines by thread where a scenario looks at more than a worker:
// the main thread, whose lines come first, then the worker. The main thread has
// two VMs: one in which the configuration is tried, and its own.
func byVM(sc *Scenario, all []line) [][]line {
	if !sc.Startup {
		return [][]line{all}
	}
	var order []string
	vms := map[string][]line{}
	for _, l := range all {
		if l.vm == "canary" {
			l.vm = "main"
		}
		if vms[l.vm] == nil {
			order = append(order, l.vm)
		}
		vms[l.vm] = append(vms[l.vm], l)
	}
	var lines [][]line
	for _, vm := range order {
		lines = append(lines, vms[vm])
	}
	return lines
}

func normalLines(all []line) []string {
	n := namer{contexts: map[string]string{}, tokens: map[string]string{}}
	var out []string
	for _, l := range all {
		if !strings.HasPrefix(l.text, "T ") {
			continue
		}
		if rest, ok := strings.CutPrefix(l.text, "T   "); ok {
			out = append(out, "  "+n.operation(rest))
			continue
		}
		out = append(out, n.callback(strings.Fields(l.text)[1:]))
	}
	return out
}

type namer struct {
	contexts, tokens map[string]string
	streams, roots   int
}

func (n *namer) context(id string) string {
	if id == "0" {
		return id
	}
	if n.contexts[id] == "" {
		n.contexts[id] = "root"
	}
	return n.contexts[id]
}

// callback names what a callback's line is about: "s1 rqh 9 0".
func (n *namer) callback(f []string) string {
	id, name, args := f[0], f[1], f[2:]
	switch {
	case name == "create" && args[0] == "0":
		n.roots++
		n.contexts[id] = "root" + strconv.Itoa(n.roots)
	case name == "create":
		n.streams++
		n.contexts[id] = "s" + strconv.Itoa(n.streams)
		args = []string{n.context(args[0])}
	case name == "cb" || name == "queue" || strings.HasPrefix(name, "g"):
		if n.tokens[args[0]] == "" {
			n.tokens[args[0]] = "#" + strconv.Itoa(len(n.tokens)+1)
		}
		args = append([]string{n.tokens[args[0]]}, args[1:]...)
	}
	return strings.Join(append([]string{n.context(id), name}, args...), " ")
}

// operation normalises a host call's line: `get:0::path = 0 "/"`.
func (n *namer) operation(s string) string {
	i := strings.LastIndex(s, ` = `)
	for j := strings.Index(s, ` = `); j >= 0; {
		// The result is quoted: the first " = " whose rest is a status and a quoted
		// text is the one.
		if f := strings.SplitN(s[j+3:], " ", 2); len(f) == 2 {
			if _, err := strconv.Atoi(f[0]); err == nil {
				if _, err := strconv.Unquote(f[1]); err == nil {
					i = j
					break
				}
			}
		}
		k := strings.Index(s[j+3:], ` = `)
		if k < 0 {
			break
		}
		j += 3 + k
	}
	if i < 0 {
		return s
	}
	op := s[:i]
	st, quoted, _ := strings.Cut(s[i+3:], " ")
	got, err := strconv.Unquote(quoted)
	if err != nil {
		return s
	}
	kind, _, _ := strings.Cut(op, ":")
	switch {
	case kind == "pairs":
		got = showPairs(got)
	case kind == "prop" && opaqueProperties.MatchString(op):
		got = fmt.Sprintf("<%t>", got != "")
	case kind == "get":
		p := strings.SplitN(op, ":", 3)
		if v, ok := varying[strings.ToLower(p[2])]; ok && got != "" {
			got = v
		}
		got = strconv.Quote(got)
	case len(got) > 200:
		got = show([]byte(got))
	default:
		got = strconv.Quote(got)
	}
	return op + " = " + statusName(st) + " " + got
}

func statusName(st string) string {
	n, err := strconv.Atoi(st)
	if err != nil {
		return st
	}
	return host.Status(n).String()
}

func showPairs(s string) string {
	if s == "" {
		return "no pairs"
	}
	pairs, err := abi.DecodePairs([]byte(s))
	if err != nil {
		return strconv.Quote(s)
	}
	return "[" + strings.Join(fields(host.Headers(pairs), nil), ", ") + "]"
}

// merged joins runs of body callbacks of one stream: their sizes are added, the
// last one's end counts.
func merged(lines []string) []string {
	var out []string
	for _, l := range lines {
		f := strings.Fields(l)
		if len(out) > 0 && len(f) == 4 && (f[1] == "rqb" || f[1] == "rsb") {
			g := strings.Fields(out[len(out)-1])
			if len(g) == 4 && g[0] == f[0] && g[1] == f[1] {
				a, _ := strconv.Atoi(g[2])
				b, _ := strconv.Atoi(f[2])
				out[len(out)-1] = fmt.Sprintf("%s %s %d %s", f[0], f[1], a+b, f[3])
				continue
			}
		}
		out = append(out, l)
	}
	return out
}
