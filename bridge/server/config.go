package server

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"

	"github.com/oncewall/oncewall/bridge/health"
	"github.com/oncewall/oncewall/bridge/naming"
	"github.com/oncewall/oncewall/bridge/seal"
	"github.com/oncewall/oncewall/bridge/store"
)

// Defaults of [Config].
const (
	DefaultMaxBatchBytes = 8 << 20
	DefaultMaxInFlight   = 1024
	DefaultMaxWaiters    = 4096
	DefaultMaxKeyWaiters = 512
	DefaultIssueLife     = 15 * time.Minute
	DefaultDrainTimeout  = 30 * time.Second
	DefaultMaxLease      = 2 * time.Hour
	DefaultMaxTTL        = 720 * time.Hour
	DefaultMaxTombstone  = 8760 * time.Hour
)

// MaxBudget bounds how long a batch may take: a larger budget is cut to it.
const MaxBudget = 60 * time.Second

// Config is what a [Server] is made of. Zero durations and sizes take the
// defaults above.
type Config struct {
	Store store.Store  // required
	Keys  *naming.Ring // required

	// Secrets are the bearer secrets that the filter may present, the current
	// one first. Empty means that none is asked for: the caller must then make
	// sure that the listener verifies client certificates.
	Secrets [][]byte

	// Sealer seals and opens results; nil: results are stored in clear, and sealed
	// ones do not open. WriteUnsealed stores them in clear all the same, for the
	// time in which some bridges cannot open them yet. RefuseUnsealed takes a
	// result in clear for a forgery.
	Sealer         *seal.Sealer
	WriteUnsealed  bool
	RefuseUnsealed bool

	// Asked says of which scopes a backend may be asked what became of a request;
	// nil: of none. Their records keep key and principal, sealed, until the final
	// word. It needs a Sealer.
	Asked func(namespace, scope string) bool

	MaxBatchBytes int64 // largest body of a batch; above: 413
	MaxInFlight   int   // batches answered at one time; above: 503
	// MaxWaiters and MaxKeyWaiters bound the requests that wait for a concurrent
	// one, in all and of one key; above: too-many-waiting.
	MaxWaiters    int
	MaxKeyWaiters int

	// Upper bounds of what a rule may ask for. An operation whose policy is
	// beyond them is Invalid.
	MaxLease     time.Duration
	MaxTTL       time.Duration
	MaxTombstone time.Duration

	// Quotas bound what single namespaces may add; none: any.
	Quotas []Quota

	IssueLife    time.Duration // life of an issued key
	DrainTimeout time.Duration // how long Run waits for batches under way

	// Delay is slept before every batch answer, ClockOffset is added to the
	// clock by which issued keys are dated. Both are for fault tests.
	Delay       time.Duration
	ClockOffset time.Duration

	// Tracer makes spans of operations whose request is sampled; nil: there are none.
	Tracer trace.Tracer
	// LogPerSecond bounds the lines about replays, and about refusals of each code;
	// of what is beyond, one in 1000 is logged. 0: [DefaultLogPerSecond], negative:
	// no such lines.
	LogPerSecond int

	Now      func() time.Time     // default time.Now
	Log      *slog.Logger         // default: discard
	Registry *prometheus.Registry // default: a new one
	Version  string               // for oncewall_build_info
}

// Server answers batches. It is safe for concurrent use.
type Server struct {
	cfg      Config
	secrets  [][sha256.Size]byte
	metrics  *metrics
	quotas   map[string]*quota // by namespace
	moves    moves
	health   condition // of the store
	opening  condition // of what is read from it
	mounts   mounts
	waits    *waits
	report   *report
	parts    []health.Part
	samplers [len(outcomeNames)]sampler // of lines, by code
	inFlight atomic.Int64
	draining atomic.Bool
	// calls counts the calls of Store.Do that have not returned; one may outlive
	// its batch.
	calls atomic.Int64
	start time.Time
	heart heart
}

// New returns a server. It starts nothing.
func New(cfg Config) (*Server, error) {
	if cfg.Store == nil || cfg.Keys == nil {
		return nil, errors.New("server: a store and naming keys are required")
	}
	if cfg.Sealer == nil && (cfg.WriteUnsealed || cfg.RefuseUnsealed) {
		return nil, errors.New("server: unsealed results cannot be told from others without a sealer")
	}
	if cfg.Sealer == nil && cfg.Asked != nil {
		return nil, errors.New("server: identities cannot be kept without a sealer")
	}
	cfg.MaxBatchBytes = cmp.Or(cfg.MaxBatchBytes, DefaultMaxBatchBytes)
	cfg.MaxInFlight = cmp.Or(cfg.MaxInFlight, DefaultMaxInFlight)
	cfg.MaxWaiters = cmp.Or(cfg.MaxWaiters, DefaultMaxWaiters)
	cfg.MaxKeyWaiters = cmp.Or(cfg.MaxKeyWaiters, DefaultMaxKeyWaiters)
	cfg.MaxLease = cmp.Or(cfg.MaxLease, DefaultMaxLease)
	cfg.MaxTTL = cmp.Or(cfg.MaxTTL, DefaultMaxTTL)
	cfg.MaxTombstone = cmp.Or(cfg.MaxTombstone, DefaultMaxTombstone)
	cfg.IssueLife = cmp.Or(cfg.IssueLife, DefaultIssueLife)
	cfg.DrainTimeout = cmp.Or(cfg.DrainTimeout, DefaultDrainTimeout)
	cfg.LogPerSecond = cmp.Or(cfg.LogPerSecond, DefaultLogPerSecond)
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Registry == nil {
		cfg.Registry = prometheus.NewRegistry()
	}
	s := &Server{cfg: cfg, start: time.Now(), metrics: newMetrics(cfg.Registry, cfg.Store, cfg.Version, cfg.Quotas)}
	s.moves = newMoves(cfg.Registry)
	s.report = newReport(cfg.Store)
	s.waits = newWaits(cfg.Registry, cfg.Store, cfg.MaxWaiters, cfg.MaxKeyWaiters)
	s.health.log, s.health.bad, s.health.good = cfg.Log, "store unavailable", "store available again"
	s.opening.log, s.opening.bad, s.opening.good = cfg.Log, "recorded results do not open", "recorded results open again"
	s.parts = s.ownParts()
	var err error
	if s.quotas, err = newQuotas(cfg.Quotas, cfg.Registry, cfg.Log); err != nil {
		return nil, err
	}
	for _, secret := range cfg.Secrets {
		if len(secret) == 0 {
			return nil, errors.New("server: an empty secret")
		}
		s.secrets = append(s.secrets, sha256.Sum256(secret))
	}
	return s, nil
}
