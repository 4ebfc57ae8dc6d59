package lint

import (
	"fmt"
	"strconv"
	"strings"
)

const (
	module = "github.com/oncewall/oncewall"
	sdk    = "github.com/tetratelabs/proxy-wasm-go-sdk"
)

// filterMay lists what the core imports beside the standard library and itself.
// It is compiled to WebAssembly and is to stay pure, so the list is short on
// purpose.
var filterMay = []string{"github.com/tidwall/gjson", "google.golang.org/protobuf/encoding/protowire"}

// layers says which of our own folders the files of a folder may import, beside
// the folder itself. Imports go one way.
var layers = []struct {
	folder string
	may    []string
	why    string
}{
	{"filter", nil, "the core imports nothing of ours"},
	{"plugin", []string{"filter"}, "the plugin adapts the core and nothing else"},
	{"client", nil, "the client is for other programs: the standard library and itself"},
	{"bridge", []string{"filter", "client"}, "the bridge shares messages with the core and the client and nothing else"},
	{"examples", []string{"client"}, "an example uses what its reader may use"},
	{"testenv", []string{"filter", "bridge", "plugin", "client"}, ""},
	{"build", nil, "build tools import nothing of ours"},
}

// checkImports returns a line for every import that breaks a rule.
func checkImports(files []goFile) []string {
	var bad []string
	for _, f := range files {
		for _, spec := range f.ast.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				continue
			}
			if why := refuse(f, path); why != "" {
				bad = append(bad, fmt.Sprintf("%s: imports %s: %s", f.at(spec.Pos()), path, why))
			}
		}
	}
	return bad
}

// refuse says why f must not import path, or "".
func refuse(f goFile, path string) string {
	if within(path, sdk) && !within(f.path, "plugin") && !within(f.path, "testenv/sdk/testdata") {
		return "only the plugin, and the filters that test its adapter, import the SDK"
	}
	folder, _, _ := strings.Cut(f.path, "/")
	if ours, ok := strings.CutPrefix(path, module+"/"); ok {
		return refuseOurs(f, folder, ours)
	}
	if folder == "filter" && !f.test && !standard(path) && !anyWithin(path, filterMay) {
		return "the core imports the standard library, gjson and the message codec only"
	}
	return ""
}

func refuseOurs(f goFile, folder, ours string) string {
	for _, l := range layers {
		if l.folder != folder {
			continue
		}
		// A test may start what testenv offers.
		if within(ours, folder) || anyWithin(ours, l.may) || f.test && within(ours, "testenv") {
			return ""
		}
		return l.why
	}
	return "unknown folder: add it to testenv/lint/imports.go"
}

// within reports whether path is prefix or lies below it.
func within(path, prefix string) bool {
	return path == prefix || strings.HasPrefix(path, prefix+"/")
}

func anyWithin(path string, prefixes []string) bool {
	for _, p := range prefixes {
		if within(path, p) {
			return true
		}
	}
	return false
}

// standard reports whether path is of the standard library, whose first element
// has no dot.
func standard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return !strings.Contains(first, ".")
}

// dataPath are the packages that a request depends on. They must work, and be
// read, without any of the packages in besideIt.
var (
	dataPath = []string{"./bridge/server", "./bridge/store", "./bridge/store/redis"}
	besideIt = []string{"bridge/store/ledger", "bridge/reconcile", "bridge/admin", "bridge/cmd", "testenv"}
)

// checkDataPath returns a line for each of deps, the import paths that the data
// path consists of, which does not belong there.
func checkDataPath(deps []string) []string {
	var bad []string
	for _, dep := range deps {
		if ours, ok := strings.CutPrefix(dep, module+"/"); ok && anyWithin(ours, besideIt) {
			bad = append(bad, fmt.Sprintf("%s is below %v: the data path imports none of the later parts", dep, dataPath))
		}
	}
	return bad
}
