package main

import (
	"bytes"
	"runtime/debug"
	"testing"
)

func TestVersionText(t *testing.T) {
	setting := func(k, v string) debug.BuildSetting { return debug.BuildSetting{Key: k, Value: v} }
	for name, tc := range map[string]struct {
		release string
		info    *debug.BuildInfo
		want    string
	}{
		"release": {"v1.2.3", &debug.BuildInfo{GoVersion: "go1.26", Settings: []debug.BuildSetting{setting("vcs.revision", "abc"), setting("vcs.modified", "false")}},
			"oncewall v1.2.3\nrevision abc\nbatch 2\nrecord 1\nrecord-envelope 1\ngo go1.26\n"},
		"installed": {"dev", &debug.BuildInfo{GoVersion: "go1.26", Main: debug.Module{Version: "v0.1.0"}},
			"oncewall v0.1.0\nrevision unknown\nbatch 2\nrecord 1\nrecord-envelope 1\ngo go1.26\n"},
		"checkout": {"dev", &debug.BuildInfo{GoVersion: "go1.26", Main: debug.Module{Version: "(devel)"}, Settings: []debug.BuildSetting{setting("vcs.revision", "abc"), setting("vcs.modified", "true")}},
			"oncewall dev\nrevision abc (modified)\nbatch 2\nrecord 1\nrecord-envelope 1\ngo go1.26\n"},
	} {
		if got := versionText(tc.release, tc.info); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
	if got := versionText("dev", nil); got[:13] != "oncewall dev\n" {
		t.Errorf("without build information: %q", got)
	}
	var out bytes.Buffer
	if code := run([]string{"version", "-v"}, nil, &out, &out); code != exitUsage {
		t.Errorf("code %d with an argument", code)
	}
}
