package stack

import (
	"fmt"
	"os"
)

// Names in envoy/envoy.yaml.
const (
	listenerName   = "gateway"
	bareName       = "bare"
	filterName     = "oncewall"
	hcmName        = "envoy.filters.network.http_connection_manager"
	shopCluster    = "shop"
	batchCluster   = "oncewall_bridge"
	waitCluster    = "oncewall_bridge_wait"
	stringValueURL = "type.googleapis.com/google.protobuf.StringValue"
)

// gatewayConfig is what one gateway's Envoy differs in from envoy/envoy.yaml.
type gatewayConfig struct {
	name         string // node id
	port         int
	adminPort    int
	barePort     int // 0: no listener without the filter
	upstreamPort int // the shop, or the proxy before it
	bridgePorts  []int
	// bridgeAdminPorts belong to bridgePorts, one each.
	bridgeAdminPorts []int
	wasm             string // file
	rules            string // file
	patch            string // file, or ""
}

// build returns the shipped configuration (the file base) with ports, paths and
// the plugin's configuration replaced, and the patch laid over it last.
func (g gatewayConfig) build(base string) (document, error) {
	c, err := readYAML(base)
	if err != nil {
		return nil, err
	}
	plugin, err := os.ReadFile(g.rules)
	if err != nil {
		return nil, fmt.Errorf("plugin configuration: %w", err)
	}
	hcm := []any{"static_resources", "listeners", listenerName, "filter_chains", 0, "filters", hcmName, "typed_config"}
	wasm := append(hcm[:len(hcm):len(hcm)], "http_filters", filterName, "typed_config", "config")
	clusters := []any{"static_resources", "clusters"}
	for _, s := range []struct {
		value any
		path  []any
	}{
		{"oncewall-" + g.name, []any{"node", "id"}},
		{socketAddress(g.adminPort), []any{"admin", "address"}},
		{socketAddress(g.port), []any{"static_resources", "listeners", listenerName, "address"}},
		// The only listener on its port: with SO_REUSEPORT a second Envoy would
		// share it without a word. The workers then share one socket, and exact
		// balance keeps one of them from taking every connection.
		{false, []any{"static_resources", "listeners", listenerName, "enable_reuse_port"}},
		{map[string]any{"exact_balance": map[string]any{}}, []any{"static_resources", "listeners", listenerName, "connection_balance_config"}},
		{g.wasm, append(wasm[:len(wasm):len(wasm)], "vm_config", "code", "local", "filename")},
		// The file's own text: what is wrong with it, the plugin says.
		{map[string]any{"@type": stringValueURL, "value": string(plugin)}, append(wasm[:len(wasm):len(wasm)], "configuration")},
		{endpoints([]int{g.upstreamPort}), append(clusters[:2:2], shopCluster, "load_assignment", "endpoints")},
		{bridgeEndpoints(g.bridgePorts, g.bridgeAdminPorts), append(clusters[:2:2], batchCluster, "load_assignment", "endpoints")},
		{bridgeEndpoints(g.bridgePorts, g.bridgeAdminPorts), append(clusters[:2:2], waitCluster, "load_assignment", "endpoints")},
	} {
		if err := c.set(s.value, s.path...); err != nil {
			return nil, err
		}
	}
	if g.barePort != 0 {
		if err := g.addBare(c); err != nil {
			return nil, err
		}
	}
	if g.patch == "" {
		return c, nil
	}
	patch, err := readYAML(g.patch)
	if err != nil {
		return nil, fmt.Errorf("envoy patch: %w", err)
	}
	return merge(map[string]any(c), map[string]any(patch)).(map[string]any), nil
}

// addBare adds the listener that shows what the filter is good for: the same
// listener without it.
func (g gatewayConfig) addBare(c document) error {
	gateway, err := c.at("static_resources", "listeners", listenerName)
	if err != nil {
		return err
	}
	bare := clone(gateway).(map[string]any)
	bare["name"], bare["address"] = bareName, socketAddress(g.barePort)
	hcm, ok := walk(bare, []any{"filter_chains", 0, "filters", hcmName, "typed_config"}).(map[string]any)
	if !ok {
		return fmt.Errorf("envoy configuration: listener %s has no http connection manager", listenerName)
	}
	hcm["stat_prefix"] = bareName
	filters, _ := hcm["http_filters"].([]any)
	kept := make([]any, 0, len(filters))
	for _, f := range filters {
		if itemName(f) != filterName {
			kept = append(kept, f)
		}
	}
	hcm["http_filters"] = kept
	static, err := c.at("static_resources")
	if err != nil {
		return err
	}
	listeners, _ := static["listeners"].([]any)
	static["listeners"] = append(listeners, bare)
	return nil
}

// bridgeEndpoints is endpoints for bridges, whose health is asked at their admin
// ports.
func bridgeEndpoints(ports, adminPorts []int) []any {
	list := endpoints(ports)
	lb := list[0].(map[string]any)["lb_endpoints"].([]any)
	for i, e := range lb {
		endpoint := e.(map[string]any)["endpoint"].(map[string]any)
		endpoint["health_check_config"] = map[string]any{"port_value": adminPorts[i]}
	}
	return list
}

// endpoints is the endpoint list of a cluster with these loopback ports.
func endpoints(ports []int) []any {
	list := make([]any, len(ports))
	for i, port := range ports {
		list[i] = map[string]any{"endpoint": map[string]any{"address": socketAddress(port)}}
	}
	return []any{map[string]any{"lb_endpoints": list}}
}

func socketAddress(port int) map[string]any {
	return map[string]any{"socket_address": map[string]any{"address": loopback, "port_value": port}}
}
