package sdk

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tetratelabs/wazero"
)

// oldestOffers are the functions of WASI that Envoy 1.36.2 has: found by loading
// one module for each function of WASI. 1.40.0 has all of WASI. A filter that
// imports another one is refused as a whole, whether it calls it or not; the
// standard library's file functions do, fd_filestat_get first.
var oldestOffers = []string{
	"args_get", "args_sizes_get", "clock_time_get", "environ_get", "environ_sizes_get", "fd_close", "fd_fdstat_get",
	"fd_fdstat_set_flags", "fd_prestat_dir_name", "fd_prestat_get", "fd_read", "fd_seek", "fd_write", "path_open",
	"poll_oneoff", "proc_exit", "random_get", "sched_yield",
}

// TestImports checks what the filters, and the product's own, ask of the host.
func TestImports(t *testing.T) {
	calls, callbacks := sdkInterface(t)
	programs := map[string]string{"oncewall": filepath.Join(root, "build/out/oncewall.wasm")}
	for name, path := range wasm {
		programs[name] = path
	}
	for name, path := range programs {
		t.Run(name, func(t *testing.T) {
			code, err := os.ReadFile(path)
			if err != nil {
				t.Fatalf("%v: run make", err)
			}
			runtime := wazero.NewRuntimeWithConfig(t.Context(), wazero.NewRuntimeConfigInterpreter())
			defer runtime.Close(t.Context())
			module, err := runtime.CompileModule(t.Context(), code)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range module.ImportedFunctions() {
				from, function, _ := f.Import()
				switch {
				case from == "env" && slices.Contains(calls, function):
				case from == "wasi_snapshot_preview1" && slices.Contains(oldestOffers, function):
				default:
					t.Errorf("imports %s.%s, which Envoy 1.36.2 does not offer", from, function)
				}
			}
			for _, callback := range callbacks {
				if module.ExportedFunctions()[callback] == nil {
					t.Errorf("does not export %s", callback)
				}
			}
		})
	}
}
