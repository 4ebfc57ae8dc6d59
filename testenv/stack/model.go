package stack

import (
	"path/filepath"
	"strconv"
)

// modelPart is a gateway that is no Envoy: oncewall-host with the same filter,
// the same configuration and the settings of envoy/envoy.yaml that it knows.
func (s *Stack) modelPart(i int, prog programs, bridgeSecret string) *part {
	g := s.gatewayConfig(i, prog.wasm)
	argv := []string{
		prog.host, "run", g.wasm, "--config", g.rules, "--name", filterName, "--vm-id", filterName,
		"--listen", Addr(g.port), "--admin", Addr(g.adminPort), "--upstream", "http://" + Addr(g.upstreamPort),
		"--workers", strconv.Itoa(s.opts.Concurrency), "--flag", "allow_on_headers_stop_iteration", "--flag", "use_remote_address",
		"--failure-policy", "fail_reload", "--buffer-limit", "1MiB", "--stream-idle-timeout", "30s",
		"--env-from-host", bridgeSecretEnv, "--env-from-host", "ONCEWALL_DEBUG", "--trace-streams", "1000",
		"--cache-dir", filepath.Join(s.opts.Root, "build/out/wazero-cache"),
	}
	for _, cluster := range []string{batchCluster, waitCluster} {
		argv = append(argv, "--cluster", cluster+"=h2c://"+Addr(g.bridgePorts[0]))
	}
	env := []string{bridgeSecretEnv + "=" + bridgeSecret}
	if s.opts.Debug {
		env = append(env, "ONCEWALL_DEBUG=1")
	}
	return &part{
		name:  g.name,
		ports: []int{g.port, g.adminPort},
		cmd:   s.command(g.name, env, argv...),
		ready: httpReady(g.adminPort, "/ready"),
	}
}
