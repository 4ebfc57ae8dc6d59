package wire

import (
	"strings"
	"testing"
)

func TestSampledTrace(t *testing.T) {
	const good = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	for flags, want := range map[string]bool{
		"00": false, "01": true, "02": false, "03": true, "08": false, "09": true, "0a": false, "0b": true,
		"0e": false, "0f": true, "ff": true, "fe": false, "0B": false, "0g": false, "g1": false, "1": false,
	} {
		if got := SampledTrace(good[:53] + flags); got != want {
			t.Errorf("flags %q: %v, want %v", flags, got, want)
		}
	}
	for what, s := range map[string]string{
		"empty":              "",
		"version ff":         "ff" + good[2:],
		"version 01":         "01" + good[2:],
		"more behind it":     good + "-00",
		"a space":            " " + good[1:],
		"upper case":         strings.ToUpper(good),
		"trace id of zeros":  "00-" + strings.Repeat("0", 32) + good[35:],
		"parent id of zeros": good[:36] + strings.Repeat("0", 16) + "-01",
		"not hexadecimal":    strings.Replace(good, "4b", "4x", 1),
		"no dash":            strings.Replace(good, "-01", "_01", 1),
		"short trace id":     "00-4bf92f3577b34da6a3ce929d0e0e473-000f067aa0ba902b7-01",
		"two of them":        good + "," + good,
	} {
		if SampledTrace(s) {
			t.Errorf("%s: %q counts as sampled", what, s)
		}
	}
	if n := testing.AllocsPerRun(100, func() { _ = SampledTrace(good) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzSampledTrace(f *testing.F) {
	f.Add("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
	f.Fuzz(func(t *testing.T, s string) {
		if SampledTrace(s) && strings.Trim(s, "0123456789abcdef-") != "" {
			t.Errorf("%q passes", s)
		}
	})
}
