package stack

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// The stores of [Options.Store].
const (
	// Embedded is miniredis inside the bridge. Its records die with it.
	Embedded = "embedded"
	// Cluster is a real Redis Cluster of three masters and three replicas.
	Cluster = "cluster"
)

// Distances of derived ports from [Ports].
const (
	bareOffset = 100 // from Gateway, [Options.Bare]
	edgeOffset = 10  // from Gateway and EnvoyAdmin, [Options.Edge]
	midOffset  = 20  // from Gateway and EnvoyAdmin, [Options.Inner]
)

// Ports are the first ports of each kind. Further gateways use the next ones
// (10001 and 9902), further bridges the next pair (8083 and 8084).
type Ports struct {
	Gateway     int   // default 10000
	EnvoyAdmin  int   // default 9901
	Bridge      int   // default 8081
	BridgeAdmin int   // default 8082
	Shop        int   // default 8090
	Redis       []int // six; default 7000 to 7005; their cluster buses are 10000 above
}

// DefaultPorts are the ports of `make up`.
func DefaultPorts() Ports {
	return Ports{
		Gateway: 10000, EnvoyAdmin: 9901, Bridge: 8081, BridgeAdmin: 8082, Shop: 8090,
		Redis: []int{7000, 7001, 7002, 7003, 7004, 7005},
	}
}

// Options say what a stack is made of. The zero value is the default stack on
// free ports: one gateway, one bridge with the embedded store, the shop.
type Options struct {
	// Root is the checkout, whose build/out holds the built programs. Default:
	// the folder above the working directory that holds this module's go.mod.
	Root string
	// Dir takes logs, pid files, secrets and generated configurations. Default:
	// a new folder below Root/build/out/test, removed by [Stack.Close].
	Dir string
	// Ports; nil: free ones are picked.
	Ports *Ports
	// Detached lets the parts outlive this process; otherwise they die with it.
	Detached bool

	Store       string // Embedded (default) or Cluster
	Envoy       string // Envoy binary; default: what build/envoy.sh finds
	Concurrency int    // Envoy's worker threads, 1 to 64; default 1
	Bridges     int    // 1 to 4, default 1; more than one needs Cluster
	Gateways    int    // 1 to 4, default 1
	Edge        bool   // a plain Envoy before the gateways, at Gateway+10
	Inner       bool   // a plain Envoy between gateways and shop, at Gateway+20
	Bare        bool   // a second listener without the filter in the first gateway, at Gateway+100
	Model       bool   // the gateways are oncewall-host, the model of Envoy, instead of Envoy; Bare is then a plain Envoy
	Live        bool   // the gateways watch a file for their listeners, so that SetRules can change the plugin's configuration

	Rules        string // plugin configuration, JSON file; default testenv/stack/shop.json
	BridgeConfig string // the bridge's configuration, YAML file; default testenv/stack/bridge.yaml. Addresses and store are set from here
	EnvoyPatch   string // YAML file laid over the gateways' configuration; see envoy/README.md

	// Programs of another version in place of those below Root/build/out.
	Wasm          []string // the plugin of each gateway in turn; further ones have the built one
	BridgeProgram string   // of every bridge, until [Stack.SetProgram]

	// PartsJudge starts the parts without looking at their configuration first,
	// for tests of what the parts themselves refuse.
	PartsJudge bool

	// For fault tests.
	RedisVia          []string      // addresses that the bridge dials instead of the nodes', one each in their order
	BridgeClockOffset time.Duration // added to the bridge's own clock; of several bridges to the last one's
	BridgeDelay       time.Duration // before each batch
	IssueLife         time.Duration // life of issued keys; 0: as configured
	Debug             bool          // x-oncewall-debug: trap panics the filter

	ShopEnv []string // more environment for the shop, NAME=value
}

// withDefaults fills in what is not set, and returns every fault of what is.
func (o Options) withDefaults() (Options, error) {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }

	if o.Root == "" {
		root, err := findRoot()
		if err != nil {
			return o, err
		}
		o.Root = root
	}
	o.Store = cmp.Or(o.Store, Embedded)
	o.Concurrency = cmp.Or(o.Concurrency, 1)
	o.Bridges = cmp.Or(o.Bridges, 1)
	o.Gateways = cmp.Or(o.Gateways, 1)
	o.Rules = cmp.Or(o.Rules, filepath.Join(o.Root, "testenv/stack/shop.json"))
	o.BridgeConfig = cmp.Or(o.BridgeConfig, filepath.Join(o.Root, "testenv/stack/bridge.yaml"))

	if o.Store != Embedded && o.Store != Cluster {
		fault("STORE %q must be %s or %s", o.Store, Embedded, Cluster)
	}
	inRange := func(name string, v, most int) {
		if v < 1 || v > most {
			fault("%s %d must be 1 to %d", name, v, most)
		}
	}
	inRange("CONCURRENCY", o.Concurrency, 64)
	inRange("BRIDGES", o.Bridges, 4)
	inRange("GATEWAYS", o.Gateways, 4)
	if o.Bridges > 1 && o.Store == Embedded {
		fault("BRIDGES %d needs STORE=%s: the embedded store belongs to one bridge", o.Bridges, Cluster)
	}
	if o.Model && (o.Live || o.EnvoyPatch != "" || o.Bridges > 1) {
		fault("a gateway that is no Envoy has no Live, no EnvoyPatch and one bridge")
	}
	if len(o.RedisVia) > 0 && o.Store != Cluster {
		fault("REDIS_VIA needs STORE=%s", Cluster)
	}
	for _, f := range []struct{ name, path string }{
		{"RULES", o.Rules}, {"BRIDGE_CONFIG", o.BridgeConfig}, {"ENVOY_PATCH", o.EnvoyPatch},
	} {
		if f.path == "" {
			continue
		}
		if _, err := os.Stat(f.path); err != nil {
			fault("%s: %w", f.name, err)
		}
	}
	if len(faults) > 0 {
		return o, errors.Join(faults...)
	}
	return o, o.absolute()
}

// absolute makes paths independent of the working directory.
func (o *Options) absolute() error {
	for _, p := range []*string{&o.Root, &o.Rules, &o.BridgeConfig, &o.EnvoyPatch, &o.Dir} {
		if *p == "" {
			continue
		}
		abs, err := filepath.Abs(*p)
		if err != nil {
			return err
		}
		*p = abs
	}
	return nil
}

// findRoot goes up from the working directory to the module's root.
func findRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, "envoy", "envoy.yaml")); err == nil {
			return at, nil
		}
		if at == filepath.Dir(at) {
			return "", fmt.Errorf("stack: %s is not below a checkout of oncewall", dir)
		}
	}
}
