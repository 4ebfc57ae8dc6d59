package stack

import (
	"fmt"
	"io"
	"path/filepath"
	"text/tabwriter"
)

// Describe writes what runs where, for a reader.
func (s *Stack) Describe(w io.Writer) {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	row := func(name, addr, about string) { _, _ = fmt.Fprintf(tw, "%s\t%s\t%s\n", name, addr, about) }
	if s.opts.Edge {
		row(EdgePart, s.Edge(), "Envoy before the gateways")
	}
	for i := range s.opts.Gateways {
		row(GatewayPart(i), s.Gateway(i), "HTTP/1.1 and h2c; Envoy admin "+s.GatewayAdmin(i))
	}
	if s.opts.Bare {
		row(bareName, s.Bare(), "the same without the filter")
	}
	if s.opts.Inner {
		row(InnerPart, s.Inner(), "Envoy between gateways and shop")
	}
	for i := range s.opts.Bridges {
		row(BridgePart(i), s.Bridge(i), "store: "+s.opts.Store+"; admin "+s.BridgeAdmin(i))
	}
	row(ShopPart, s.Shop(), "the backend; /executions?key=K")
	if s.opts.Store == Cluster {
		for i, addr := range s.Redis() {
			row(RedisPart(s.ports.Redis[i]), addr, "Redis Cluster node")
		}
	}
	_ = tw.Flush()
	_, _ = fmt.Fprintf(w, "logs and pid files: %s\n", s.dir)
	_, _ = fmt.Fprintf(w, "JSON API: secrets in %s (role consumer, namespace %s) and %s (role operator)\n",
		filepath.Join(s.dir, consumerSecretFile), apiNamespace, filepath.Join(s.dir, operatorSecretFile))
}
