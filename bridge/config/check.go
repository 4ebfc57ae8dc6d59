package config

import (
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/oncewall/oncewall/bridge/naming"
	"github.com/oncewall/oncewall/bridge/seal"
	"github.com/oncewall/oncewall/filter/wire"
)

// minBridgeSecret is the least length of the secret shared with the filter.
const minBridgeSecret = 32

// maxClockOffset bounds BRIDGE_CLOCK_OFFSET in both directions, maxDelay
// BRIDGE_DELAY.
const (
	maxClockOffset = 8760 * time.Hour
	maxDelay       = time.Minute
)

// devKnobs reads the variables of fault tests. Outside --dev their presence is a
// fault: a clock that is off must not reach production by an environment.
func (r *raw) devKnobs(env map[string]string, rep *report) {
	for _, f := range []field{
		duration("BRIDGE_CLOCK_OFFSET", &r.ClockOffset, -maxClockOffset, maxClockOffset),
		duration("BRIDGE_DELAY", &r.Delay, 0, maxDelay),
		duration("ISSUE_LIFE", &r.IssueLife, time.Second, day),
	} {
		s := env[f.path]
		switch {
		case s == "":
		case !r.Dev:
			rep.add(f.path, "%s: only with --dev", show(s))
		default:
			if err := f.read(s); err != nil {
				rep.add(f.path, "%v", err)
			}
		}
	}
}

// secretReader resolves secrets.
type secretReader struct {
	env      map[string]string
	readFile func(string) ([]byte, error)
	rep      *report
}

// get returns a secret without the line break that ends a file, or nothing where
// it is not configured or a fault was reported. Its fields are prefix+"env" and
// prefix+"file".
func (s secretReader) get(prefix string, src source) []byte {
	switch {
	case !src.set():
		return nil
	case src.env != "" && src.file != "":
		s.rep.add(prefix+"env", "env and file are both set: one of them holds the secret")
		return nil
	case src.env != "":
		if s.env[src.env] == "" {
			s.rep.add(prefix+"env", "%s: the variable is not set", show(src.env))
		}
		return []byte(s.env[src.env])
	}
	b, err := s.readFile(src.file)
	if err != nil {
		s.rep.add(prefix+"file", "%v", err)
		return nil
	}
	b = []byte(strings.TrimRight(string(b), "\r\n"))
	if len(b) == 0 {
		s.rep.add(prefix+"file", "%s: the file is empty", show(src.file))
	}
	return b
}

// check looks at what no single field shows, and resolves secrets.
func (r *raw) check(set map[string]bool, env map[string]string, readFile func(string) ([]byte, error), rep *report) {
	secrets := secretReader{env, readFile, rep}
	r.checkListeners(rep)
	r.checkStore(set, secrets, rep)
	r.checkBridgeSecret(secrets, rep)
	r.checkNaming(set, secrets, rep)
	r.checkSealing(set, secrets, rep)
	r.checkAPI(set, secrets, rep)
	r.checkQuotas(rep)
	r.checkRecovery(set, secrets, rep)
	r.checkTracing(set, secrets, rep)
}

func (r *raw) checkListeners(rep *report) {
	if r.Dev {
		for _, l := range []struct{ path, addr string }{{"listen", r.Listen}, {"admin_listen", r.AdminListen}} {
			if !isLoopback(l.addr) {
				rep.add(l.path, "%s: must be a loopback address with --dev", show(l.addr))
			}
		}
	}
	if (r.TLS.CertFile == "") != (r.TLS.KeyFile == "") {
		rep.add("tls", "cert_file and key_file go together")
	}
	if r.TLS.ClientCAFile != "" && r.TLS.CertFile == "" {
		rep.add("tls.client_ca_file", "needs cert_file and key_file")
	}
}

func (r *raw) checkStore(set map[string]bool, secrets secretReader, rep *report) {
	configured := false
	for path := range set {
		configured = configured || strings.HasPrefix(path, "store.redis.")
	}
	if !configured {
		if !r.Dev {
			rep.add("store", "not configured: set store.redis, or try the embedded store with --dev")
		}
		return
	}
	r.Redis = &r.redis
	if len(r.redis.Addresses) == 0 && !set["store.redis.addresses"] {
		rep.add("store.redis.addresses", "required: 1 to %d host:port", maxAddresses)
	}
	if n := len(r.redis.Addresses); r.redis.Mode == Single && n > 1 {
		rep.add("store.redis.addresses", "%d addresses: must be 1 with mode single", n)
	}
	named := r.redis.SentinelMaster != ""
	if r.redis.Mode == Sentinel && !named {
		rep.add("store.redis.sentinel_master", "required with mode sentinel")
	}
	if named && r.redis.Mode != Sentinel && r.redis.Mode != Auto {
		rep.add("store.redis.sentinel_master", "%s: only with mode sentinel or auto", show(r.redis.SentinelMaster))
	}
	r.redis.SentinelPassword = string(secrets.get("store.redis.sentinel_password_", r.sentinelPassword))
	r.redis.Password = string(secrets.get("store.redis.password_", r.password))
	if r.redis.Username != "" && !r.password.set() {
		rep.add("store.redis.username", "needs password_env or password_file")
	}
	r.checkVia(secrets.env["REDIS_VIA"], rep)
	t := r.redis.TLS
	if !t.Enabled && t != (RedisTLS{}) {
		rep.add("store.redis.tls.enabled", "must be true where any other field of tls is set")
	}
	if (t.CertFile == "") != (t.KeyFile == "") {
		rep.add("store.redis.tls", "cert_file and key_file go together")
	}
}

// checkVia reads REDIS_VIA: one address for each of store.redis.addresses, in
// their order, to dial instead of it.
func (r *raw) checkVia(s string, rep *report) {
	switch {
	case s == "":
		return
	case !r.Dev:
		rep.add("REDIS_VIA", "%s: only with --dev", show(s))
		return
	}
	via := strings.Split(s, ",")
	if len(via) != len(r.redis.Addresses) {
		rep.add("REDIS_VIA", "%d addresses: must be as many as store.redis.addresses, %d", len(via), len(r.redis.Addresses))
		return
	}
	r.redis.Via = map[string]string{}
	for i, addr := range via {
		if !validAddress(addr) {
			rep.add("REDIS_VIA", "%s: must be host:port", show(addr))
		}
		r.redis.Via[r.redis.Addresses[i]] = addr
	}
}

func (r *raw) checkBridgeSecret(secrets secretReader, rep *report) {
	paths := [2]string{"secrets.bridge", "secrets.bridge_previous"}
	for i, src := range r.bridge {
		secret := secrets.get(paths[i]+".", src)
		switch {
		case len(secret) == 0:
			continue
		case len(secret) < minBridgeSecret:
			rep.add(paths[i], "%d bytes: must be at least %d", len(secret), minBridgeSecret)
		case slices.ContainsFunc(secret, func(c byte) bool { return c <= ' ' || c > '~' }):
			rep.add(paths[i], "must be visible ASCII: it travels in a header")
		default:
			r.Secrets = append(r.Secrets, secret)
		}
	}
	if r.bridge[1].set() && !r.bridge[0].set() {
		rep.add("secrets.bridge_previous", "needs secrets.bridge")
	}
	if !r.bridge[0].set() && r.TLS.ClientCAFile == "" {
		rep.add("secrets.bridge", "required, unless tls.client_ca_file is set: whoever reaches the data listener could read and write results")
	}
}

func (r *raw) checkNaming(set map[string]bool, secrets secretReader, rep *report) {
	before := len(rep.faults)
	found := checkSecretList("secrets.naming", r.naming[:], set, secrets, rep)
	for i, n := range found {
		r.Naming = append(r.Naming, naming.Secret{ID: n.id, Bytes: n.secret})
		if i == 0 {
			r.Naming[0].IssueFrom, r.Naming[0].NameFrom = r.issueFrom, r.nameFrom
		}
	}
	if set["secrets.naming[0].issue_from"] && !r.naming[1].set() {
		rep.add("secrets.naming[0].issue_from", "needs secrets.naming[1]: keys are issued under it until then")
	}
	if set["secrets.naming[0].name_from"] && !r.naming[1].set() {
		rep.add("secrets.naming[0].name_from", "needs secrets.naming[1]: records are named under it until then")
	}
	if len(found) > 0 {
		if len(rep.faults) == before {
			if _, err := naming.NewRing(r.Naming...); err != nil {
				rep.add("secrets.naming", "%v", err)
			}
		}
		return
	}
	if len(rep.faults) > before {
		return
	}
	if r.Dev && r.Redis == nil {
		// The embedded store dies with the process, and so may its names.
		secret := make([]byte, naming.MinSecretBytes)
		rand.Read(secret)
		r.Naming = []naming.Secret{{ID: "dev", Bytes: secret}}
		return
	}
	rep.add("secrets.naming", "required: records are named under it")
}

func (r *raw) checkSealing(set map[string]bool, secrets secretReader, rep *report) {
	before := len(rep.faults)
	for _, n := range checkSecretList("secrets.sealing", r.sealing[:], set, secrets, rep) {
		r.Sealing = append(r.Sealing, seal.Secret{ID: n.id, Bytes: n.secret})
	}
	if len(rep.faults) > before {
		return
	}
	if len(r.Sealing) == 0 {
		if r.Unsealed != ReadUnsealed {
			rep.add("secrets.unsealed", "%s: needs secrets.sealing", show(string(r.Unsealed)))
		}
		return
	}
	if _, err := seal.New(r.Sealing...); err != nil {
		rep.add("secrets.sealing", "%v", err)
	}
	// Filters hold the bridge's secret, and none of them is to open a result.
	others := slices.Clone(r.Secrets)
	for _, n := range r.Naming {
		others = append(others, n.Bytes)
	}
	for _, s := range r.Sealing {
		if slices.ContainsFunc(others, func(b []byte) bool { return string(b) == string(s.Bytes) }) {
			rep.add("secrets.sealing", "secret %q serves another purpose too: each needs its own", s.ID)
		}
	}
}

func (r *raw) checkQuotas(rep *report) {
	for i, q := range r.quotas {
		at := fmt.Sprintf("limits.namespaces[%d]", i)
		if q == (Quota{}) {
			continue
		}
		if i > 0 && r.quotas[i-1] == (Quota{}) {
			rep.add(at, "needs limits.namespaces[%d]", i-1)
		}
		if n := len(q.Namespace); n < 1 || n > wire.MaxScopeBytes {
			rep.add(at+".name", "%d bytes: must be 1 to %d", n, wire.MaxScopeBytes)
		}
		if q == (Quota{Namespace: q.Namespace}) {
			rep.add(at, "bounds nothing: set new_keys_per_second, result_bytes_per_second or max_result")
		}
		if slices.ContainsFunc(r.Quotas, func(o Quota) bool { return o.Namespace == q.Namespace }) {
			rep.add(at+".name", "%s: used twice", show(q.Namespace))
		}
		r.Quotas = append(r.Quotas, q)
	}
}

// idSecret is a resolved secret of a list.
type idSecret struct {
	id     string
	secret []byte
}

// checkSecretList resolves a list of secrets. It leaves out those that have a
// fault of their own.
func checkSecretList(path string, list []named, set map[string]bool, secrets secretReader, rep *report) []idSecret {
	var found []idSecret
	gap := -1
	for i, n := range list {
		at := fmt.Sprintf("%s[%d]", path, i)
		if !set[at+".id"] && !n.source.set() {
			if gap < 0 {
				gap = i
			}
			continue
		}
		if gap >= 0 {
			rep.add(at, "needs %s[%d]", path, gap)
			gap = -1
		}
		if n.id == "" {
			rep.add(at+".id", "required")
		}
		if !n.source.set() {
			rep.add(at, "env or file required")
		}
		if secret := secrets.get(at+".", n.source); len(secret) > 0 {
			found = append(found, idSecret{n.id, secret})
		}
	}
	return found
}

// warn remarks on variables that look like fields and are none, and on a secret
// that crosses a network in clear.
func (r *raw) warn(env map[string]string, table []field) {
	known := map[string]bool{}
	for _, f := range table {
		known[envName(f.path)] = true
	}
	for _, src := range []source{r.bridge[0], r.bridge[1], r.password, r.sentinelPassword} {
		known[src.env] = true
	}
	for _, n := range slices.Concat(r.naming[:], r.sealing[:]) {
		known[n.env] = true
	}
	for i := range r.api {
		known[r.api[i].env] = true
	}
	for i := range r.recovery {
		known[r.recovery[i].probe.secret.env], known[r.recovery[i].compensate.secret.env] = true, true
	}
	for i := range r.tracingHeaders {
		known[r.tracingHeaders[i].env] = true
	}
	var unknown []string
	for name := range env {
		if strings.HasPrefix(name, EnvPrefix) && !known[name] {
			unknown = append(unknown, name)
		}
	}
	slices.Sort(unknown)
	for _, name := range unknown {
		r.Warnings = append(r.Warnings, name+": overrides no field")
	}
	if r.TLS.CertFile == "" && !isLoopback(r.Listen) {
		r.Warnings = append(r.Warnings, "listen: not a loopback address and no tls: secret and results cross the network in clear")
	}
	if r.Redis != nil && len(r.Sealing) == 0 {
		r.Warnings = append(r.Warnings, "secrets.sealing: not set: who reads Redis reads recorded responses")
	}
}
