package host

import (
	"context"
	"fmt"
	"slices"
	"sort"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// memoryLimitPages is what Envoy grants a VM: 1 GiB.
const memoryLimitPages = 1 << 30 >> 16

// Binary is a compiled filter. It is made once and serves any number of hosts
// and goroutines.
type Binary struct {
	runtime  wazero.Runtime
	compiled wazero.CompiledModule
	abi      string
	exports  map[string]bool
}

// CompileOptions are what Compile may be given.
type CompileOptions struct {
	// CacheDir keeps compiled code between processes; "" keeps none.
	CacheDir string
	// Interpreter runs the code without compiling it: for platforms without a
	// compiler, and for filters too small to be worth one.
	Interpreter bool
}

// Compile compiles a filter. What Envoy would refuse to load is an error: no
// mark of ABI 0.2.0 or 0.2.1, no allocator, an import that Envoy does not have
// or has with another signature.
func Compile(ctx context.Context, wasm []byte, opts ...CompileOptions) (*Binary, error) {
	var o CompileOptions
	if len(opts) > 0 {
		o = opts[0]
	}
	config := wazero.NewRuntimeConfig()
	if o.Interpreter {
		config = wazero.NewRuntimeConfigInterpreter()
	}
	config = config.WithMemoryLimitPages(memoryLimitPages).WithCloseOnContextDone(false)
	if o.CacheDir != "" {
		cache, err := wazero.NewCompilationCacheWithDir(o.CacheDir)
		if err != nil {
			return nil, err
		}
		config = config.WithCompilationCache(cache)
	}
	r := wazero.NewRuntimeWithConfig(ctx, config)
	b := &Binary{runtime: r}
	if err := b.load(ctx, wasm); err != nil {
		r.Close(ctx)
		return nil, err
	}
	return b, nil
}

func (b *Binary) load(ctx context.Context, wasm []byte) (err error) {
	if b.compiled, err = b.runtime.CompileModule(ctx, wasm); err != nil {
		return fmt.Errorf("filter: %w", err)
	}
	b.exports = map[string]bool{}
	for name := range b.compiled.ExportedFunctions() {
		b.exports[name] = true
	}
	switch {
	case b.exports["proxy_abi_version_0_2_1"]:
		b.abi = "0.2.1"
	case b.exports["proxy_abi_version_0_2_0"]:
		b.abi = "0.2.0"
	default:
		return fmt.Errorf("filter: no export proxy_abi_version_0_2_0 or proxy_abi_version_0_2_1")
	}
	if !b.exports["malloc"] && !b.exports["proxy_on_memory_allocate"] {
		return fmt.Errorf("filter: no export malloc or proxy_on_memory_allocate")
	}
	for _, f := range b.compiled.ImportedFunctions() {
		module, name, _ := f.Import()
		call, ok := hostCalls[module+"."+name]
		if !ok || name == "proxy_get_log_level" && b.abi != "0.2.1" {
			return fmt.Errorf("filter: import %s.%s: Envoy has no such function in ABI %s", module, name, b.abi)
		}
		if !slices.Equal(call.params, f.ParamTypes()) || !slices.Equal(call.results, f.ResultTypes()) {
			return fmt.Errorf("filter: import %s.%s has another signature than Envoy's", module, name)
		}
	}
	return b.provide(ctx)
}

// provide instantiates the host modules. Which VM calls is in the context.
func (b *Binary) provide(ctx context.Context) error {
	builders := map[string]wazero.HostModuleBuilder{}
	for full, call := range hostCalls {
		builder := builders[call.module]
		if builder == nil {
			builder = b.runtime.NewHostModuleBuilder(call.module)
			builders[call.module] = builder
		}
		name := full[len(call.module)+1:]
		builder.NewFunctionBuilder().WithGoFunction(api.GoFunc(call.run(name)), call.params, call.results).Export(name)
	}
	for _, builder := range builders {
		if _, err := builder.Instantiate(ctx); err != nil {
			return err
		}
	}
	return nil
}

// ABI is "0.2.0" or "0.2.1".
func (b *Binary) ABI() string { return b.abi }

// Imports lists the host functions that the filter asks for, as module.name.
func (b *Binary) Imports() []string {
	var names []string
	for _, f := range b.compiled.ImportedFunctions() {
		module, name, _ := f.Import()
		names = append(names, module+"."+name)
	}
	sort.Strings(names)
	return names
}

// Exports lists the functions that the filter exports.
func (b *Binary) Exports() []string { return sortedKeys(b.exports) }

// HostCalls lists the host functions that there are, as module.name.
func HostCalls() []string { return sortedKeys(hostCalls) }

// Close frees the code. Hosts made from b must be closed before.
func (b *Binary) Close(ctx context.Context) error { return b.runtime.Close(ctx) }
