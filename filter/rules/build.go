package rules

import (
	"fmt"
	"slices"
	"time"
)

// Defaults of a rule; table.go states them in words.
const (
	defaultKeyHeader   = "idempotency-key"
	defaultMaxLength   = 255
	defaultRequestBody = 1 << 20
	defaultDecodedBody = 1 << 20
	defaultRecordBody  = 256 << 10
	defaultTTL         = 24 * time.Hour
	defaultLease       = 60 * time.Second
	defaultMaxAttempts = 3
	defaultPayload     = "payload"
)

// source is a rule's tree with the defaults block behind it.
type source struct{ rule, defaults *node }

// block returns what the rule states, else the default block. stated is false
// where neither does.
func (s source) block(name string) (n *node, stated bool) {
	if n := s.rule.get(name); n != nil {
		return n, true
	}
	n = s.defaults.get(name)
	return n, n != nil
}

func (p *parser) buildRule(label string, n *node) {
	p.rule = label
	p.labels = append(p.labels, label)
	s := source{n, p.top.get("defaults")}
	name := n.get("name").stringOr("")
	r := &Rule{
		Name:           name,
		Scope:          n.get("scope").stringOr(name),
		PreviousScopes: n.get("previous_scopes").strings(),
		Mode:           Mode(n.get("mode").valueOr(int64(Enforce))),
		EnforcePercent: int(n.get("enforce_percent").valueOr(0)),
	}
	p.checkPercent(r, n)
	// The rule joins the list even with faults, so that it is compared with the
	// others.
	p.cfg.Rules = append(p.cfg.Rules, r)
	p.buildMatch(r, n.get("match"))
	p.buildPrincipal(r, s)
	p.buildLookup(r, n.get("lookup"))
	p.buildKey(r, n.get("key"))
	p.buildFingerprint(r, n.get("fingerprint"))
	p.buildInFlight(r, s)
	p.buildAnswers(r, s)
	p.buildOutcomes(r, s)
	p.buildStatuses(r, s)
	p.buildRecovery(r, s)
	r.Durability.Replicas = int(n.get("durability").get("replicas").valueOr(0))
	p.checkBodies(r, n)
	r.Generation = generation(r)
}

// require reports a block that an enforcing rule must state.
func (p *parser) require(r *Rule, name string, stated bool) {
	if !stated && r.Mode != Off {
		p.add(name, nil, "must be stated by the rule or by defaults")
	}
}

// requireEnforcing is require for what only a request that is held needs.
func (p *parser) requireEnforcing(r *Rule, name string, stated bool) {
	p.require(r, name, stated || !r.Enforces())
}

// checkPercent refuses a share where nothing is shared.
func (p *parser) checkPercent(r *Rule, n *node) {
	percent, mode := n.get("enforce_percent"), n.get("mode")
	if percent.good() && r.Mode != Observe && (mode == nil || mode.good()) {
		p.add("enforce_percent", percent, `needs mode "observe": a rule in another mode enforces all of its requests, or none`)
	}
}

// buildLookup says whether the rule's keys may be asked about.
func (p *parser) buildLookup(r *Rule, n *node) {
	r.Lookup = n.boolOr(r.Principal.Names())
	if n.good() && n.boolOr(false) && p.cfg.Lookup == "" {
		p.add("lookup", n, "needs a lookup or issue block at the top: no keys can be asked about")
	}
}

func (p *parser) buildFingerprint(r *Rule, n *node) {
	headers := n.get("headers")
	r.Fingerprint = Fingerprint{
		Body:           BodyMode(n.get("body").valueOr(int64(BodyJSON))),
		MaxBody:        n.get("max_body").valueOr(min(defaultRequestBody, p.cfg.Envoy.BufferLimit)),
		Headers:        headers.strings(),
		Ignore:         slices.Sorted(slices.Values(n.get("ignore").strings())),
		Over:           Over(n.get("over").valueOr(int64(OverReject))),
		MaxDecodedBody: n.get("max_decoded_body").valueOr(defaultDecodedBody),
	}
	p.checkFingerprint(r, n)
	p.checkLimit("fingerprint.max_body", n.get("max_body"))
	if slices.Contains(r.Fingerprint.Headers, "x-request-id") {
		p.add("fingerprint.headers", nil, "must not list x-request-id: it differs between a request and its retry")
	}
}

// checkLimit compares a size with what Envoy can hold.
func (p *parser) checkLimit(at string, n *node) {
	limit := p.top.get("envoy").get("buffer_limit")
	if n.good() && (limit == nil || limit.good()) && n.value > p.cfg.Envoy.BufferLimit {
		p.add(at, n, "must be <= %s (envoy.buffer_limit)", formatSize(p.cfg.Envoy.BufferLimit))
	}
}

// checkBodies refuses rules that read a body where Envoy would not deliver it
// while the headers are held.
func (p *parser) checkBodies(r *Rule, n *node) {
	flag := p.top.get("envoy").get("allow_on_headers_stop_iteration")
	if r.Mode == Off || p.cfg.Envoy.AllowOnHeadersStopIteration || flag != nil && !flag.good() {
		return
	}
	const why = "needs envoy.allow_on_headers_stop_iteration: true (Envoy 1.35 and later): without it Envoy does not deliver the body of a request whose headers are held"
	body := n.get("fingerprint").get("body")
	if r.Fingerprint.Body != BodyNone && (body == nil || body.good()) {
		if body == nil {
			p.add("fingerprint.body", nil, `is "json" by default, which %s; state "none" to leave the body uncompared`, why)
		} else {
			p.add("fingerprint.body", body, "%s", why)
		}
	}
	for i := range r.Key.From {
		if s := &r.Key.From[i]; s.InBody() {
			at := fmt.Sprintf("key.from[%d]", i)
			switch {
			case len(s.JSON) > 0:
				at += ".json"
			case s.Form != "":
				at += ".form"
			}
			p.add(at, nil, "%s", why)
		}
	}
}

func (p *parser) buildInFlight(r *Rule, s source) {
	n, _ := s.block("in_flight")
	wait := n.get("max_wait")
	r.InFlight = InFlight{
		Action:  Action(n.get("action").valueOr(int64(Reject))),
		MaxWait: time.Duration(wait.valueOr(0)),
	}
	action := n.get("action")
	switch {
	case action != nil && action.bad:
	case r.InFlight.Action == Wait && wait == nil:
		p.add("in_flight.max_wait", nil, `is required with action "wait"`)
	}
}

func (p *parser) buildAnswers(r *Rule, s source) {
	n, _ := s.block("completed")
	r.Completed = Completed{
		Action:       Action(n.get("action").valueOr(int64(Replay))),
		TTL:          time.Duration(n.get("ttl").valueOr(int64(defaultTTL))),
		TombstoneTTL: time.Duration(n.get("tombstone_ttl").valueOr(0)),
	}
	n, _ = s.block("record")
	r.Record = Record{
		MaxBody:     n.get("max_body").valueOr(min(defaultRecordBody, p.cfg.Envoy.BufferLimit)),
		When:        When(n.get("when").valueOr(int64(BeforeReply))),
		Body:        n.get("body").valueOr(1) == 1,
		DropHeaders: n.get("drop_headers").strings(),
		KeepHeaders: p.keepHeaders(n.get("keep_headers")),
		Redact:      n.get("redact").strings(),
	}
	if redact := n.get("redact"); len(r.Record.Redact) > 0 && !r.Record.Body {
		p.add("record.redact", redact, `has nothing to do with record.body "none"`)
	}
	p.checkLimit("record.max_body", n.get("max_body"))
	n, _ = s.block("envoy_retries")
	r.EnvoyRetries = EnvoyRetries(n.valueOr(int64(RetriesOff)))
}

func (p *parser) buildRecovery(r *Rule, s source) {
	upstream, stated := s.block("upstream_timeout")
	p.requireEnforcing(r, "upstream_timeout", stated)
	r.UpstreamTimeout = time.Duration(upstream.valueOr(0))
	p.buildStreaming(r, s, upstream)

	away, stated := s.block("unavailable")
	p.requireEnforcing(r, "unavailable", stated)
	r.Unavailable = Unavailable(away.valueOr(0))

	n, stated := s.block("recovery")
	p.require(r, "recovery", stated)
	action, lease := n.get("action"), n.get("lease")
	r.Recovery = Recovery{
		Lease:       time.Duration(lease.valueOr(int64(defaultLease))),
		Action:      RecoveryAction(action.valueOr(0)),
		MaxAttempts: int(n.get("max_attempts").valueOr(defaultMaxAttempts)),
	}
	if fence := n.get("backend_checks_fence"); r.Recovery.Action == Reacquire && !fence.boolOr(false) && (fence == nil || fence.good()) {
		p.add("recovery.action", action, "needs recovery.backend_checks_fence: true: a backend that does not refuse a lower Idempotency-Fence may run the request twice")
	}
	timeout := p.top.get("bridge").get("timeout")
	if !upstream.good() && (upstream != nil || r.Enforces()) || lease != nil && lease.bad || timeout != nil && timeout.bad || n == nil {
		return
	}
	if least := 2*p.cfg.Bridge.Timeout + r.UpstreamTimeout + ClockSkew + Margin; r.Recovery.Lease < least {
		const sum = "must be >= %s (2 x bridge.timeout + upstream_timeout + clock skew + margin)"
		if lease == nil {
			p.add("recovery.lease", nil, "is %s by default; it "+sum, formatDuration(defaultLease), formatDuration(least))
		} else {
			p.add("recovery.lease", lease, sum, formatDuration(least))
		}
	}
}
