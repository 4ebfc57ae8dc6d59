package canon

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
)

// hostileBodies are about a megabyte each and built to make a careless reader
// recurse, copy or compare too much.
func hostileBodies() map[string]string {
	const size = 1 << 20
	rep := func(s string) string { return strings.Repeat(s, size/len(s)) }
	members := func(format string, n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, ","+format, n-i)
		}
		return "{" + b.String()[1:] + "}"
	}
	nested := strings.Repeat(`{"b":`, MaxDepth-1) + "[" + rep("1,") + "1]" + strings.Repeat(`,"a":0}`, MaxDepth-1)
	return map[string]string{
		"brackets":           strings.Repeat("[", 200_000),
		"braces":             strings.Repeat(`{"":`, 200_000),
		"digits":             rep("9"),
		"zeros":              "1" + rep("0"),
		"fraction":           "0." + rep("0") + "1",
		"exponent":           "1e" + rep("9"),
		"zero exponent":      "0e" + rep("9"),
		"members descending": members(`"%08d":0`, 100_000),
		"members escaped":    members(`"\u0061%08d":0`, 60_000),
		"long equal starts":  members(`"`+strings.Repeat("k", 1000)+`%08d":0`, 1000),
		"duplicates":         "{" + rep(`"a":0,`) + `"a":0}`,
		"small objects":      "[" + rep(`{"":0},`) + "0]",
		"empty objects":      "[" + rep("{},") + "0]",
		"numbers":            "[" + rep("0,") + "0]",
		"out of order, deep": nested,
		"string":             `"` + rep("a") + `"`,
		"escapes":            `"` + rep(`\n`) + `"`,
		"surrogates":         `"` + rep(`\ud83d\ude00`) + `"`,
		"unclosed strings":   rep(`"\"`),
		"white space":        rep(" ") + "1",
		"nested arrays":      "[" + rep(strings.Repeat("[", 500)+strings.Repeat("]", 500)+",") + "0]",
	}
}

// TestHostileCost bounds memory against the body, and time so loosely that only
// a cost beyond n log n can miss it, even in a slow VM. What is counted is all
// that was ever allocated, so that growing slices count about three times.
func TestHostileCost(t *testing.T) {
	for name, body := range hostileBodies() {
		raw := []byte(body)
		for call, f := range map[string]func(){
			"digest": func() { Digest(raw) },
			"lookup": func() { Lookup(raw, "/a/1/b") },
			"raw":    func() { RawDigest(raw) },
		} {
			t.Run(name+"/"+call, func(t *testing.T) {
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				start := time.Now()
				f()
				took := time.Since(start)
				runtime.ReadMemStats(&after)
				allocated := after.TotalAlloc - before.TotalAlloc
				if limit := 32*uint64(len(raw)) + 1<<16; allocated > limit {
					t.Errorf("allocated %d bytes for a body of %d, want at most %d", allocated, len(raw), limit)
				}
				if took > 20*time.Second {
					t.Errorf("took %v for %d bytes", took, len(raw))
				}
			})
		}
	}
}
