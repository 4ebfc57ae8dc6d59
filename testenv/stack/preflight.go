package stack

import (
	"errors"
	"fmt"
	"os"

	"github.com/oncewall/oncewall/bridge/config"
	"github.com/oncewall/oncewall/filter/rules"
)

// preflight judges what the user configured before anything is started, with the
// code of the parts themselves, so that all faults of all files come at once and
// at no cost. What only Envoy can judge, it judges when it starts.
func (s *Stack) preflight() error {
	var faults []error
	plugin, err := os.ReadFile(s.opts.Rules)
	if err == nil {
		_, err = rules.Parse(plugin)
	}
	if err != nil {
		faults = append(faults, fmt.Errorf("plugin configuration %s:\n%w", s.opts.Rules, err))
	}
	bridge, err := os.ReadFile(s.opts.BridgeConfig)
	if err == nil {
		env := s.bridgeEnv(s.ports.Bridge, s.ports.BridgeAdmin, s.opts.BridgeClockOffset, checkSecrets)
		_, err = config.Load(config.Options{YAML: bridge, Environ: env, Dev: true})
	}
	if err != nil {
		faults = append(faults, fmt.Errorf("bridge configuration %s:\n%w", s.opts.BridgeConfig, err))
	}
	if s.opts.EnvoyPatch != "" {
		if _, err := readYAML(s.opts.EnvoyPatch); err != nil {
			faults = append(faults, fmt.Errorf("envoy patch: %w", err))
		}
	}
	return errors.Join(faults...)
}

// checkSecrets have the form of secrets and are none: preflight only judges.
var checkSecrets = secrets{
	bridge:  "0123456789abcdef0123456789abcdef-bridge",
	naming:  "0123456789abcdef0123456789abcdef-naming",
	sealing: "0123456789abcdef0123456789abcdef-sealing",

	consumer: "0123456789abcdef0123456789abcdef-consumer",
	operator: "0123456789abcdef0123456789abcdef-operator",
}
