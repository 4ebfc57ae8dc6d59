package client

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/oncewall/oncewall/client/api"
)

// Recovery says what may happen to a claim whose lease has ended without news.
type Recovery string

// See docs/protocol.md, "Recovery". Reacquire needs an effect that checks fences.
const (
	Hold      Recovery = "hold"
	Probe     Recovery = "probe"
	Reacquire Recovery = "reacquire"
)

// Policy says how keys are treated.
type Policy struct {
	TTL         time.Duration // life of a result; required
	Tombstone   time.Duration // how long the key stays known after that
	Lease       time.Duration // how long a claim is trusted without news; required
	MaxAttempts int           // grants of a key before it is held; default 3
	Recovery    Recovery      // required: it is a business decision
	Issued      bool          // keys must have been issued by the bridge
	Replicas    int           // replicas that must hold what an answer says; default 0
	Generation  string        // version of the caller's rule
}

// Defaults of [Config].
const (
	DefaultTimeout = 2 * time.Second
	DefaultPause   = 100 * time.Millisecond
	maxPause       = 2 * time.Second
)

// Config says where the bridge is and whose keys these are.
type Config struct {
	URL    string // the bridge's data listener: http://host:port
	Secret string // one of secrets.api with role consumer

	Namespace, Scope string
	// Principal is whose keys these are: the name of this kind of consumer, not of
	// one process.
	Principal string
	Policy    Policy

	// Timeout bounds one attempt of one request; default 2s. Lease must be at least
	// three times as long: a claim is renewed every third of it.
	Timeout time.Duration
	// Pause is the pause before the first repetition of a request, doubled up to 2s;
	// default 100ms.
	Pause time.Duration
	// HTTP sends requests; default a client of its own.
	HTTP *http.Client
}

// Client claims and completes keys. It is safe for concurrent use.
type Client struct {
	cfg    Config
	policy api.Policy
	via    transport
}

// New returns a client. It reports every fault of the configuration and sends
// nothing.
func New(cfg Config) (*Client, error) {
	if cfg.Timeout == 0 {
		cfg.Timeout = DefaultTimeout
	}
	if cfg.Pause == 0 {
		cfg.Pause = DefaultPause
	}
	var faults []error
	fault := func(wrong bool, format string, args ...any) {
		if wrong {
			faults = append(faults, fmt.Errorf("client: "+format, args...))
		}
	}
	u, err := url.Parse(cfg.URL)
	fault(err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "", "url: must be http://host:port or https://host:port")
	fault(cfg.Secret == "", "secret: required")
	fault(cfg.Namespace == "" || cfg.Scope == "" || cfg.Principal == "", "namespace, scope and principal: required")
	p := cfg.Policy
	fault(p.TTL < time.Millisecond, "policy.ttl %s: must be at least 1ms", p.TTL)
	fault(p.Recovery != Hold && p.Recovery != Probe && p.Recovery != Reacquire, "policy.recovery: must be hold, probe or reacquire")
	fault(cfg.Timeout < time.Millisecond || cfg.Timeout > time.Minute, "timeout %s: must be 1ms to 1m", cfg.Timeout)
	fault(p.Lease < 3*cfg.Timeout, "policy.lease %s: must be at least 3 x timeout (%s)", p.Lease, cfg.Timeout)
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	return &Client{
		cfg: cfg,
		policy: api.Policy{
			TTLMS: p.TTL.Milliseconds(), TombstoneTTLMS: p.Tombstone.Milliseconds(), LeaseMS: p.Lease.Milliseconds(),
			MaxAttempts: int64(p.MaxAttempts), Recovery: string(p.Recovery), Issued: p.Issued,
			Replicas: int64(p.Replicas), Generation: p.Generation,
		},
		via: newTransport(cfg.URL, cfg.Secret, cfg.Timeout, cfg.Pause, cfg.HTTP),
	}, nil
}

// Result is what repeats of a key are given.
type Result = api.Result

// Header is one line of a result.
type Header = api.Header

// Record is the state of a key.
type Record = api.Record

func (c *Client) target() api.Target {
	return api.Target{
		Namespace: c.cfg.Namespace, Scope: c.cfg.Scope, Principal: c.cfg.Principal,
		// What is left of an attempt for the way back.
		TimeoutMS: max((c.cfg.Timeout * 9 / 10).Milliseconds(), 1),
	}
}

// Issue asks for a key that the bridge makes and signs.
func (c *Client) Issue(ctx context.Context) (key string, expires time.Time, err error) {
	var out api.Outcome
	if err := c.via.call(ctx, api.PathIssue, api.Issue{Target: c.target(), Policy: c.policy}, &out); err != nil {
		return "", time.Time{}, err
	}
	expires, err = time.Parse(time.RFC3339, out.ExpiresAt)
	return out.Key, expires, err
}

// Get returns the state of a key, with its result where one is kept.
func (c *Client) Get(ctx context.Context, key string) (Record, error) {
	var out api.Record
	err := c.via.call(ctx, api.PathGet, api.Get{Target: c.target(), Key: key, Issued: c.policy.Issued, WithResult: true}, &out)
	return out, err
}

// Claim asks to become the owner of key. It returns a Claim, or the result that
// the first owner recorded, or an error: a *ProblemError says why not.
// fingerprint, SHA-256 of what is asked for, tells a repeat from another request
// under the same key; nil: not compared.
func (c *Client) Claim(ctx context.Context, key string, fingerprint []byte) (*Claim, *Result, error) {
	cl := &Claim{c: c, fingerprint: fingerprint}
	cl.key = api.Key{Target: c.target(), Key: key, Policy: c.policy, Owner: make([]byte, 24)}
	rand.Read(cl.key.Owner) // never fails: it ends the program instead
	var out api.Outcome
	sent, err := c.via.timed(ctx, api.PathClaim, api.Claim{Key: cl.key, Fingerprint: fingerprint}, &out)
	if err != nil {
		var p *ProblemError
		if !errors.As(err, &p) || mayRepeat(p.Code) || p.Code == "lapsed" {
			// The claim may have been granted, and nothing runs under it. If the release
			// is lost too, the lease ends it.
			cl.giveBack(ctx)
		}
		return nil, nil, err
	}
	if out.Code == "replayed" {
		return nil, out.Result, nil
	}
	cl.Fence, cl.Attempt = out.Fence, int(out.Attempt)
	cl.extend(sent, out.LeaseMS)
	return cl, nil, nil
}
