package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"text/tabwriter"
)

// print writes the report for people.
func (e *explained) print(to io.Writer) {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	defer w.Flush()
	row := func(name, format string, args ...any) { fmt.Fprintf(w, name+"\t"+format+"\n", args...) }
	row("request", "%s %s", e.Method, e.Path)
	for i, p := range e.ReadAs {
		row(first("read as", i), "%s", p)
	}
	if r := e.Rule; r != nil {
		row("rule", "%s (%s; scope %s; mode %s)", r.Name, r.Match, r.Scope, r.Mode)
	} else {
		row("rule", "none")
	}
	for i, n := range e.Near {
		row(first("nearly", i), "%s (%s): %s", n.Name, n.Match, n.Why)
	}
	if e.Principal != nil {
		row("principal", "%s: %s", e.Principal.Source, strconv.Quote(e.Principal.Value))
	}
	if e.Key != nil {
		value := strconv.Quote(e.Key.Value)
		if e.Key.Value == "" {
			value = "present, and not taken"
		}
		row("key", "%s: %s", e.Key.Source, value)
	}
	for i, p := range e.Fingerprint {
		form := ""
		if p.Form != "" {
			form = " (" + p.Form + ")"
		}
		row(first("fingerprint", i), "%-8s%s %s%s", p.Part, p.Algorithm, p.SHA256, form)
	}
	if p := e.Policy; p != nil {
		row("policy", "lease %s, ttl %s, tombstone_ttl %s, upstream_timeout %s", p.Lease, p.TTL, p.Tombstone, p.Upstream)
		row("", "recovery %s, max_attempts %d, unavailable %s, in_flight %s", p.Recovery, p.MaxAttempts, p.Unavailable, p.InFlight)
		row("", "replicas %d, issued keys %s, generation %s", p.Replicas, only(p.Issued), p.Generation)
	}
	row("verdict", "%s", e.verdict)
	if r := e.Refusal; r != nil {
		row("answer", "%d %s", r.Status, r.Code)
		row("", "%s", string(trimLine(r.Document)))
	}
	for i, o := range e.Outcomes {
		row(first("if", i), "%-36s%-20s%s", o.situation, o.Code, o.answer())
	}
	for i, h := range e.Removed {
		row(first("removed", i), "%s", h)
	}
	for i, h := range slices.Sorted(maps.Keys(e.Upstream)) {
		row(first("upstream", i), "%s: %s", h, e.Upstream[h])
	}
}

func (o outcome) answer() string {
	switch {
	case o.Forwarded:
		return "forwarded; the backend's answer"
	case o.Status == 0:
		return "the recorded answer"
	}
	return strconv.FormatUint(uint64(o.Status), 10)
}

// first is the label of a list's first row; the others have none.
func first(label string, i int) string {
	if i > 0 {
		return ""
	}
	return label
}

func only(issued bool) string {
	if issued {
		return "only"
	}
	return "not needed"
}

func trimLine(b []byte) []byte {
	if n := len(b); n > 0 && b[n-1] == '\n' {
		return b[:n-1]
	}
	return b
}
