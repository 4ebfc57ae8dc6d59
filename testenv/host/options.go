package host

import "time"

// Defaults of Options, Envoy's own.
const (
	// DefaultBufferLimit is per_connection_buffer_limit_bytes of listeners and
	// clusters. Gateways often set 32 KiB.
	DefaultBufferLimit = 1 << 20
	// DefaultStreamWindow is initial_stream_window_size of HTTP/2 clients.
	DefaultStreamWindow = 16 << 20
	// DefaultRouteTimeout runs from the end of the request at the router.
	DefaultRouteTimeout = 15 * time.Second
	// DefaultStreamIdleTimeout is the connection manager's.
	DefaultStreamIdleTimeout = 5 * time.Minute
	// DefaultReloadBackoff is reload_config.backoff.base_interval.
	DefaultReloadBackoff = time.Second
	// None switches a timeout off where zero means its default.
	None = time.Duration(-1)
)

// Options describe one Envoy process: its VMs, its listener and its clusters.
// Only Binary is required.
type Options struct {
	// Binary is the compiled filter; one Binary serves many hosts.
	Binary *Binary
	// Workers is the number of worker threads (concurrency); 0 means 1. The main
	// thread has a VM of its own beside them.
	Workers int

	// Name, RootID and VMID are the plugin's name, root_id and vm_config.vm_id.
	Name, RootID, VMID string
	// PluginConfig and VMConfig are the configurations as the filter reads them.
	PluginConfig, VMConfig []byte
	// Env are the VM's environment variables.
	Env map[string]string
	// Seed makes random_get and request ids repeatable.
	Seed uint64
	// Start is the virtual clock's first reading; zero means 2026-01-01 UTC.
	Start time.Time
	// LogLevel is what proxy_get_log_level answers and below which Log keeps
	// nothing: 0 trace to 5 critical. The default is info, as of Envoy.
	LogLevel *LogLevel

	// AllowOnHeadersStopIteration is allow_on_headers_stop_iteration.
	AllowOnHeadersStopIteration bool
	// BufferLimit bounds what is buffered for a paused stream of an HTTP/1 client,
	// either way, and a chunk from it; 0 means DefaultBufferLimit.
	BufferLimit int
	// StreamWindow is the same for HTTP/2 clients, whose limit is not the
	// listener's but initial_stream_window_size; 0 means DefaultStreamWindow.
	StreamWindow int
	// FailurePolicy says what happens after a trap.
	FailurePolicy FailurePolicy
	// ReloadBackoff is the time between two loads under FailReload.
	ReloadBackoff time.Duration
	// StreamIdleTimeout is the connection manager's; 0 means the default, None
	// none.
	StreamIdleTimeout time.Duration
	// UseRemoteAddress makes the listener an edge: it adds x-forwarded-for and
	// removes internal headers of clients outside.
	UseRemoteAddress bool

	// Route is the only route.
	Route Route
	// Clusters are the upstreams and the callouts' targets by name.
	Clusters map[string]*Cluster
	// Properties are added to, and win over, those of the model: a tree whose
	// leaves are string, []byte, bool, int64, uint64, float64, time.Duration or
	// time.Time. {"metadata": {"filter_metadata": {"ns": {"key": "v"}}}}.
	Properties map[string]any
	// FilterStates are the names that set_envoy_filter_state accepts besides
	// "envoy.string": registered object factories.
	FilterStates []string
	// Foreign are foreign functions besides Envoy's own.
	Foreign map[string]func(args []byte) (result []byte, status Status)

	// Earlier stands before the filter in the chain and may answer a request that
	// the filter then never sees; nil lets all pass.
	Earlier func(Headers) *Reply
	// Later stands between the filter and the router, and may answer what the
	// filter let pass.
	Later func(Headers) *Reply

	// Canary runs the configuration once in a VM of its own before it is used, as
	// Envoy does. The canary's callbacks are traced as those of VM "canary".
	Canary bool
	// Lenient answers a filter's faults with Envoy's status instead of failing.
	Lenient bool
	// Traced is called with each line of the trace, and Logged with each line of
	// the log, as they are made; they are not kept then.
	Traced func(TraceEntry)
	Logged func(LogLine)
	// T fails on faults, and closes the host at the test's end.
	T TB
	// Fail is called with a fault where T is nil; nil means panic. When it
	// returns, the host goes on with what Envoy would answer.
	Fail func(error)
}

// TB is the part of testing.TB that a Host uses.
type TB interface {
	Helper()
	Fatalf(format string, args ...any)
	Cleanup(func())
}

// Route is the one route of a listener.
type Route struct {
	// Name is the route's name (xds.route_name).
	Name string
	// Cluster is where requests go; "" means "upstream".
	Cluster string
	// Timeout is the route's; 0 means DefaultRouteTimeout, None none.
	Timeout time.Duration
	// PerTryTimeout bounds each attempt; 0 means none.
	PerTryTimeout time.Duration
	// RetryOn and NumRetries are the retry policy: "5xx,connect-failure,reset,
	// gateway-error,retriable-4xx". NumRetries 0 with a RetryOn means 1.
	RetryOn    string
	NumRetries int
	// DirectResponse answers instead of a cluster.
	DirectResponse *Reply
	// AttemptCount adds x-envoy-attempt-count to requests.
	AttemptCount bool
	// ResponseHeadersToAdd are added behind the filter, before it sees a response.
	ResponseHeadersToAdd Headers
	// Metadata is the route's metadata: namespace, key, value.
	Metadata map[string]map[string]any
}

// Reply is a local reply of another filter, or a direct response.
type Reply struct {
	Status  int
	Body    string
	Details string // response code details
	Headers Headers
	Flags   Flags
}

// FailurePolicy is vm's failure_policy.
type FailurePolicy int

const (
	// Unspecified behaves as FailClosed: measured, whatever release notes say.
	Unspecified FailurePolicy = iota
	// FailClosed answers 503 for ever after a trap.
	FailClosed
	// FailOpen answers 503 to the request that trapped and bypasses the filter
	// for all later ones.
	FailOpen
	// FailReload makes a new VM for the next request after the backoff.
	FailReload
)

// LogLevel is a level of proxy_log.
type LogLevel uint32

// Levels of proxy_log.
const (
	LogTrace LogLevel = iota
	LogDebug
	LogInfo
	LogWarn
	LogError
	LogCritical
)

var logNames = [...]string{"trace", "debug", "info", "warn", "error", "critical"}

func (l LogLevel) String() string { return logNames[l] }

// LogLine is what a filter logged.
type LogLine struct {
	VM    string // "worker0", "main", ...
	Level LogLevel
	Text  string
}
