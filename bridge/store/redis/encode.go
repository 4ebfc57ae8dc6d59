package redis

import (
	"strconv"
	"time"

	"github.com/redis/rueidis"

	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/filter/wire"
)

const (
	// maxFence is the largest fence that Lua's numbers hold exactly.
	maxFence = 1 << 53
	// maxFingerprint is what the record's three fields of 64 bytes hold.
	maxFingerprint = 3 * 64
)

// valid reports whether the scripts can carry op out.
func valid(op *store.Operation) bool {
	if op.Kind < wire.Issue || op.Kind > wire.Renew || op.Policy == nil ||
		op.Fence > maxFence || len(op.Fingerprint) > maxFingerprint {
		return false
	}
	if op.Kind == wire.Issue {
		return op.Life > 0
	}
	return len(op.Owner) > 0
}

// encoder turns operations into commands. It remembers the last policy's text,
// since the operations of a batch mostly share a few.
type encoder struct {
	client rueidis.Client
	skew   string // us
	marker string // ms
	policy *wire.Policy
	text   string
}

// command builds op's command: by digest, or with the script's text. All are
// retryable, because every step may be repeated by its owner.
func (e *encoder) command(op *store.Operation, whole bool) rueidis.Completed {
	var buf [8]string
	args := e.args(buf[:0], op)
	record, result, index := keys(op.Name)
	s := scripts[op.Kind]
	if whole {
		return e.client.B().Eval().Script(s.text).Numkeys(3).Key(record, result, index).Arg(args...).Build().ToRetryable()
	}
	return e.client.B().Evalsha().Sha1(s.sha).Numkeys(3).Key(record, result, index).Arg(args...).Build().ToRetryable()
}

// args are the ARGV that the header of op's script names. Bytes are copied:
// the client may still hold a command whose operation has been given up.
func (e *encoder) args(a []string, op *store.Operation) []string {
	policy := e.pack(op.Policy)
	switch op.Kind {
	case wire.Issue:
		return append(a, policy, millis(op.Life))
	case wire.Claim:
		return append(a, string(op.Owner), policy, string(op.Fingerprint), e.skew)
	}
	a = append(a, string(op.Owner), strconv.FormatUint(op.Fence, 10), policy)
	switch op.Kind {
	case wire.Executed:
		coming := "1"
		if op.NoResult {
			coming = "0"
		}
		return append(a, string(op.Fingerprint), "E", status(op.Status), coming, "")
	case wire.Complete:
		return append(a, string(op.Fingerprint), "C", status(op.Status), "0", string(op.Result))
	case wire.Unknown:
		return append(a, string(op.Fingerprint))
	case wire.Release:
		return append(a, e.marker)
	}
	return a
}

func status(s uint16) string { return strconv.FormatUint(uint64(s), 10) }

func millis(d time.Duration) string { return strconv.FormatInt(max(d.Milliseconds(), 1), 10) }

// pack writes a policy as the prelude reads it.
func (e *encoder) pack(p *wire.Policy) string {
	if p == e.policy {
		return e.text
	}
	b := make([]byte, 0, 64)
	for _, n := range [...]int64{p.TTLMS, p.TombstoneMS, p.LeaseMS, p.MaxAttempts, int64(p.Recovery)} {
		b = append(strconv.AppendInt(b, max(n, 0), 10), ':')
	}
	for _, set := range [...]bool{p.Issued, p.RejectRepeat} {
		if set {
			b = append(b, "1:"...)
		} else {
			b = append(b, "0:"...)
		}
	}
	e.policy, e.text = p, string(append(b, p.Generation...))
	return e.text
}
