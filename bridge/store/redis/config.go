package redis

import (
	"crypto/tls"
	"errors"
	"fmt"
	"time"
)

// Mode is the kind of Redis that is behind the addresses.
type Mode uint8

// The modes. Auto is Sentinel where SentinelMaster is set, otherwise what the
// first server that answers says it is.
const (
	Auto Mode = iota
	Single
	Sentinel
	Cluster
)

// ParseMode reads a mode's name in a configuration; "" is auto.
func ParseMode(s string) (Mode, error) {
	switch s {
	case "", "auto":
		return Auto, nil
	case "single":
		return Single, nil
	case "sentinel":
		return Sentinel, nil
	case "cluster":
		return Cluster, nil
	}
	return Auto, fmt.Errorf("mode: %q is not auto, single, sentinel or cluster", s)
}

// Defaults of [Config].
const (
	DefaultDialTimeout  = time.Second
	DefaultReadTimeout  = 3 * time.Second
	DefaultClockSkew    = 500 * time.Millisecond
	DefaultClaimTimeout = 250 * time.Millisecond
)

// minMarker is the shortest life of a RELEASED marker. The marker must outlive
// every claim of the same owner that is still on its way.
const minMarker = time.Minute

// Config says where Redis is and how it is spoken to.
type Config struct {
	// Addresses are host:port: of the server, of the sentinels, or of some nodes
	// of the cluster. At least one.
	Addresses []string
	Mode      Mode
	// SentinelMaster is the name of the master that the sentinels watch.
	SentinelMaster   string
	SentinelUsername string
	SentinelPassword string
	Username         string
	Password         string
	// TLS is nil for plain TCP. It is used for sentinels too.
	TLS *tls.Config
	// DialTimeout bounds one connection attempt; default 1s.
	DialTimeout time.Duration
	// ReadTimeout is how long a connection may owe an answer before it is given
	// up and dialled again; default 3s. Operations end at their own deadline,
	// which is much sooner.
	ReadTimeout time.Duration
	// ClockSkew bounds how far the clocks of the nodes may differ; default 500ms.
	// A claim further in the future than this restarts its lease: its node's
	// clock was set back, or a node with another clock took over.
	ClockSkew time.Duration
	// ClaimTimeout is the longest budget of a claim; default 250ms. The marker
	// that a release leaves lives for 4 times this, at least a minute.
	ClaimTimeout time.Duration
	// Via replaces addresses when they are dialled: node address to the address
	// that is dialled instead. For proxies and fault tests.
	Via map[string]string
}

// check fills in defaults and reports every fault.
func (c *Config) check() error {
	var faults []error
	if len(c.Addresses) == 0 {
		faults = append(faults, errors.New("redis: addresses: none, want at least 1"))
	}
	if c.Mode == Sentinel && c.SentinelMaster == "" {
		faults = append(faults, errors.New("redis: sentinel_master: empty, want a name in mode sentinel"))
	}
	if c.SentinelMaster != "" && c.Mode != Sentinel && c.Mode != Auto {
		faults = append(faults, errors.New("redis: sentinel_master: set, want mode sentinel or auto"))
	}
	if c.Mode == Single && len(c.Addresses) > 1 {
		faults = append(faults, fmt.Errorf("redis: addresses: %d, want 1 in mode single", len(c.Addresses)))
	}
	bound := func(name string, v *time.Duration, def, lo, hi time.Duration) {
		if *v == 0 {
			*v = def
		}
		if *v < lo || *v > hi {
			faults = append(faults, fmt.Errorf("redis: %s: %v, want %v to %v", name, *v, lo, hi))
		}
	}
	bound("dial_timeout", &c.DialTimeout, DefaultDialTimeout, 10*time.Millisecond, time.Minute)
	bound("read_timeout", &c.ReadTimeout, DefaultReadTimeout, 100*time.Millisecond, time.Minute)
	bound("clock_skew", &c.ClockSkew, DefaultClockSkew, time.Millisecond, time.Minute)
	bound("claim_timeout", &c.ClaimTimeout, DefaultClaimTimeout, 10*time.Millisecond, time.Minute)
	return errors.Join(faults...)
}

func (c *Config) marker() time.Duration { return max(minMarker, 4*c.ClaimTimeout) }
