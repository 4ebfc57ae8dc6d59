package filter

import (
	"strconv"
	"strings"
	"time"

	"github.com/oncewall/oncewall/filter/rules"
	"github.com/oncewall/oncewall/filter/wire"
)

// maxWordTTL bounds Idempotency-TTL: a longer one counts as this. 0, which would be no
// life at all, is not heard; for that there is no-store.
const maxWordTTL = 720 * time.Hour

// upstreamWord is what upstream says of its own answer: it knows better than any
// status. Both lines are removed before the client sees them.
type upstreamWord struct {
	said    bool
	says    rules.Outcome
	noStore bool
	ttl     time.Duration // 0: nothing was said
	gateway Code          // what another gateway says that it did
	grpc    bool          // it answers a gRPC request
	failed  bool          // by a gRPC status that is not OK
}

// hear takes a header line. Words that are not known are not heard: the status
// decides. Of words that contradict each other the one counts, whatever their
// order, that lets nothing run again: executed before not executed, not to be
// kept before kept, and of several lives the longest.
func (u *upstreamWord) hear(l wire.HeaderLine) {
	switch l.Name {
	case HeaderOutcome:
		for word := range strings.SplitSeq(l.Value, ",") {
			switch strings.TrimSpace(word) {
			case "final":
				u.said, u.says = true, rules.OutcomeResult
			case "no-store":
				u.said, u.says, u.noStore = true, rules.OutcomeResult, true
			case "not-executed":
				if !u.said {
					u.said, u.says = true, rules.OutcomeRelease
				}
			}
		}
	case HeaderStatus:
		u.gateway = Code(strings.TrimSpace(l.Value))
	case headerGRPCStatus:
		u.failed = u.grpc && l.Value != "0"
	case HeaderTTL:
		for v := range strings.SplitSeq(l.Value, ",") {
			// Nine digits cannot overflow, and are more than the longest life.
			v = strings.TrimSpace(v)
			if n, err := strconv.ParseUint(v, 10, 32); err == nil && len(v) <= 9 {
				u.ttl = max(u.ttl, min(time.Duration(n)*time.Second, maxWordTTL))
			}
		}
	}
}

// refusal is what the refusal of a gateway behind this one means; false: there is
// none. A status below 400 refuses nothing, whatever stands beside it, unless it is
// that of a gRPC answer that failed.
func (u *upstreamWord) refusal(status int) (rules.Outcome, bool) {
	if status < 400 && !u.failed {
		return 0, false
	}
	o, refused := refusals[u.gateway]
	return o, refused
}

// outcome is upstream's word, then that of a gateway behind this one, or what its
// status says under the rule where neither said anything.
func (u *upstreamWord) outcome(status int, says rules.Outcome) rules.Outcome {
	if u.said {
		return u.says
	}
	if o, refused := u.refusal(status); refused {
		return o
	}
	if u.gateway == CodeReplayed {
		return rules.OutcomeResult
	}
	return says
}

// outcome is what a status says under the rule.
func (r *Rule) outcome(status int) rules.Outcome {
	if status < 0 || status >= len(r.outcomes) {
		return rules.DefaultOutcome(status)
	}
	return r.outcomes[status]
}
