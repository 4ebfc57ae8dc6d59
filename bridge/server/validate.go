package server

import (
	"fmt"
	"net/http"
	"time"

	"github.com/oncewall/oncewall/filter/wire"
)

// Bounds that the wire does not state.
const (
	maxGenerationBytes  = 128
	maxFingerprintBytes = 1024
	maxAttempts         = 100
	// maxFence is the largest fence that every store keeps exactly: a Lua
	// number is a double.
	maxFence = 1 << 53
)

// checkOperation returns what is wrong with op, or nothing. policies holds the
// same for each policy of the batch. The texts name fields, sizes and bounds,
// never what a client sent.
func checkOperation(op *wire.Operation, policies []string) string {
	if op.Kind < wire.Issue || op.Kind > wire.Renew && op.Kind != wire.Get {
		return fmt.Sprintf("kind %d: must be 1 to %d, or %d", op.Kind, wire.Renew, wire.Get)
	}
	if int(op.Policy) >= len(policies) {
		return fmt.Sprintf("policy %d: the batch holds %d", op.Policy, len(policies))
	}
	if fault := policies[op.Policy]; fault != "" {
		return fault
	}
	if op.BudgetMS == 0 {
		return "budget 0ms: must be at least 1ms"
	}
	if fault := checkLength("scope", len(op.Scope), wire.MaxScopeBytes); fault != "" {
		return fault
	}
	if fault := checkLength("principal", len(op.Principal), wire.MaxPrincipalBytes); fault != "" {
		return fault
	}
	if op.Kind == wire.Issue {
		return ""
	}
	if fault := checkLength("key", len(op.Key), wire.MaxKeyBytes); fault != "" {
		return fault
	}
	if op.Kind == wire.Get {
		return ""
	}
	if len(op.Owner) != wire.OwnerBytes {
		return fmt.Sprintf("owner: %d bytes: must be %d", len(op.Owner), wire.OwnerBytes)
	}
	if op.Fence > maxFence {
		return fmt.Sprintf("fence %d: must be at most %d", op.Fence, uint64(maxFence))
	}
	return checkContent(op)
}

func checkContent(op *wire.Operation) string {
	if n := len(op.Fingerprint); n > 0 {
		if n > maxFingerprintBytes {
			return fmt.Sprintf("fingerprint: %d bytes: must be at most %d", n, maxFingerprintBytes)
		}
		if v := op.Fingerprint[0]; v != wire.FingerprintVersion && v != wire.FingerprintUntagged {
			return fmt.Sprintf("fingerprint: version %d: must be %d or %d", v, wire.FingerprintUntagged, wire.FingerprintVersion)
		}
		if !wire.ValidFingerprint(op.Fingerprint) {
			return "fingerprint: not in the form of its version"
		}
	}
	if op.Kind != wire.Executed && op.Kind != wire.Complete {
		return ""
	}
	// 101: the stream has changed its protocol, of which nothing can be kept.
	if switched := op.Kind == wire.Executed && op.Status == http.StatusSwitchingProtocols; !switched && (op.Status < 200 || op.Status > 999) {
		return fmt.Sprintf("status %d: must be 200 to 999", op.Status)
	}
	if op.Kind == wire.Complete && !readable(op.Result) {
		return "result: not a response of a version that is served"
	}
	return ""
}

// readable reports whether b starts as an encoded response does. The filter
// checks the rest before it replays; parsing it here as well would cost every
// completion a copy of its header lines.
func readable(b []byte) bool { return len(b) > 1 && b[0] == wire.ResponseVersion }

// checkPolicy returns what is wrong with p, or nothing.
func (s *Server) checkPolicy(p *wire.Policy) string {
	switch {
	case len(p.Generation) > maxGenerationBytes:
		return fmt.Sprintf("policy generation: %d bytes: must be at most %d", len(p.Generation), maxGenerationBytes)
	case !within(p.LeaseMS, 1, s.cfg.MaxLease):
		return fmt.Sprintf("policy lease %dms: must be 1ms to max_lease %s", p.LeaseMS, s.cfg.MaxLease)
	case !within(p.TTLMS, 1, s.cfg.MaxTTL):
		return fmt.Sprintf("policy ttl %dms: must be 1ms to max_ttl %s", p.TTLMS, s.cfg.MaxTTL)
	case !within(p.TombstoneMS, 0, s.cfg.MaxTombstone):
		return fmt.Sprintf("policy tombstone_ttl %dms: must be 0 to max_tombstone_ttl %s", p.TombstoneMS, s.cfg.MaxTombstone)
	case p.MaxAttempts < 1 || p.MaxAttempts > maxAttempts:
		return fmt.Sprintf("policy max_attempts %d: must be 1 to %d", p.MaxAttempts, maxAttempts)
	case p.Replicas < 0 || p.Replicas > wire.MaxReplicas:
		return fmt.Sprintf("policy replicas %d: must be 0 to %d", p.Replicas, wire.MaxReplicas)
	case p.Recovery < wire.Hold || p.Recovery > wire.Reacquire:
		return fmt.Sprintf("policy recovery %d: must be %d to %d", p.Recovery, wire.Hold, wire.Reacquire)
	}
	return checkPrevious(p.PreviousScopes)
}

// within compares milliseconds without overflow.
func within(ms, low int64, high time.Duration) bool {
	return ms >= low && ms <= high.Milliseconds()
}

func checkLength(what string, n, high int) string {
	if n < 1 || n > high {
		return fmt.Sprintf("%s: %d bytes: must be 1 to %d", what, n, high)
	}
	return ""
}
