package sdk

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// covered checks that every host call and callback of the SDK has been used,
// except those.
func covered(t *testing.T, except []string, called, calledBack func(name string) bool) {
	t.Helper()
	calls, callbacks := sdkInterface(t)
	for _, name := range calls {
		if !called(name) && !slices.Contains(except, name) {
			t.Errorf("no filter uses the host call %s", name)
		}
	}
	for _, name := range callbacks {
		if !calledBack(name) && !slices.Contains(except, name) {
			t.Errorf("no filter gets the callback %s", name)
		}
	}
}

// sdkInterface reads the names of every host call and callback from the SDK's
// source.
func sdkInterface(t *testing.T) (calls, callbacks []string) {
	t.Helper()
	cmd := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/tetratelabs/proxy-wasm-go-sdk")
	cmd.Dir = "testdata"
	cmd.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("where the SDK is: %v", err)
	}
	dir := filepath.Join(strings.TrimSpace(string(out)), "proxywasm/internal")
	ast.Inspect(parse(t, filepath.Join(dir, "abi_hostcalls_mock.go")), func(n ast.Node) bool {
		if i, ok := n.(*ast.InterfaceType); ok {
			for _, m := range i.Methods.List {
				calls = append(calls, abiName(m.Names[0].Name))
			}
		}
		return true
	})
	for _, d := range parse(t, filepath.Join(dir, "abi_callback_test_export.go")).Decls {
		if f, ok := d.(*ast.FuncDecl); ok {
			callbacks = append(callbacks, abiName(f.Name.Name))
		}
	}
	if len(calls) != 29 || len(callbacks) != 20 {
		t.Fatalf("the SDK has %d calls and %d callbacks; this test knows 29 and 20", len(calls), len(callbacks))
	}
	return calls, append(callbacks, "proxy_on_memory_allocate")
}

func parse(t *testing.T, file string) *ast.File {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// abiName turns ProxyOnVMStart into proxy_on_vm_start.
func abiName(name string) string {
	var b strings.Builder
	for i, r := range name {
		upper := r >= 'A' && r <= 'Z'
		if upper && i > 0 && (!isUpper(name, i-1) || !isUpper(name, i+1)) {
			b.WriteByte('_')
		}
		b.WriteRune(r)
	}
	return strings.ToLower(b.String())
}

func isUpper(s string, i int) bool { return i < len(s) && s[i] >= 'A' && s[i] <= 'Z' }
