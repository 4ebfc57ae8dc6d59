package config

import (
	"fmt"
	"strings"
	"time"

	"github.com/oncewall/oncewall/bridge/naming"
	"github.com/oncewall/oncewall/bridge/reconcile"
	"github.com/oncewall/oncewall/bridge/seal"
)

// field is one leaf of the configuration.
type field struct {
	path string
	// read sets the field from a YAML scalar or sequence, or from the strings of
	// an environment variable; the error says what is wrong, without the path.
	read func(v any) error
	// list is set where the variable holds several values, split at commas.
	list bool
}

// source is where a secret is.
type source struct{ env, file string }

func (s source) set() bool { return s != source{} }

// raw is the configuration as it is read, before it is checked as a whole.
type raw struct {
	Config
	redis            Redis
	password         source
	sentinelPassword source
	bridge           [2]source // current, previous
	naming           [naming.MaxSecrets]named
	issueFrom        time.Time
	nameFrom         time.Time
	sealing          [seal.MaxSecrets]named
	quotas           [maxQuotas]Quota
	api              [MaxAPISecrets]apiSecret
	recovery         [maxRecoveryScopes]recoveryScope
	tracingHeaders   [maxTracingHeaders]named
}

// named is a secret with the id that tells it from others of its list.
type named struct {
	id string
	source
}

// lists are the paths that hold sequences of mappings, with their greatest
// length. An element's fields stand in the table with its index.
var lists = map[string]int{
	"secrets.naming":    naming.MaxSecrets,
	"secrets.sealing":   seal.MaxSecrets,
	"limits.namespaces": maxQuotas,
	"secrets.api":       MaxAPISecrets,
	"recovery.scopes":   maxRecoveryScopes,
	"tracing.headers":   maxTracingHeaders,
}

func defaults() *raw {
	r := &raw{}
	r.Listen = "127.0.0.1:8081"
	r.AdminListen = "127.0.0.1:8082"
	r.IssueLife = 15 * time.Minute
	r.ClockSkew = 500 * time.Millisecond
	r.DrainTimeout = 30 * time.Second
	r.Limits = Limits{
		MaxBatchBytes: 8 << 20,
		MaxInFlight:   1024,
		MaxWaiters:    4096,
		MaxKeyWaiters: 512,
		MaxLease:      2 * time.Hour,
		MaxTTL:        720 * time.Hour,
		MaxTombstone:  8760 * time.Hour,
	}
	r.Unsealed = ReadUnsealed
	r.redis.Mode = Auto
	r.redis.DialTimeout = time.Second
	r.observeDefaults()
	r.Recovery = Recovery{Interval: reconcile.DefaultInterval, StuckAfter: reconcile.DefaultStuckAfter}
	for i := range r.recovery {
		r.recovery[i] = newRecoveryScope()
	}
	return r
}

const (
	day  = 24 * time.Hour
	year = 365 * day
)

// table lists every field. What is not in it is an unknown field.
func (r *raw) table() []field {
	t := []field{
		address("listen", &r.Listen),
		address("admin_listen", &r.AdminListen),
		text("tls.cert_file", &r.TLS.CertFile),
		text("tls.key_file", &r.TLS.KeyFile),
		text("tls.client_ca_file", &r.TLS.ClientCAFile),

		choice("store.redis.mode", &r.redis.Mode, Auto, Single, Sentinel, Cluster),
		addresses("store.redis.addresses", &r.redis.Addresses),
		text("store.redis.sentinel_master", &r.redis.SentinelMaster),
		text("store.redis.sentinel_username", &r.redis.SentinelUsername),
		text("store.redis.sentinel_password_env", &r.sentinelPassword.env),
		text("store.redis.sentinel_password_file", &r.sentinelPassword.file),
		text("store.redis.username", &r.redis.Username),
		text("store.redis.password_env", &r.password.env),
		text("store.redis.password_file", &r.password.file),
		duration("store.redis.dial_timeout", &r.redis.DialTimeout, 10*time.Millisecond, 30*time.Second),
		boolean("store.redis.tls.enabled", &r.redis.TLS.Enabled),
		text("store.redis.tls.ca_file", &r.redis.TLS.CAFile),
		text("store.redis.tls.cert_file", &r.redis.TLS.CertFile),
		text("store.redis.tls.key_file", &r.redis.TLS.KeyFile),
		text("store.redis.tls.server_name", &r.redis.TLS.ServerName),

		text("secrets.bridge.env", &r.bridge[0].env),
		text("secrets.bridge.file", &r.bridge[0].file),
		text("secrets.bridge_previous.env", &r.bridge[1].env),
		text("secrets.bridge_previous.file", &r.bridge[1].file),

		duration("issue_life", &r.IssueLife, time.Second, day),
		duration("clock_skew", &r.ClockSkew, time.Millisecond, time.Minute),
		duration("drain_timeout", &r.DrainTimeout, 0, 10*time.Minute),
		bytes("limits.max_batch_bytes", &r.Limits.MaxBatchBytes, 256<<10, 16<<20),
		integer("limits.max_in_flight", &r.Limits.MaxInFlight, 1, 100_000),
		integer("limits.max_waiters", &r.Limits.MaxWaiters, 1, 100_000),
		integer("limits.max_waiters_per_key", &r.Limits.MaxKeyWaiters, 1, 100_000),
		duration("limits.max_lease", &r.Limits.MaxLease, time.Second, day),
		duration("limits.max_ttl", &r.Limits.MaxTTL, time.Second, year),
		duration("limits.max_tombstone_ttl", &r.Limits.MaxTombstone, 0, 10*year),
	}
	t = append(t, quotaList(r.quotas[:])...)
	t = append(t, time3339("secrets.naming[0].issue_from", &r.issueFrom), time3339("secrets.naming[0].name_from", &r.nameFrom))
	t = append(t, secretList("secrets.naming", r.naming[:])...)
	t = append(t, secretList("secrets.sealing", r.sealing[:])...)
	t = append(t, apiFields(r.api[:])...)
	t = append(t, recoveryFields(&r.Recovery, r.recovery[:])...)
	t = append(t, r.observeFields()...)
	return append(t, choice("secrets.unsealed", &r.Unsealed, ReadUnsealed, RefuseUnsealed, WriteUnsealed))
}

// maxQuotas bounds the namespaces with a quota: each has metrics of its own.
const maxQuotas = 16

func quotaList(list []Quota) []field {
	var t []field
	for i := range list {
		at, q := fmt.Sprintf("limits.namespaces[%d]", i), &list[i]
		t = append(t, text(at+".name", &q.Namespace),
			integer(at+".new_keys_per_second", &q.NewKeys, 1, 1_000_000),
			bytes(at+".result_bytes_per_second", &q.ResultBytes, 1<<10, 1<<30),
			bytes(at+".max_result", &q.MaxResult, 1<<10, 16<<20))
	}
	return t
}

// secretList returns the fields of a list of secrets.
func secretList(path string, list []named) []field {
	var t []field
	for i := range list {
		at, n := fmt.Sprintf("%s[%d]", path, i), &list[i]
		t = append(t, text(at+".id", &n.id), text(at+".env", &n.env), text(at+".file", &n.file))
	}
	return t
}

// EnvPrefix begins the variables that override fields.
const EnvPrefix = "ONCEWALL_"

// envName is the variable that overrides the field at path: listen is
// ONCEWALL_LISTEN, secrets.naming[0].id is ONCEWALL_SECRETS_NAMING_0_ID.
func envName(path string) string {
	return EnvPrefix + strings.ToUpper(strings.NewReplacer(".", "_", "[", "_", "]", "").Replace(path))
}
