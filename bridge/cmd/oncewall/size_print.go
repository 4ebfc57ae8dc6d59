package main

import (
	"fmt"
	"io"
	"text/tabwriter"
)

func (l *load) print(to io.Writer) {
	e := l.estimate()
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	defer w.Flush()
	row := func(name, format string, args ...any) { fmt.Fprintf(w, name+"\t"+format+"\n", args...) }
	row("new keys", "%s a second, %s at a time with their results", count(e.newKeys), count(e.finished))
	if e.tombs > 0 {
		row("tombstones", "%s at a time", count(e.tombs))
	}
	row("Redis keys", "%s", count(e.redisKeys))
	row("a record", "%d bytes: record %d, result %d of which %d stored, expiries %d",
		e.perRecord, recordBytes, resultKeyBytes+allocated(e.stored), e.stored, 2*expiryBytes)
	row("memory", "%s for one copy, %s with %d replica(s) of each master", volume(e.memory), volume(e.total), l.replicas)
	row("maxmemory", "%s for each of %d node(s): %s of records, %.0f%% above",
		volume(e.maxMemory), l.masters*(1+l.replicas), volume(e.perMaster), (headroom-1)*100)
	row("scripts", "%s a second", count(e.scripts))
	row("network", "%s/s to Redis, %s/s from it, %s/s to replicas", volume(e.in), volume(e.out), volume(e.replica))
	row("assumed", "%s requests a second all day, %.4g%% of them repeats; ttl %s, tombstone_ttl %s", count(l.rps), l.duplicates*100, short(l.ttl), short(l.tombstone))
	row("", "answers of %s with %s of header lines, sealed; all of them kept", sized(l.body), sized(l.headers))
	row("", "Redis 7.0, jemalloc, 64-bit; keys spread evenly; no repeat is answered from an Envoy's memory")
	row("", "no rewrite of the AOF and no RDB under way: while one runs, a node may need up to twice its memory from the system")
}

// count writes a number for people: three digits and a unit.
func count(n float64) string {
	return scaled(n, 1000, []string{"", " thousand", " million", " billion", " trillion"})
}

// volume writes bytes in binary units.
func volume(n float64) string {
	return scaled(n, 1024, []string{" B", " KiB", " MiB", " GiB", " TiB", " PiB"})
}

func scaled(n, base float64, units []string) string {
	i := 0
	for n >= base && i < len(units)-1 {
		n /= base
		i++
	}
	return fmt.Sprintf("%.4g%s", n, units[i])
}
