package redis

import (
	"slices"
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
	// maxInline is the longest result that shares a connection with other
	// operations, in bytes. A longer one would hold them up: it travels alone, on
	// a connection of its own.
	maxInline = 64 << 10
	// maxArgs is the longest ARGV of a script.
	maxArgs = 12
)

// valid reports whether the scripts can carry op out.
func valid(op *store.Operation) bool {
	if op.Kind < wire.Issue || op.Kind > wire.Renew && op.Kind != wire.Get ||
		op.Next != nil && (len(op.Next) != store.PointerBytes || op.NextLife <= 0) ||
		op.Policy == nil || op.Policy.Recovery > wire.Reacquire ||
		op.Policy.Replicas < 0 || op.Policy.Replicas > wire.MaxReplicas ||
		op.Fence > maxFence || len(op.Fingerprint) > maxFingerprint {
		return false
	}
	switch op.Kind {
	case wire.Issue:
		return op.Life > 0
	case wire.Get:
		return true
	}
	return len(op.Owner) > 0
}

// A request is an operation as it is sent. It shares no memory with the
// operation but a long result, which is all written before the operation is
// answered with anything but ErrUnavailable: a node that hangs may still be owed
// the rest when the caller has long taken its buffers back.
type request struct {
	kind                  wire.Kind
	script                *script
	bucket                int
	record, result, index string
	args                  []string
	deadline              time.Time
	alone                 bool // holds or awaits a result longer than maxInline
	withhold              bool // a result longer than that is not wanted
	// A result longer than maxInline is written to a key of its own first, staged,
	// which the script makes the record's: see stage.go. body is the operation's own
	// memory, which stays as it is until the operation has been answered.
	staged string
	body   []byte
}

// proofArg is the index of final's argument for a result, or the proof of one that
// is staged.
const proofArg = 7

// inlineArg is maxInline as claim's script takes it.
var inlineArg = strconv.Itoa(maxInline)

// separate makes r one that has a connection to itself, however long its result.
func (r *request) separate() {
	r.alone = true
	if r.kind == wire.Claim {
		r.args = slices.Clone(r.args)
		r.args[4] = ""
	}
}

// solo is command for a connection that no other operation shares.
func (r *request) solo(c rueidis.Client, whole bool) rueidis.Completed {
	name, script := "EVALSHA", r.script.sha
	if whole {
		name, script = "EVAL", r.script.text
	}
	if r.staged != "" {
		return c.B().Arbitrary(name, script, "4").Keys(r.record, r.result, r.index, r.staged).Args(r.args...).Blocking().ToRetryable()
	}
	return c.B().Arbitrary(name, script, "3").Keys(r.record, r.result, r.index).Args(r.args...).Blocking().ToRetryable()
}

func (r *request) late(now time.Time) bool { return !r.deadline.IsZero() && !now.Before(r.deadline) }

// command builds the command: by the script's digest, or with its whole text.
// All are retryable, because every step may be repeated by its owner.
func (r *request) command(c rueidis.Client, whole bool) rueidis.Completed {
	if r.staged != "" {
		return r.solo(c, whole)
	}
	if whole {
		return c.B().Eval().Script(r.script.text).Numkeys(3).
			Key(r.record, r.result, r.index).Arg(r.args...).Build().ToRetryable()
	}
	return c.B().Evalsha().Sha1(r.script.sha).Numkeys(3).
		Key(r.record, r.result, r.index).Arg(r.args...).Build().ToRetryable()
}

// once is command for a first try: what a node cannot do now is told at once
// instead of repeated, so that the answers that came with it need not wait.
func (r *request) once(c rueidis.Client, whole bool) rueidis.Completed {
	switch {
	case r.staged != "":
		return r.solo(c, whole)
	case whole:
		return c.B().Eval().Script(r.script.text).Numkeys(3).Key(r.record, r.result, r.index).Arg(r.args...).Build()
	}
	return c.B().Evalsha().Sha1(r.script.sha).Numkeys(3).Key(r.record, r.result, r.index).Arg(r.args...).Build()
}

// An encoder turns operations into requests. It remembers the last policy's
// text, since the operations of a batch mostly share a few.
type encoder struct {
	skew   string // us
	marker string // ms
	spare  []string
	policy *wire.Policy
	text   string
}

func (e *encoder) request(op *store.Operation) request {
	r := request{kind: op.Kind, script: scripts[op.Kind], deadline: op.Deadline}
	r.bucket = bucket(op.Name)
	r.record, r.result, r.index = keys(op.Name)
	r.alone = len(op.Result) > maxInline || op.Kind == wire.Get && !op.Withhold
	r.withhold = op.Withhold
	if op.Kind == wire.Complete && r.alone {
		r.staged, r.body = stagedKey(r.result, op.Owner), op.Result
	}
	if cap(e.spare)-len(e.spare) < maxArgs {
		e.spare = make([]string, 0, 32*maxArgs)
	}
	from := len(e.spare)
	e.spare = append(e.args(e.spare, op), gate(op))
	r.args = e.spare[from:len(e.spare):len(e.spare)]
	return r
}

// args appends the ARGV that the header of op's script names.
func (e *encoder) args(a []string, op *store.Operation) []string {
	policy := e.pack(op.Policy)
	switch op.Kind {
	case wire.Get:
		if op.Withhold {
			return append(a, "0")
		}
		return append(a, "1")
	case wire.Issue:
		return append(a, policy, millis(op.Life))
	case wire.Claim:
		return append(a, string(op.Owner), policy, string(op.Fingerprint), e.skew, inlineArg,
			string(op.Identity), string(op.Caller), op.Trace, e.marker)
	}
	a = append(a, string(op.Owner), strconv.FormatUint(op.Fence, 10), policy)
	switch op.Kind {
	case wire.Executed:
		coming := "1"
		if op.NoResult {
			coming = "0"
		}
		return append(a, string(op.Fingerprint), "E", status(op.Status), coming, "",
			string(op.Caller), op.Trace, ttl(op.TTL))
	case wire.Complete:
		result := ""
		if len(op.Result) > maxInline {
			result = proof(op.Result) // it is staged
		} else {
			result = string(op.Result)
		}
		return append(a, string(op.Fingerprint), "C", status(op.Status), "0", result,
			string(op.Caller), op.Trace, ttl(op.TTL))
	case wire.Unknown:
		return append(a, string(op.Fingerprint), string(op.Identity), string(op.Caller), op.Trace, e.marker)
	case wire.Release:
		return append(a, e.marker, "")
	}
	return a
}

// gate is the last argument of an operation: where its record is to be made if it
// is not there, as gate.lua takes it.
func gate(op *store.Operation) string {
	replicas := op.Policy.Replicas
	if op.Next == nil && replicas == 0 {
		return ""
	}
	mode := byte('s')
	switch {
	case op.Kind == wire.Get:
		mode = 'r'
	case op.Void:
		mode = 'v'
	case op.Kind == wire.Claim:
		mode = 'c'
	}
	b := make([]byte, 0, 32+store.PointerBytes)
	b = strconv.AppendInt(append(b, mode), replicas, 10)
	b = strconv.AppendInt(append(b, ':'), max(op.NextLife.Milliseconds(), 0), 10)
	return string(append(append(b, ':'), op.Next...))
}

func status(s uint16) string { return strconv.FormatUint(uint64(s), 10) }

// ttl is upstream's word on the life of a result; "0": none.
func ttl(d time.Duration) string { return strconv.FormatInt(max(d.Milliseconds(), 0), 10) }

func millis(d time.Duration) string { return strconv.FormatInt(max(d.Milliseconds(), 1), 10) }

// undo is the release of the grant that the claim r was given.
func (r *request) undo(fence uint64, marker string) request {
	u := *r
	u.kind, u.script = wire.Release, scripts[wire.Release]
	u.args = []string{r.args[0], strconv.FormatUint(fence, 10), r.args[1], marker, "1", ""}
	return u
}

// pack writes a policy as the prelude reads it.
func (e *encoder) pack(p *wire.Policy) string {
	if p == e.policy {
		return e.text
	}
	b := make([]byte, 0, 64)
	for _, n := range [...]int64{p.TTLMS, p.TombstoneMS, p.LeaseMS, p.MaxAttempts, int64(p.Recovery)} {
		b = append(strconv.AppendInt(b, max(n, 0), 10), ':')
	}
	b = append(b, digit(p.Issued), ':', digit(p.RejectRepeat))
	if p.Replicas > 0 {
		b = strconv.AppendInt(b, p.Replicas, 10)
	}
	b = append(b, ':')
	e.policy, e.text = p, string(append(b, p.Generation...))
	return e.text
}

func digit(set bool) byte {
	if set {
		return '1'
	}
	return '0'
}
