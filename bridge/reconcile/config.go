package reconcile

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/oncewall/oncewall/bridge/seal"
	"github.com/oncewall/oncewall/bridge/store"
)

// Defaults of [Config], [Probe] and [Compensation].
const (
	DefaultInterval    = 2 * time.Second
	DefaultStuckAfter  = time.Hour
	DefaultTimeout     = 5 * time.Second
	DefaultAfter       = time.Second
	DefaultConcurrency = 4
	DefaultRate        = 20
	DefaultRetry       = time.Second
	DefaultRetryMax    = 5 * time.Minute
	DefaultMaxAnswer   = 512 << 10
)

// Config is what a [Reconciler] is made of. Zero durations and numbers take the
// defaults above.
type Config struct {
	Store store.Recoverer // required
	// Sealer opens identities and seals results; required where there are scopes.
	// WriteUnsealed stores results in clear all the same.
	Sealer        *seal.Sealer
	WriteUnsealed bool
	// Scopes are those that have a backend to ask.
	Scopes []Scope
	// Interval is the pause between two looks at the overdue records.
	Interval time.Duration
	// StuckAfter is how long a record may be overdue before somebody is told.
	StuckAfter time.Duration

	Transport http.RoundTripper    // default: one of its own, without proxy
	Log       *slog.Logger         // default: discard
	Registry  *prometheus.Registry // default: a new one
}

// Scope says how the backend of one scope is asked.
type Scope struct {
	Namespace string // "": of any namespace
	Scope     string
	Probe     Probe
	// Compensation, where it is set, is called before a key is freed.
	Compensation *Compensation
}

// Probe says how a backend is asked what became of a request.
type Probe struct {
	Request
	// After is how long after the end of the lease it is first asked.
	After time.Duration
	// Concurrency and Rate (a second) bound the questions to this scope's backend
	// that this bridge asks.
	Concurrency int
	Rate        int
	// Retry is the pause before the second question about one record; it doubles
	// up to RetryMax.
	Retry    time.Duration
	RetryMax time.Duration
	// MaxAnswer bounds an answer, in bytes.
	MaxAnswer int64
	// AcceptSnapshot frees a key on a "not executed" that promises nothing for the
	// future. A request that is still on its way may then run after the retry.
	AcceptSnapshot bool
}

// Compensation is a call before a key is freed. It is made once, except that a
// call which was not answered with a 2xx, or whose bridge died, is repeated with
// the same key and fence, never before its own timeout has passed.
type Compensation struct{ Request }

// Request is an HTTP request to be made about a record.
type Request struct {
	Method  string // GET or POST; default GET for a probe, POST for a compensation
	URL     *Template
	Headers []Header
	Timeout time.Duration // for the whole exchange
}

// Header is a line of a request.
type Header struct {
	Name  string
	Value *Template
}

func (c *Config) check() error {
	if c.Store == nil {
		return errors.New("reconcile: a store is required")
	}
	if c.Sealer == nil && len(c.Scopes) > 0 {
		return errors.New("reconcile: a sealer is required: records carry keys and principals sealed")
	}
	c.Interval = cmp.Or(c.Interval, DefaultInterval)
	c.StuckAfter = cmp.Or(c.StuckAfter, DefaultStuckAfter)
	if c.Transport == nil {
		c.Transport = newTransport()
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Registry == nil {
		c.Registry = prometheus.NewRegistry()
	}
	for i := range c.Scopes {
		s := &c.Scopes[i]
		if s.Probe.URL == nil || s.Compensation != nil && s.Compensation.URL == nil {
			return fmt.Errorf("reconcile: scope %q: a URL is required", s.Scope)
		}
		p := &s.Probe
		p.Method = cmp.Or(p.Method, http.MethodGet)
		p.Timeout = cmp.Or(p.Timeout, DefaultTimeout)
		p.After = cmp.Or(p.After, DefaultAfter)
		p.Concurrency = cmp.Or(p.Concurrency, DefaultConcurrency)
		p.Rate = cmp.Or(p.Rate, DefaultRate)
		p.Retry = cmp.Or(p.Retry, DefaultRetry)
		p.RetryMax = cmp.Or(p.RetryMax, DefaultRetryMax)
		p.MaxAnswer = cmp.Or(p.MaxAnswer, DefaultMaxAnswer)
		if s.Compensation != nil {
			s.Compensation.Method = cmp.Or(s.Compensation.Method, http.MethodPost)
			s.Compensation.Timeout = cmp.Or(s.Compensation.Timeout, DefaultTimeout)
		}
	}
	return nil
}

// newTransport dials by itself: an environment's proxy has no part in what a
// backend is asked.
func newTransport() *http.Transport {
	return &http.Transport{
		MaxIdleConnsPerHost:    8,
		IdleConnTimeout:        time.Minute,
		MaxResponseHeaderBytes: 64 << 10,
		TLSHandshakeTimeout:    10 * time.Second,
		ForceAttemptHTTP2:      true,
		DisableCompression:     true,
	}
}
