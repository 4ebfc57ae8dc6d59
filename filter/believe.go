package filter

import (
	"time"

	"github.com/oncewall/oncewall/filter/wire"
)

// Bounds of what a bridge may say. A value beyond them is no bridge's.
const (
	// maxToldMS bounds every duration in an answer, so that no sum of times
	// overflows: ten years.
	maxToldMS = int64(10 * 365 * 24 * time.Hour / time.Millisecond)
	// maxToldParts bounds the parts that are named as different.
	maxToldParts = 16
	// maxToldDateMS is the end of the year 9999, the last that a date can name.
	maxToldDateMS = int64(253402300799999)
)

// bound makes an answer's numbers safe to count with.
func (rule *Rule) bound(r *wire.Result) {
	r.RetryAfterMS = min(r.RetryAfterMS, maxToldMS)
	r.AgeMS = min(r.AgeMS, maxToldMS)
	r.RemainingMS = min(r.RemainingMS, maxToldMS)
	// A lease is trusted no longer than this rule's, whatever the bridge says.
	r.LeaseMS = min(r.LeaseMS, rule.policy.LeaseMS)
	r.Differs = r.Differs[:min(len(r.Differs), maxToldParts)]
}

// believe reports whether an answer can be one to this task at all. What is not
// believed counts as no answer: the task's effect is not known. Refusals need no
// belief, since nothing is forwarded on them, and neither does a code that this
// filter does not know.
func (t *task) believe(r *wire.Result) bool {
	t.rule.bound(r)
	if t.settles {
		switch r.Code {
		case wire.OK, wire.Stale, wire.Invalid:
			return true
		}
		// Anything else would take an operation for acknowledged that is not.
		return false
	}
	switch r.Code {
	case wire.Created:
		return t.op.Kind == wire.Claim && r.Fence > 0 && r.Attempt > 0 && r.LeaseMS > 0
	case wire.Issued:
		return t.op.Kind == wire.Issue && plainText(r.Key) && len(r.Key) <= wire.MaxKeyBytes &&
			r.ExpiresAtMS > 0 && r.ExpiresAtMS <= maxToldDateMS
	}
	return true
}

// plainText reports whether s is visible ASCII and not empty: it stands in JSON
// and in a header without escaping.
func plainText(s string) bool {
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c >= 0x7f || c == '"' || c == '\\' {
			return false
		}
	}
	return s != ""
}
