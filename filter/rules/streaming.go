package rules

import "time"

// minStreamingLease leaves a renewal, which comes every third of the lease, room
// to fail and to be repeated.
const minStreamingLease = 10 * time.Second

// buildStreaming reads streaming and checks what it needs of the rest of the
// rule, which has been built. upstream is upstream_timeout; nil: not stated.
func (p *parser) buildStreaming(r *Rule, s source, upstream *node) {
	n := s.rule.get("streaming")
	r.Streaming = n.boolOr(false)
	if !r.Streaming {
		if upstream.good() && r.UpstreamTimeout == 0 {
			p.add("upstream_timeout", upstream, "must be 1ms to 1h: 0s is for rules with streaming: true")
		}
		return
	}
	if r.Mode == Off {
		return
	}
	if upstream.good() && r.UpstreamTimeout != 0 {
		p.add("upstream_timeout", upstream, "must be 0s with streaming: true: such a call has no bound")
	}
	if r.Fingerprint.Body != BodyNone {
		p.add("streaming", n, `needs fingerprint.body "none": the request's body is not read`)
	}
	if r.Record.Body {
		p.add("streaming", n, `needs record.body "none": the answer's body is not held`)
	}
	for i := range r.Key.From {
		if r.Key.From[i].InBody() {
			p.add("streaming", n, "needs a key outside the request's body")
			break
		}
	}
	recovery, _ := s.block("recovery")
	lease := recovery.get("lease")
	if d := time.Duration(lease.valueOr(int64(defaultLease))); d < minStreamingLease && (lease == nil || lease.good()) {
		p.add("recovery.lease", lease, "must be >= %s with streaming: true: it is renewed every third of it", formatDuration(minStreamingLease))
	}
}
