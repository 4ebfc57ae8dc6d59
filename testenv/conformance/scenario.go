package conformance

import (
	"strings"
	"time"

	"github.com/oncewall/oncewall/testenv/host"
)

// Scenario is one story and the measured fact that it stands for.
type Scenario struct {
	// Name is unique, of letters, digits and dashes: it names the plugin, its root
	// id and the listener in Envoy.
	Name string
	// Fact is the section of the measured facts and what it says.
	Fact string
	// Setup is what both stages are configured with.
	Setup Setup
	// Play tells the story.
	Play func(*Stage)
	// Short makes it part of the short form, which runs in make test.
	Short bool
	// Startup also compares what the probe did before the story began, in every
	// VM.
	Startup bool
	// Merge takes runs of body callbacks as one: for bodies that Envoy reads in
	// chunks of no certain size.
	Merge bool
	// Unlogged skips the access log: its lines cannot be told apart, since Envoy
	// refused the request before it knew the headers.
	Unlogged bool
}

// Setup is the configuration of a listener, its filter and its clusters. Zero
// values are Envoy's defaults, as in [host.Options].
type Setup struct {
	// Config is the probe's configuration besides "trace".
	Config string
	// OwnVM gives the filter a vm_id of its own: for filters that trap, and for
	// everything that a VM shares.
	OwnVM bool

	AllowStop bool
	// BufferLimit is the listener's, StreamWindow initial_stream_window_size: the
	// limit of HTTP/2 clients.
	BufferLimit   int
	StreamWindow  int
	StreamIdle    time.Duration
	UseRemote     bool
	Failure       host.FailurePolicy
	ReloadBackoff time.Duration
	Route         host.Route
	// Upstream is the route's cluster, Bridge the callouts'; More are others by
	// name.
	Upstream, Bridge Cluster
	More             map[string]Cluster
	// Deny makes a filter before the probe refuse every request: RBAC.
	Deny bool
	// Abort makes a filter behind the probe answer with this status: fault.
	Abort int
	// Watched puts the listener into a file that Envoy watches, so that
	// [Stage.Reconfigure] works.
	Watched bool
}

// Cluster is a scripted upstream.
type Cluster struct {
	HTTP2       bool
	NoHosts     bool
	Refuse      bool
	MaxRequests int
	// BufferLimit is per_connection_buffer_limit_bytes.
	BufferLimit int
}

// clusters lists all clusters of a setup by their names in the probe's script.
func (s Setup) clusters() map[string]Cluster {
	all := map[string]Cluster{"upstream": s.Upstream, "bridge": s.Bridge}
	for name, c := range s.More {
		all[name] = c
	}
	return all
}

// script puts the clusters' names into a script, where they stand as "@bridge".
func (sc *Scenario) script(s string) string { return strings.ReplaceAll(s, "@", sc.Name+".") }

// cluster is the name of one of the scenario's clusters; all scenarios share an
// Envoy.
func (sc *Scenario) cluster(short string) string { return sc.Name + "." + short }

// config is the probe's configuration.
func (sc *Scenario) config() string {
	if sc.Setup.Config == "" {
		return "trace"
	}
	return "trace;" + sc.script(sc.Setup.Config)
}

// vmID is the vm_id of the scenario's filter.
func (sc *Scenario) vmID() string {
	if sc.Setup.OwnVM {
		return sc.Name
	}
	return "shared"
}
