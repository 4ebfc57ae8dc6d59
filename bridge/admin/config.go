package admin

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/oncewall/oncewall/bridge/server"
	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/filter/wire"
)

// Defaults of [Config], and fixed bounds.
const (
	DefaultMaxBodyBytes = 8 << 20
	DefaultMaxInFlight  = 256

	// smallBody bounds requests that carry no result.
	smallBody = 32 << 10
	// defaultTimeout is the wait for the store where the caller says nothing.
	defaultTimeout = time.Second
	// operatorTimeout bounds an operator's request.
	operatorTimeout = 10 * time.Second
)

// Prefixes of the paths that [API.Consumers] and [API.Operators] serve; the latter
// serves api.PathReport too.
const (
	ConsumerPrefix = "/v1/keys/"
	OperatorPrefix = "/v1/records/"
)

// OpenAPI is the description of the API, OpenAPI 3.1 in YAML.
//
//go:embed openapi.yaml
var OpenAPI []byte

// Server is what the API needs of the bridge's server: [server.Server], whose methods
// say what each does and which errors it returns.
type Server interface {
	Execute(ctx context.Context, batch *wire.Batch) []wire.Result
	Name(server.Subject) (store.Name, error)
	Get(ctx context.Context, name store.Name, withResult bool) (store.Record, *wire.Response, error)
	Overdue(ctx context.Context, cursor string, limit int) ([]store.Entry, string, error)
	Resolve(ctx context.Context, r store.Resolution, response *wire.Response) (store.Verdict, error)
	Audit(ctx context.Context, name store.Name) ([][]byte, error)
	Locate(ctx context.Context, s server.Subject) (store.Name, error)
	Erase(ctx context.Context, e store.Erasure) (store.Erased, error)
	Report(ctx context.Context, from time.Time) (time.Time, []store.Tally, error)
	FindCaller(ctx context.Context, namespace, principal, cursor string, rate int) (store.Page, error)
}

var _ Server = (*server.Server)(nil)

// Place is where a consumer's keys may be.
type Place struct {
	Namespace string
	Scope     string // "*": every scope of the namespace
}

// Caller is somebody with a secret. Two may have the same ID.
type Caller struct {
	ID       string
	Operator bool    // else a consumer
	Allow    []Place // consumers only
	Secret   []byte
}

// Config is what an [API] is made of. Zero numbers take the defaults above.
type Config struct {
	Server Server // required
	// Why says why an overdue record has no final word; nil: nobody knows.
	Why          func(name store.Name, r *store.Record) string
	Callers      []Caller
	MaxBodyBytes int64         // largest complete and resolve; above: 413
	MaxInFlight  int           // consumers' requests at one time; above, or above one's share: 503
	MaxLease     time.Duration // largest extension; default server.DefaultMaxLease
	Log          *slog.Logger  // default: discard; audited decisions go here
	Registry     *prometheus.Registry
	Now          func() time.Time // dates audit entries; default time.Now
}

// API serves the two roles. It is safe for concurrent use.
type API struct {
	cfg     Config
	callers []caller
	// consuming and operating are the places of the two listeners.
	consuming, operating *places
	requests             *prometheus.CounterVec
	// consumers and operators are nil where nobody has the role.
	consumers, operators http.Handler
}

// caller is a Caller with its secret as a digest.
type caller struct {
	Caller
	digest [sha256.Size]byte
}

// New returns the API. It starts nothing.
func New(cfg Config) (*API, error) {
	if cfg.Server == nil {
		return nil, errors.New("admin: a server is required")
	}
	if cfg.MaxBodyBytes == 0 {
		cfg.MaxBodyBytes = DefaultMaxBodyBytes
	}
	if cfg.MaxInFlight == 0 {
		cfg.MaxInFlight = DefaultMaxInFlight
	}
	if cfg.MaxLease == 0 {
		cfg.MaxLease = server.DefaultMaxLease
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Registry == nil {
		cfg.Registry = prometheus.NewRegistry()
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	a := &API{cfg: cfg, operating: newPlaces(operatorPlaces, operatorPlaces)}
	a.requests = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "oncewall_bridge_api_requests_total", Help: "Requests to the JSON API by operation and status.",
	}, []string{"operation", "status"})
	cfg.Registry.MustRegister(a.requests)
	consumers := make(map[string]bool)
	for i, c := range cfg.Callers {
		if c.ID == "" || len(c.Secret) == 0 {
			return nil, fmt.Errorf("admin: caller %d: an id and a secret are required", i)
		}
		a.callers = append(a.callers, caller{c, sha256.Sum256(c.Secret)})
		if c.Operator {
			a.operators = a.operatorRoutes()
		} else {
			a.consumers = a.consumerRoutes()
			consumers[c.ID] = true
		}
	}
	a.consuming = newPlaces(cfg.MaxInFlight, share(cfg.MaxInFlight, len(consumers)))
	return a, nil
}

// Consumers serves the paths below ConsumerPrefix, for the data listener. It is
// nil where no caller is a consumer.
func (a *API) Consumers() http.Handler { return a.consumers }

// Operators serves the paths below OperatorPrefix, for the admin listener. It is
// nil where no caller is an operator.
func (a *API) Operators() http.Handler { return a.operators }
