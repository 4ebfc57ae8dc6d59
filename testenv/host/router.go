package host

import (
	"strconv"
	"strings"
	"time"
)

// router is Envoy's router for one request: of a client, or a callout of the
// filter, which takes the same way.
type router struct {
	h     *Host
	owner routerOwner
	route *Route
	// callout marks a filter's own request: its timeout is the call's, and it
	// needs no waiting for the client.
	callout bool

	cluster  *Cluster
	name     string
	req      *Headers // the stream's own map
	body     []byte
	reqTrail Headers
	reqEnd   bool
	endedAt  time.Duration // when the request was complete

	timeout, perTry time.Duration // 0: none
	retryOn         []string
	retries         int
	attempts        int
	x               *Exchange // the current attempt
	global, try     *timer
	backoff         *timer
	started         bool // response headers have been passed on
	over            bool
	overflowed      bool // the circuit breaker refused the last attempt

	unread int // the response is not read now
	inbox  []func()
}

// routerOwner gets the router's answers.
type routerOwner interface {
	routed(x *Exchange)
	attempted(n int)
	routerReply(r localReply, f Flags)
	routerFlags(f Flags)
	routerHeaders(h Headers, end bool)
	routerData(b []byte, end bool)
	routerTrailers(t Headers)
}

// retryBackoff is the time between two attempts: the base interval, without
// jitter.
const retryBackoff = 25 * time.Millisecond

// headers starts the request. h is the stream's own map: what the router takes
// out is gone for the access log, too. Envoy finds no route for a request whose
// x-forwarded-proto a filter has removed.
func (r *router) headers(h *Headers, end bool) {
	if !r.callout && !h.Has("x-forwarded-proto") {
		r.fail(localReply{status: 404, details: "route_not_found", grpc: -1}, FlagNoRoute)
		return
	}
	if d := r.route.DirectResponse; d != nil {
		r.fail(localReply{status: d.Status, headers: d.Headers, body: d.Body, details: "direct_response", grpc: -1}, d.Flags)
		return
	}
	r.name = r.route.Cluster
	r.cluster = r.h.o.Clusters[r.name]
	if r.cluster == nil {
		r.fail(localReply{status: 503, details: "cluster_not_found", grpc: -1}, FlagNoCluster)
		return
	}
	r.policy(h)
	r.req = h
	if end {
		r.requestEnds()
	}
	r.attempt()
}

// policy takes the timeouts and the retry policy from the route and the request,
// and removes the headers that give them.
func (r *router) policy(h *Headers) {
	r.timeout, r.perTry = max(r.route.Timeout, 0), max(r.route.PerTryTimeout, 0)
	if ms, err := strconv.Atoi(h.Get("x-envoy-upstream-rq-timeout-ms")); err == nil {
		r.timeout = time.Duration(ms) * time.Millisecond
	}
	if ms, err := strconv.Atoi(h.Get("x-envoy-upstream-rq-per-try-timeout-ms")); err == nil {
		r.perTry = time.Duration(ms) * time.Millisecond
	}
	on := r.route.RetryOn
	if v := h.Get("x-envoy-retry-on"); v != "" {
		on += "," + v
	}
	for _, w := range strings.Split(on, ",") {
		if w = strings.TrimSpace(w); w != "" {
			r.retryOn = append(r.retryOn, w)
		}
	}
	if r.retryOn != nil {
		r.retries = max(r.route.NumRetries, 1)
		if n, err := strconv.Atoi(h.Get("x-envoy-max-retries")); err == nil {
			r.retries = n
		}
	}
	for _, name := range []string{"x-envoy-upstream-rq-timeout-ms", "x-envoy-upstream-rq-per-try-timeout-ms",
		"x-envoy-retry-on", "x-envoy-retry-grpc-on", "x-envoy-max-retries", "x-envoy-hedge-on-per-try-timeout"} {
		h.Del(name)
	}
}

func (r *router) data(b []byte, end bool) {
	if r.over {
		return
	}
	r.keep(b)
	if end {
		r.requestEnds()
	}
	if x := r.x; x != nil && !x.Aborted {
		x.take(b)
		r.arrive(x)
	}
}

func (r *router) trailers(t Headers) {
	if r.over {
		return
	}
	r.reqTrail = t.Clone()
	r.requestEnds()
	if x := r.x; x != nil && !x.Aborted {
		if x.c.HTTP2 && !r.callout {
			x.Trailers = r.reqTrail
		}
		r.arrive(x)
	}
}

// requestEnds starts the route timeout: it runs from the end of the request.
func (r *router) requestEnds() {
	r.reqEnd = true
	r.endedAt = r.h.now
	if r.timeout > 0 && !r.over {
		r.global = r.h.setTimer(r.timeout, func() { r.timedOut("response_timeout", 0) })
	}
}

// attempt sends the request to the cluster, once more perhaps.
func (r *router) attempt() {
	r.attempts++
	r.overflowed = false
	r.owner.attempted(r.attempts)
	c := r.cluster
	if c.NoHosts {
		r.fail(localReply{status: 503, body: "no healthy upstream", details: "no_healthy_upstream", grpc: -1}, FlagNoHealthyUpstream)
		return
	}
	// These stay in the stream's own map: the access log sees them.
	if left := r.left(); left > 0 {
		r.req.put("x-envoy-expected-rq-timeout-ms", strconv.FormatInt(left.Milliseconds(), 10))
	}
	if r.route.AttemptCount && !r.callout {
		r.req.put("x-envoy-attempt-count", strconv.Itoa(r.attempts))
	}
	h := r.req.Clone()
	x := &Exchange{Cluster: r.name, Callout: r.callout, Attempt: r.attempts, Headers: h, h: r.h, c: c, sink: r}
	r.x = x
	c.active++
	if c.active > orDefault(c.MaxRequests, 1024) {
		x.leave(true)
		r.overflowed = true
		r.upstreamReset(x, overflow)
		return
	}
	if c.Refuse {
		r.h.event(func() {
			if !x.Aborted {
				x.over = true
				x.leave(true)
				r.upstreamReset(x, ConnectFailure)
			}
		})
		return
	}
	r.h.inFlight = append(r.h.inFlight, x)
	r.owner.routed(x)
	if c.Live != nil {
		x.open = true
		c.Live.Open(x)
	}
	x.take(r.body)
	if x.c.HTTP2 && !r.callout {
		x.Trailers = r.reqTrail
	}
	if r.perTry > 0 {
		r.try = r.h.setTimer(r.perTry, func() { r.tryTimedOut() })
	}
	if c.HandleHeaders != nil && c.Live == nil {
		r.h.event(func() {
			if !x.Aborted {
				c.HandleHeaders(x)
			}
		})
	}
	r.arrive(x)
}

// left is what the global timeout leaves for an attempt, bounded by that of one
// try.
func (r *router) left() time.Duration {
	left := r.timeout
	if left > 0 && r.reqEnd {
		left -= r.h.now - r.endedAt
	}
	if r.perTry > 0 && (left == 0 || r.perTry < left) {
		left = r.perTry
	}
	return left
}

// arrive tells the cluster of a request that is complete.
func (r *router) arrive(x *Exchange) {
	if !r.reqEnd || x.Ended {
		return
	}
	x.Ended = true
	if x.open {
		x.c.Live.End(x)
		return
	}
	if f := x.c.Handle; f != nil {
		r.h.event(func() {
			if !x.Aborted {
				f(x)
			}
		})
	}
}

// read runs what the upstream sent, or keeps it while nothing is read.
func (r *router) read(x *Exchange, f func()) {
	switch {
	case r.over || x != r.x:
	case r.unread > 0 || len(r.inbox) > 0:
		r.inbox = append(r.inbox, f)
	default:
		f()
	}
}

func (r *router) readInbox() {
	for len(r.inbox) > 0 && r.unread == 0 && !r.over {
		f := r.inbox[0]
		r.inbox = r.inbox[1:]
		f()
	}
}

func (r *router) upstreamHeaders(x *Exchange, h Headers, end bool) {
	h.Del("keep-alive")
	r.read(x, func() {
		r.h.stopTimer(r.try)
		status, _ := strconv.Atoi(h.Get(":status"))
		if r.wantsRetry(retriesStatus(status)) {
			if r.retry() {
				return
			}
			r.owner.routerFlags(FlagRetryLimitExceeded)
		}
		r.started = true
		if end {
			r.finish()
		}
		if r.reqEnd {
			h.put("x-envoy-upstream-service-time", strconv.FormatInt((r.h.now-r.endedAt).Milliseconds(), 10))
		}
		if !r.callout {
			for _, p := range r.route.ResponseHeadersToAdd {
				h.Add(p[0], p[1])
			}
		}
		r.owner.routerHeaders(h, end)
	})
}

func (r *router) upstreamData(x *Exchange, b []byte, end bool) {
	r.read(x, func() {
		if end {
			r.finish()
		}
		r.owner.routerData(b, end)
	})
}

func (r *router) upstreamTrailers(x *Exchange, t Headers) {
	r.read(x, func() {
		r.finish()
		r.owner.routerTrailers(t)
	})
}

func (r *router) upstreamReset(x *Exchange, reason ResetReason) {
	if r.over || x != r.x {
		return
	}
	kind := resetKinds[reason]
	flags := kind.flag
	if !r.started && r.wantsRetry(func(on string) bool {
		switch on {
		case "5xx", "gateway-error", "reset":
			return reason != overflow
		case "connect-failure":
			return reason == ConnectFailure
		case "refused-stream":
			return reason == RemoteRefused
		case "reset-before-request":
			return reason == ConnectFailure
		}
		return false
	}) {
		if r.retry() {
			return
		}
		flags |= FlagRetryLimitExceeded
	}
	text := "upstream connect error or disconnect/reset before headers. "
	if r.attempts > 1 {
		text += "retried and the latest reset reason: " + kind.words
	} else {
		text += "reset reason: " + kind.words
	}
	details := "upstream_reset_before_response_started{" + kind.detail + "}"
	if r.started {
		details = "upstream_reset_after_response_started{" + kind.detail + "}"
	}
	reply := localReply{status: 503, body: text, details: details, grpc: -1}
	if reason == ProtocolError {
		reply.status = 502
	}
	if reason == overflow {
		reply.headers = H("x-envoy-overloaded", "true")
	}
	r.fail(reply, flags)
}

// retriesStatus says which retry_on words cover a response.
func retriesStatus(status int) func(string) bool {
	return func(on string) bool {
		switch on {
		case "5xx":
			return status >= 500 && status < 600
		case "gateway-error":
			return status >= 502 && status <= 504
		case "retriable-4xx":
			return status == 409
		}
		return false
	}
}

func (r *router) wantsRetry(covers func(on string) bool) bool {
	for _, on := range r.retryOn {
		if covers(on) {
			return true
		}
	}
	return false
}

// retry starts another attempt after the backoff; false where none is left.
func (r *router) retry() bool {
	if r.retries <= 0 || !r.reqEnd {
		return false
	}
	r.retries--
	r.dropAttempt()
	r.backoff = r.h.setTimer(retryBackoff, func() {
		if !r.over {
			r.attempt()
		}
	})
	return true
}

func (r *router) dropAttempt() {
	r.h.stopTimer(r.try)
	if r.x != nil {
		r.x.abort()
		r.x = nil
	}
	r.inbox = nil
}

func (r *router) tryTimedOut() {
	if r.over {
		return
	}
	var f Flags
	if r.wantsRetry(func(on string) bool { return on == "5xx" || on == "gateway-error" || on == "reset" }) {
		if r.retry() {
			return
		}
		f = FlagRetryLimitExceeded
	}
	r.timedOut("upstream_per_try_timeout", f)
}

func (r *router) timedOut(details string, f Flags) {
	r.fail(localReply{status: 504, body: "upstream request timeout", details: details, grpc: -1}, f|FlagUpstreamRequestTimeout)
}

// fail gives the request up and answers in its place.
func (r *router) fail(reply localReply, f Flags) {
	if r.over {
		return
	}
	r.abort()
	r.owner.routerReply(reply, f)
}

// finish ends the timers of a response that is complete.
func (r *router) finish() {
	r.over = true
	r.h.stopTimer(r.global)
	r.h.stopTimer(r.try)
	r.h.stopTimer(r.backoff)
}

// abort gives up what is in flight.
func (r *router) abort() {
	r.finish()
	r.dropAttempt()
}
