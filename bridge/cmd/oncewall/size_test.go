package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestSize(t *testing.T) {
	for name, args := range map[string]string{
		"size":           "--rps 100 --ttl 24h --body 500B",
		"size-cluster":   "--rps 2500 --ttl 48h --tombstone 240h --body 2KiB --headers 512B --duplicates 5% --replicas 2 --masters 6",
		"size-repeating": "--rps 0.5 --ttl 1m --body 0B --duplicates 100% --replicas 0",
	} {
		t.Run(name, func(t *testing.T) { golden(t, name, exitOK, append([]string{"size"}, strings.Fields(args)...), nil) })
	}
}

func TestSizeUsage(t *testing.T) {
	for args, want := range map[string]string{
		"":                             "-rps 0: must be",
		"--rps 1 --ttl 1h":             "-body: required",
		"--rps -1 --ttl 1ms --body 1B": "-ttl 1ms: must be",
		"--rps NaN --ttl 1h --body 1B": "-rps NaN: must be",
		"--rps 1 --ttl 1h --body 2":    "must be a size such as",
		"--rps 1 --ttl 1h --body 1GiB": "must be <= 64MiB",
		"--duplicates 5":               "must be 0% to 100%",
		"--duplicates 101%":            "must be 0% to 100%",
		"--duplicates NaN%":            "must be 0% to 100%",
		"--rps 1 --ttl 1h --body 1B x": `unexpected argument "x"`,
		"--rps 1 --ttl 1h --body 1B --replicas -1 --masters 0": "-masters 0: must be",
	} {
		var out bytes.Buffer
		if code := run(append([]string{"size"}, strings.Fields(args)...), nil, &out, &out); code != exitUsage || !strings.Contains(out.String(), want) {
			t.Errorf("%q: code %d, %q in: %s", args, code, want, out.String())
		}
	}
}

// TestAllocated holds the size classes against what MEMORY USAGE says of values
// of these lengths (Redis 7.0, jemalloc 5.2, less the key's own part).
func TestAllocated(t *testing.T) {
	for n, want := range map[int64]int64{160: 192, 262: 320, 339: 384, 675: 768, 1163: 1280, 2211: 2560, 4259: 5120, 16548: 20480, 65700: 81920} {
		if got := allocated(n); got != want {
			t.Errorf("%d: %d, want %d", n, got, want)
		}
	}
}
