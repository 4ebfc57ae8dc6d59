package stack

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func env(vars map[string]string) func(string) string {
	return func(name string) string { return vars[name] }
}

func TestFromEnvDefaults(t *testing.T) {
	o, err := FromEnv(env(nil))
	if err != nil {
		t.Fatal(err)
	}
	p := *o.Ports
	if p.Gateway != 10000 || p.EnvoyAdmin != 9901 || p.Bridge != 8081 || p.BridgeAdmin != 8082 || p.Shop != 8090 ||
		!slices.Equal(p.Redis, []int{7000, 7001, 7002, 7003, 7004, 7005}) {
		t.Errorf("default ports are %+v", p)
	}
}

func TestFromEnvReadsAll(t *testing.T) {
	o, err := FromEnv(env(map[string]string{
		"GATEWAY_PORT": "11000", "REDIS_PORTS": "7100-7105", "STORE": "cluster", "CONCURRENCY": "2", "BRIDGES": "2",
		"EDGE": "1", "DEBUG": "1", "LEDGER": "none", "BRIDGE_CLOCK_OFFSET": "-3s", "REDIS_VIA": "127.0.0.1:1,127.0.0.1:2",
	}))
	if err != nil {
		t.Fatal(err)
	}
	if o.Ports.Gateway != 11000 || o.Ports.Redis[5] != 7105 || o.Store != Cluster || o.Concurrency != 2 || o.Bridges != 2 ||
		!o.Edge || !o.Debug || o.BridgeClockOffset != -3*time.Second || len(o.RedisVia) != 2 {
		t.Errorf("read %+v with ports %+v", o, *o.Ports)
	}
}

func TestFromEnvTellsEveryFault(t *testing.T) {
	_, err := FromEnv(env(map[string]string{
		"GATEWAY_PORT": "70000", "SHOP_PORT": "x", "REDIS_PORTS": "1,2", "CONCURRENCY": "0", "EDGE": "yes",
		"LEDGER": "sqlite", "BRIDGE_DELAY": "5", "STORE": "disk",
	}))
	if err == nil {
		t.Fatal("no error")
	}
	for _, name := range []string{"GATEWAY_PORT", "SHOP_PORT", "REDIS_PORTS", "CONCURRENCY", "EDGE", "LEDGER", "BRIDGE_DELAY", "STORE"} {
		if !strings.Contains(err.Error(), name+" \"") {
			t.Errorf("%s is not told in:\n%v", name, err)
		}
	}
}

func TestOptionsTellEveryFault(t *testing.T) {
	_, err := Options{Store: "disk", Bridges: 9, Concurrency: 65, Rules: "/none", RedisVia: []string{"x"}}.withDefaults()
	if err == nil {
		t.Fatal("no error")
	}
	for _, name := range []string{"STORE", "BRIDGES", "CONCURRENCY", "RULES", "REDIS_VIA"} {
		if !strings.Contains(err.Error(), name) {
			t.Errorf("%s is not told in:\n%v", name, err)
		}
	}
}
