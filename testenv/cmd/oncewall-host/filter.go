package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/tetratelabs/wazero"

	"github.com/oncewall/oncewall/testenv/host"
)

// readFilter reads a file that must be a core WebAssembly module.
func readFilter(name string) ([]byte, error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	switch {
	case len(b) < 8 || !bytes.Equal(b[:4], []byte("\x00asm")):
		return nil, fmt.Errorf("%s: not a WebAssembly module: it does not begin with \\0asm", name)
	case binary.LittleEndian.Uint32(b[4:]) == 0x1000d:
		return nil, fmt.Errorf("%s: a WebAssembly component; a filter is a core module", name)
	case binary.LittleEndian.Uint32(b[4:]) != 1:
		return nil, fmt.Errorf("%s: WebAssembly version %d, not 1", name, binary.LittleEndian.Uint32(b[4:]))
	}
	return b, nil
}

// surface is what a filter exports and imports.
type surface struct {
	exports []string // functions
	imports []string // functions, as module.name
	other   []string // imports of memories, tables and globals
}

// look reads a module without asking whether it can be run here.
func look(ctx context.Context, wasm []byte) (surface, error) {
	var s surface
	r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter())
	defer func() { _ = r.Close(ctx) }()
	m, err := r.CompileModule(ctx, wasm)
	if err != nil {
		return s, err
	}
	for name := range m.ExportedFunctions() {
		s.exports = append(s.exports, name)
	}
	for _, f := range m.ImportedFunctions() {
		module, name, _ := f.Import()
		s.imports = append(s.imports, module+"."+name)
	}
	for _, f := range m.ImportedMemories() {
		module, name, _ := f.Import()
		s.other = append(s.other, "memory "+module+"."+name)
	}
	slices.Sort(s.exports)
	slices.Sort(s.imports)
	return s, nil
}

// abis are the versions of proxy-wasm that the filter says it speaks: "0.2.1".
func (s surface) abis() []string {
	var versions []string
	for _, e := range s.exports {
		if v, ok := strings.CutPrefix(e, "proxy_abi_version_"); ok {
			versions = append(versions, strings.ReplaceAll(v, "_", "."))
		}
	}
	return versions
}

// supported are the versions that the host speaks.
var supported = []string{"0.2.0", "0.2.1"}

// faults are what keeps the filter from being run here, as far as its surface
// tells.
func (s surface) faults() []error {
	var faults []error
	versions := s.abis()
	known := slices.ContainsFunc(versions, func(v string) bool { return slices.Contains(supported, v) })
	switch {
	case len(versions) == 0:
		faults = append(faults, errors.New("no export proxy_abi_version_*: it is no proxy-wasm filter"))
	case !known:
		faults = append(faults, fmt.Errorf("proxy-wasm ABI %s is not supported: it must be %s", strings.Join(versions, ", "), strings.Join(supported, " or ")))
	}
	have := host.HostCalls()
	for _, i := range s.imports {
		if !slices.Contains(have, i) {
			faults = append(faults, fmt.Errorf("import %s: neither this host nor Envoy has it", i))
		}
	}
	for _, o := range s.other {
		faults = append(faults, fmt.Errorf("import %s: a filter brings its own", o))
	}
	return faults
}

// compile compiles a filter, or says everything that is in the way.
func compile(ctx context.Context, name string, wasm []byte, o host.CompileOptions) (*host.Binary, error) {
	b, err := host.Compile(ctx, wasm, o)
	if err == nil {
		return b, nil
	}
	if s, lookErr := look(ctx, wasm); lookErr == nil {
		if faults := s.faults(); len(faults) > 0 {
			err = errors.Join(faults...)
		}
	}
	return nil, fmt.Errorf("%s: %w", name, err)
}
