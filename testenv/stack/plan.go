package stack

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// pickFree fills Ports with free ones, so that everything derived from them is
// free as well.
func pickFree(o Options) (Ports, error) {
	// Gateways, their admin ports and bridges follow each other; the others stand
	// at fixed distances. Few combinations are taken, so trying again is enough.
	for try := 0; try < 100; try++ {
		first, err := FreePorts(5)
		if err != nil {
			return Ports{}, err
		}
		p := Ports{Gateway: first[0], EnvoyAdmin: first[1], Bridge: first[2], BridgeAdmin: first[2] + 1, Shop: first[3]}
		for i := range 6 {
			p.Redis = append(p.Redis, first[4]+i)
		}
		if reserve(append(p.all(), p.derived(o)...), first) {
			return p, nil
		}
		giveBack(first)
	}
	return Ports{}, fmt.Errorf("ports: no set of free ports was found")
}

// derived returns the ports that a stack takes beyond the first of each kind.
func (p Ports) derived(o Options) []int {
	ports := []int{
		p.Gateway + bareOffset, p.Gateway + edgeOffset, p.EnvoyAdmin + edgeOffset,
		p.Gateway + midOffset, p.EnvoyAdmin + midOffset, p.EnvoyAdmin + bareOffset,
	}
	for i := 1; i < o.Gateways; i++ {
		ports = append(ports, p.Gateway+i, p.EnvoyAdmin+i)
	}
	for i := 1; i < o.Bridges; i++ {
		ports = append(ports, p.Bridge+2*i, p.BridgeAdmin+2*i)
	}
	if o.Store == Cluster {
		for _, r := range p.Redis {
			ports = append(ports, r+redisBusOffset)
		}
	}
	return ports
}

func allFree(ports []int) bool {
	seen := make(map[int]bool)
	for _, port := range ports {
		if seen[port] || checkFree(port) != nil {
			return false
		}
		seen[port] = true
	}
	return true
}

// plan returns the parts of the stack in the order in which they start.
func (s *Stack) plan(prog programs) ([]*part, error) {
	secrets, err := readSecrets(s.dir)
	if err != nil {
		return nil, err
	}
	var parts []*part
	if s.opts.Store == Cluster {
		if parts, err = s.redisParts(); err != nil {
			return nil, err
		}
	}
	for i := range s.opts.Bridges {
		parts = append(parts, s.bridgePart(i, prog, secrets))
	}
	parts = append(parts, s.shopPart(prog))
	if s.opts.Inner {
		parts = append(parts, s.proxyPart(InnerPart, prog, midOffset, []int{s.ports.Shop}))
	}
	for i := range s.opts.Gateways {
		if s.opts.Model {
			parts = append(parts, s.modelPart(i, prog, secrets.bridge))
		} else {
			parts = append(parts, s.gatewayPart(i, prog, secrets.bridge))
		}
	}
	if s.opts.Model && s.opts.Bare {
		parts = append(parts, s.proxyPart(bareName, prog, bareOffset, []int{s.ports.Shop}))
	}
	if s.opts.Edge {
		var next []int
		for i := range s.opts.Gateways {
			next = append(next, s.ports.Gateway+i)
		}
		parts = append(parts, s.proxyPart(EdgePart, prog, edgeOffset, next))
	}
	return parts, nil
}

// redisBusOffset is the distance from a node's port to its cluster bus.
const redisBusOffset = 10000

// command is what every part's process has in common. Nothing of the caller's
// environment is passed on but what programs need to run at all.
func (s *Stack) command(name string, env []string, argv ...string) command {
	for _, keep := range []string{"PATH", "HOME", "TMPDIR", "TZ", "GOCOVERDIR", "GORACE"} {
		if v, ok := os.LookupEnv(keep); ok {
			env = append(env, keep+"="+v)
		}
	}
	return command{argv: argv, env: env, dir: s.opts.Root, log: logFile(s.dir, name), detached: s.opts.Detached}
}

func (s *Stack) bridgePart(i int, prog programs, secrets secrets) *part {
	name := BridgePart(i)
	port, admin := s.ports.Bridge+2*i, s.ports.BridgeAdmin+2*i
	env := s.bridgeEnv(port, admin, s.clockOffset(i), secrets)
	return &part{
		name:  name,
		ports: []int{port, admin},
		cmd:   s.command(name, env, prog.bridge, "serve", "--config", s.opts.BridgeConfig, "--dev"),
		ready: httpReady(admin, "/readyz"),
	}
}

// clockOffset is what is added to a bridge's clock: of several bridges the last
// one has it alone, so that their clocks differ.
func (s *Stack) clockOffset(i int) time.Duration {
	if i < s.opts.Bridges-1 {
		return 0
	}
	return s.opts.BridgeClockOffset
}

func (s *Stack) shopPart(prog programs) *part {
	env := append([]string{"SHOP_PORT=" + strconv.Itoa(s.ports.Shop)}, s.opts.ShopEnv...)
	return &part{
		name:  ShopPart,
		ports: []int{s.ports.Shop},
		cmd:   s.command(ShopPart, env, prog.shop),
		ready: httpReady(s.ports.Shop, "/executions?key=ready"),
	}
}

func (s *Stack) gatewayConfig(i int, wasm string) gatewayConfig {
	g := gatewayConfig{
		name: GatewayPart(i), port: s.ports.Gateway + i, adminPort: s.ports.EnvoyAdmin + i, upstreamPort: s.ports.Shop,
		wasm: wasm, rules: s.opts.Rules, patch: s.opts.EnvoyPatch,
	}
	if s.opts.Inner {
		g.upstreamPort = s.ports.Gateway + midOffset
	}
	if s.opts.Bare && i == 0 {
		g.barePort = g.port + bareOffset
	}
	for b := range s.opts.Bridges {
		g.bridgePorts = append(g.bridgePorts, s.ports.Bridge+2*b)
		g.bridgeAdminPorts = append(g.bridgeAdminPorts, s.ports.BridgeAdmin+2*b)
	}
	return g
}

func (s *Stack) gatewayPart(i int, prog programs, bridgeSecret string) *part {
	wasm := prog.wasm
	if i < len(s.opts.Wasm) {
		wasm = s.opts.Wasm[i]
	}
	g := s.gatewayConfig(i, wasm)
	ports := []int{g.port, g.adminPort}
	if g.barePort != 0 {
		ports = append(ports, g.barePort)
	}
	env := []string{bridgeSecretEnv + "=" + bridgeSecret}
	if s.opts.Debug {
		env = append(env, "ONCEWALL_DEBUG=1")
	}
	build := func() (document, error) { return g.build(filepath.Join(s.opts.Root, "envoy/envoy.yaml")) }
	return s.envoyPart(g.name, prog, ports, g.adminPort, env, build)
}

func (s *Stack) proxyPart(name string, prog programs, offset int, next []int) *part {
	port, admin := s.ports.Gateway+offset, s.ports.EnvoyAdmin+offset
	build := func() (document, error) { return proxyConfig(name, port, admin, next) }
	return s.envoyPart(name, prog, []int{port, admin}, admin, nil, build)
}

func (s *Stack) envoyPart(name string, prog programs, ports []int, admin int, env []string, build func() (document, error)) *part {
	file := filepath.Join(s.dir, name+".yaml")
	return &part{
		name:  name,
		ports: ports,
		config: func() error {
			c, err := build()
			if err != nil {
				return err
			}
			if s.opts.Live && isGateway(name) {
				if err := c.splitListeners(s.listenersFile(name)); err != nil {
					return err
				}
			}
			return c.write(file)
		},
		// Hot restart would let a second Envoy take over the sockets of the first.
		cmd: s.command(name, env, prog.envoy, "-c", file, "--disable-hot-restart",
			"--concurrency", strconv.Itoa(s.opts.Concurrency), "--drain-time-s", "5", "--log-level", "warning", "--component-log-level", "wasm:info"),
		ready: httpReady(admin, "/ready"),
	}
}

func isEnvoy(part string) bool {
	return part == EdgePart || part == InnerPart || part == bareName || isGateway(part)
}

func isGateway(part string) bool { return strings.HasPrefix(part, "gateway") }

// httpReady asks a port on loopback and wants a 200.
func httpReady(port int, path string) func(context.Context) error {
	client := &http.Client{
		Timeout:   time.Second,
		Transport: &http.Transport{DisableKeepAlives: true},
	}
	url := "http://" + Addr(port) + path
	return func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		resp, err := client.Do(req)
		if err != nil {
			return err
		}
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			return fmt.Errorf("GET %s: status %d", url, resp.StatusCode)
		}
		return nil
	}
}
