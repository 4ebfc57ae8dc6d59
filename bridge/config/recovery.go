package config

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/oncewall/oncewall/bridge/reconcile"
	"github.com/oncewall/oncewall/filter/wire"
)

// Bounds of the recovery's lists.
const (
	maxRecoveryScopes = 16
	maxRequestHeaders = 16
)

// Recovery says what is done about records whose lease is over.
type Recovery struct {
	Interval   time.Duration
	StuckAfter time.Duration
	// Scopes are those that have a backend to ask.
	Scopes []reconcile.Scope
}

// What a probe's "not executed" is worth where it promises nothing.
type notExecuted string

const (
	holdNotExecuted   notExecuted = "hold"
	acceptNotExecuted notExecuted = "accept"
)

// recoveryScope is a scope as it is read.
type recoveryScope struct {
	namespace, scope  string
	probe, compensate outgoing
	after             time.Duration
	concurrency, rate int
	retry, retryMax   time.Duration
	maxAnswer         int64
	notExecuted       notExecuted
}

// outgoing is a request to a backend as it is read.
type outgoing struct {
	url, method string
	headers     []string
	auth        string // name of the header that carries the secret
	secret      source
	timeout     time.Duration
}

func newRecoveryScope() recoveryScope {
	return recoveryScope{
		probe:      outgoing{method: http.MethodGet, auth: "authorization", timeout: reconcile.DefaultTimeout},
		compensate: outgoing{method: http.MethodPost, auth: "authorization", timeout: reconcile.DefaultTimeout},
		after:      reconcile.DefaultAfter, concurrency: reconcile.DefaultConcurrency, rate: reconcile.DefaultRate,
		retry: reconcile.DefaultRetry, retryMax: reconcile.DefaultRetryMax, maxAnswer: reconcile.DefaultMaxAnswer,
		notExecuted: holdNotExecuted,
	}
}

func recoveryFields(r *Recovery, list []recoveryScope) []field {
	t := []field{
		duration("recovery.interval", &r.Interval, 50*time.Millisecond, time.Minute),
		duration("recovery.stuck_after", &r.StuckAfter, time.Second, 30*day),
	}
	for i := range list {
		at, s := fmt.Sprintf("recovery.scopes[%d]", i), &list[i]
		t = append(t, text(at+".namespace", &s.namespace), text(at+".scope", &s.scope))
		t = append(t, requestFields(at+".probe", &s.probe)...)
		t = append(t,
			duration(at+".probe.after", &s.after, time.Millisecond, day),
			integer(at+".probe.concurrency", &s.concurrency, 1, 256),
			integer(at+".probe.rate", &s.rate, 1, 10_000),
			duration(at+".probe.retry", &s.retry, 50*time.Millisecond, time.Hour),
			duration(at+".probe.retry_max", &s.retryMax, 50*time.Millisecond, day),
			bytes(at+".probe.max_answer", &s.maxAnswer, 1<<10, 16<<20),
			choice(at+".probe.not_executed", &s.notExecuted, holdNotExecuted, acceptNotExecuted))
		t = append(t, requestFields(at+".compensate", &s.compensate)...)
	}
	return t
}

func requestFields(at string, q *outgoing) []field {
	return []field{
		text(at+".url", &q.url),
		choice(at+".method", &q.method, http.MethodGet, http.MethodPost),
		headerLines(at+".headers", &q.headers),
		text(at+".auth.header", &q.auth),
		text(at+".auth.env", &q.secret.env),
		text(at+".auth.file", &q.secret.file),
		duration(at+".timeout", &q.timeout, 10*time.Millisecond, 5*time.Minute),
	}
}

func headerLines(path string, dst *[]string) field {
	return field{path: path, list: true, read: func(v any) error {
		items, ok := v.([]any)
		if !ok || len(items) == 0 || len(items) > maxRequestHeaders {
			return fmt.Errorf("%s: must be a list of 1 to %d \"name: value\"", show(v), maxRequestHeaders)
		}
		list := make([]string, 0, len(items))
		for _, item := range items {
			s, _ := item.(string)
			name, value, ok := strings.Cut(s, ":")
			if !ok || !validFieldName(name) || !validFieldValue(strings.TrimSpace(value)) {
				return fmt.Errorf("%s: must be \"name: value\"", show(item))
			}
			list = append(list, s)
		}
		*dst = list
		return nil
	}}
}

func (r *raw) checkRecovery(set map[string]bool, secrets secretReader, rep *report) {
	seen := map[[2]string]bool{}
	for i := range r.recovery {
		at, s := fmt.Sprintf("recovery.scopes[%d]", i), &r.recovery[i]
		if !anySet(set, at+".") {
			continue
		}
		if i > 0 && !anySet(set, fmt.Sprintf("recovery.scopes[%d].", i-1)) {
			rep.add(at, "needs recovery.scopes[%d]", i-1)
		}
		if n := len(s.scope); n < 1 || n > wire.MaxScopeBytes {
			rep.add(at+".scope", "%d bytes: must be 1 to %d", n, wire.MaxScopeBytes)
		}
		if n := len(s.namespace); n > wire.MaxScopeBytes {
			rep.add(at+".namespace", "%d bytes: must be at most %d", n, wire.MaxScopeBytes)
		}
		if key := [2]string{s.namespace, s.scope}; seen[key] {
			rep.add(at+".scope", "%s: used twice", show(s.scope))
		} else {
			seen[key] = true
		}
		if s.retry > s.retryMax {
			rep.add(at+".probe.retry", "%s: must be at most retry_max, %s", s.retry, s.retryMax)
		}
		out := reconcile.Scope{Namespace: s.namespace, Scope: s.scope, Probe: reconcile.Probe{
			Request: s.probe.check(at+".probe", secrets, rep),
			After:   s.after, Concurrency: s.concurrency, Rate: s.rate, Retry: s.retry, RetryMax: s.retryMax,
			MaxAnswer: s.maxAnswer, AcceptSnapshot: s.notExecuted == acceptNotExecuted,
		}}
		if anySet(set, at+".compensate.") {
			out.Compensation = &reconcile.Compensation{Request: s.compensate.check(at+".compensate", secrets, rep)}
		}
		r.Recovery.Scopes = append(r.Recovery.Scopes, out)
	}
	if len(r.Recovery.Scopes) > 0 && !anySet(set, "secrets.sealing[") {
		rep.add("recovery.scopes", "needs secrets.sealing: records of these scopes carry key and principal")
	}
}

func anySet(set map[string]bool, prefix string) bool {
	for path := range set {
		if strings.HasPrefix(path, prefix) {
			return true
		}
	}
	return false
}

// check reads the templates and the secret of a request.
func (q *outgoing) check(at string, secrets secretReader, rep *report) reconcile.Request {
	out := reconcile.Request{Method: q.method, Timeout: q.timeout}
	named := func(placeholder string) bool {
		return out.URL.Names(placeholder) || slices.ContainsFunc(out.Headers, func(h reconcile.Header) bool { return h.Value.Names(placeholder) })
	}
	for _, line := range q.headers {
		name, value, _ := strings.Cut(line, ":")
		t, err := reconcile.ParseTemplate(strings.TrimSpace(value))
		if err != nil {
			rep.add(at+".headers", "%s: %v", show(name), err)
			continue
		}
		out.Headers = append(out.Headers, reconcile.Header{Name: name, Value: t})
	}
	if !validFieldName(q.auth) {
		rep.add(at+".auth.header", "%s: must be the name of a header", show(q.auth))
	}
	if secret := secrets.get(at+".auth.", q.secret); len(secret) > 0 {
		if !validFieldValue(string(secret)) {
			rep.add(at+".auth", "must be printable: it travels in a header")
		}
		out.Headers = append(out.Headers, reconcile.Header{Name: q.auth, Value: reconcile.Literal(string(secret))})
	}
	if q.url == "" {
		rep.add(at+".url", "required")
		return out
	}
	var err error
	if out.URL, err = reconcile.ParseURL(q.url); err != nil {
		rep.add(at+".url", "%s: %v", show(q.url), err)
		return out
	}
	for _, placeholder := range []string{"key", "fence"} {
		if !named(placeholder) {
			rep.add(at+".url", "neither it nor a header names {%s}: the backend would not know which request is meant", placeholder)
		}
	}
	return out
}

func validFieldName(s string) bool {
	return s != "" && strings.IndexFunc(s, func(c rune) bool {
		return !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.ContainsRune("!#$%&'*+-.^_`|~", c))
	}) < 0
}

func validFieldValue(s string) bool {
	return strings.IndexFunc(s, func(c rune) bool { return c < ' ' || c > '~' }) < 0
}
