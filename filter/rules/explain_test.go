package rules

import (
	"fmt"
	"slices"
	"testing"
)

func TestNormalPaths(t *testing.T) {
	for path, want := range map[string][]string{
		"/orders":          {"/orders"},
		"/orders/?a=1":     {"/orders"},
		"/":                {"/"},
		"/a//b/../c;x":     {"/a/c"},
		"/orders%2Fx":      {"/orders/x", "/orders%2Fx"},
		"/%256frders?%2F?": {"/%6frders", "/orders", "/%256frders"},
	} {
		if got := NormalPaths(path); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}

func TestNearMisses(t *testing.T) {
	const rule = `{"name":%q,"match":{%s"path":{%s}},%s}`
	const enforce = `"principal":"anonymous","fingerprint":{"body":"none"},"upstream_timeout":"1s","recovery":{"action":"hold"},"unavailable":"reject"`
	cfg, err := Parse(fmt.Appendf(nil, `{"namespace":"n","bridge":{"cluster":"b"},"rules":[`+rule+","+rule+","+rule+","+rule+"]}",
		"all", "", `"prefix":"/"`, enforce,
		"put", `"methods":["PUT"],`, `"prefix":"/orders"`, enforce,
		"orders", "", `"prefix":"/orders"`, enforce,
		"ping", "", `"exact":"/orders/ping"`, `"mode":"off"`))
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"/":             "all: []",
		"/orders/1?a=b": "orders: [all 1 put 2]",
		"/orders/ping":  "ping: [all 1 put 2 orders 1]",
		"/orders//ping": "orders: [all 1 put 2 ping 3]",
	} {
		var near []string
		for _, n := range cfg.NearMisses(Head{Method: "POST", Path: path}) {
			near = append(near, fmt.Sprintf("%s %d", n.Rule.Name, n.Miss))
		}
		if got := fmt.Sprintf("%s: %v", cfg.Match("POST", path).Name, near); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}
