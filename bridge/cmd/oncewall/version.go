package main

import (
	"cmp"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/filter/wire"
)

// printVersion prints what this program is and which forms it serves, one
// "name value" a line after the first.
func printVersion(args []string, stdout, stderr io.Writer) int {
	if len(args) > 0 {
		fmt.Fprint(stderr, "usage: oncewall version\n")
		return exitUsage
	}
	info, _ := debug.ReadBuildInfo()
	fmt.Fprint(stdout, versionText(version, info))
	return exitOK
}

// versionText takes the release's word over the module's version, which a build
// from a checkout does not have. info may be nil.
func versionText(release string, info *debug.BuildInfo) string {
	name, revision, modified, goVersion := release, "", "", runtime.Version()
	if info != nil {
		if release == "dev" && info.Main.Version != "(devel)" {
			name = cmp.Or(info.Main.Version, release)
		}
		goVersion = cmp.Or(info.GoVersion, goVersion)
		for _, s := range info.Settings {
			switch {
			case s.Key == "vcs.revision":
				revision = s.Value
			case s.Key == "vcs.modified" && s.Value == "true":
				modified = " (modified)"
			}
		}
	}
	return fmt.Sprintf("oncewall %s\nrevision %s%s\nbatch %d\nrecord %d\nrecord-envelope %d\ngo %s\n",
		name, cmp.Or(revision, "unknown"), modified, wire.Version, store.RecordVersion, wire.EnvelopeVersion, goVersion)
}
