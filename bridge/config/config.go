package config

import (
	"time"

	"github.com/oncewall/oncewall/bridge/naming"
	"github.com/oncewall/oncewall/bridge/seal"
)

// Config is a whole, validated configuration.
type Config struct {
	// Dev is set by --dev alone: loopback only, the embedded store allowed.
	Dev         bool
	Listen      string // data listener, host:port
	AdminListen string // admin listener, host:port
	TLS         TLS    // of the data listener
	// Redis is nil where no store is configured; with Dev that means embedded.
	Redis *Redis

	// Secrets are the bearer secrets shared with the filter, current first.
	// Empty only where TLS.ClientCAFile is set.
	Secrets [][]byte
	// Naming is current first; never empty.
	Naming []naming.Secret
	// Sealing is current first; empty: results are stored in clear.
	Sealing  []seal.Secret
	Unsealed Unsealed
	// API holds the callers of the JSON API; none: there is none.
	API []APISecret

	IssueLife    time.Duration
	ClockSkew    time.Duration
	DrainTimeout time.Duration
	Limits       Limits
	Quotas       []Quota
	Recovery     Recovery
	Log          Log
	Tracing      Tracing

	// ClockOffset and Delay are for fault tests; zero without Dev.
	ClockOffset time.Duration
	Delay       time.Duration

	// Warnings are remarks on what is legal and yet probably not meant.
	Warnings []string
}

// Unsealed says what becomes of results in clear where there are sealing secrets.
type Unsealed string

// What may become of them. RefuseUnsealed takes them for forgeries,
// WriteUnsealed goes on writing them.
const (
	ReadUnsealed   Unsealed = "read"
	RefuseUnsealed Unsealed = "refuse"
	WriteUnsealed  Unsealed = "write"
)

// TLS is the data listener's. All empty: plain HTTP/1.1 and h2c.
type TLS struct {
	CertFile string
	KeyFile  string
	// ClientCAFile, where set, makes a client certificate signed by one of its
	// authorities a condition of every connection.
	ClientCAFile string
}

// Mode is how Redis is deployed.
type Mode string

// The modes. Auto is sentinel where SentinelMaster is set, otherwise what the
// first node that answers says of itself.
const (
	Auto     Mode = "auto"
	Single   Mode = "single"
	Sentinel Mode = "sentinel"
	Cluster  Mode = "cluster"
)

// Redis says how the store is reached.
type Redis struct {
	Mode           Mode
	Addresses      []string // of the node, the sentinels, or some of the cluster's nodes
	SentinelMaster string
	Username       string
	Password       string // from store.redis.password_env or password_file
	// The sentinels' own credentials.
	SentinelUsername string
	SentinelPassword string
	DialTimeout      time.Duration
	TLS              RedisTLS
	// Via replaces addresses when they are dialled; for fault tests, nil without
	// Dev.
	Via map[string]string
}

// RedisTLS is the client side of TLS to Redis.
type RedisTLS struct {
	Enabled    bool
	CAFile     string // empty: the system's authorities
	CertFile   string
	KeyFile    string
	ServerName string // empty: the host that is dialled
}

// Quota bounds what one namespace may add to the store through this bridge.
type Quota struct {
	Namespace   string // "*": all without a quota of their own, together
	NewKeys     int    // a second; 0: any
	ResultBytes int64  // a second; 0: any
	MaxResult   int64  // 0: any
}

// Limits bound what the filter may ask for.
type Limits struct {
	MaxBatchBytes int64
	MaxInFlight   int
	MaxWaiters    int
	MaxKeyWaiters int
	MaxLease      time.Duration
	MaxTTL        time.Duration
	MaxTombstone  time.Duration
}
