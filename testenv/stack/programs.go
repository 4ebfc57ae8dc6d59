package stack

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// programs are the files that parts run.
type programs struct {
	envoy, bridge, shop, wasm, host string
}

// findPrograms returns absolute paths. The built ones must be there: nothing is
// built here. A missing Envoy is installed by build/envoy.sh, which takes $ENVOY
// and PATH first.
func findPrograms(ctx context.Context, o Options) (programs, error) {
	out := filepath.Join(o.Root, "build/out")
	p := programs{
		bridge: filepath.Join(out, "oncewall"),
		shop:   filepath.Join(out, "shop"),
		wasm:   filepath.Join(out, "oncewall.wasm"),
		host:   filepath.Join(out, "oncewall-host"),
	}
	if o.BridgeProgram != "" {
		p.bridge = o.BridgeProgram
	}
	needed := append([]string{p.bridge, p.shop, p.wasm}, o.Wasm...)
	if o.Model {
		needed = append(needed, p.host)
	}
	var faults []error
	for _, file := range needed {
		if _, err := os.Stat(file); err != nil {
			faults = append(faults, fmt.Errorf("%s is missing: run make", file))
		}
	}
	envoy, err := findEnvoy(ctx, o)
	if err != nil {
		faults = append(faults, err)
	}
	p.envoy = envoy
	return p, errors.Join(faults...)
}

func findEnvoy(ctx context.Context, o Options) (string, error) {
	cmd := exec.CommandContext(ctx, filepath.Join(o.Root, "build/envoy.sh"))
	cmd.Env = os.Environ()
	if o.Envoy != "" {
		cmd.Env = append(cmd.Env, "ENVOY="+o.Envoy)
	}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	b, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("envoy: %w: %s", err, strings.TrimSpace(stderr.String()))
	}
	return filepath.Abs(strings.TrimSpace(string(b)))
}
