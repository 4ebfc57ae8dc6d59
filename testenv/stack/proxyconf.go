package stack

import _ "embed"

//go:embed proxy.yaml
var proxyYAML []byte

// proxyConfig returns the configuration of an Envoy without the filter, which
// spreads what comes to port over the next ports.
func proxyConfig(name string, port, adminPort int, next []int) (document, error) {
	c, err := parseYAML("proxy.yaml", proxyYAML)
	if err != nil {
		return nil, err
	}
	for _, s := range []struct {
		value any
		path  []any
	}{
		{"oncewall-" + name, []any{"node", "id"}},
		{socketAddress(adminPort), []any{"admin", "address"}},
		{socketAddress(port), []any{"static_resources", "listeners", "proxy", "address"}},
		{name, []any{"static_resources", "listeners", "proxy", "filter_chains", 0, "filters", hcmName, "typed_config", "stat_prefix"}},
		{endpoints(next), []any{"static_resources", "clusters", "next", "load_assignment", "endpoints"}},
	} {
		if err := c.set(s.value, s.path...); err != nil {
			return nil, err
		}
	}
	return c, nil
}
