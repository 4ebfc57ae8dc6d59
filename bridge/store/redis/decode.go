package redis

import (
	"errors"
	"fmt"
	"time"

	"github.com/redis/rueidis"

	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/filter/wire"
)

var (
	errAnswer = errors.New("redis: script: answer of an unknown form")
	errLate   = fmt.Errorf("%w: no answer before the deadline", store.ErrUnavailable)
	errBusy   = fmt.Errorf("%w: too many operations are waiting for one node", store.ErrUnavailable)
	errPassed = fmt.Errorf("%w: the deadline passed before the operation began", store.ErrUnavailable)
)

func unavailable(err error) store.Reply {
	return store.Reply{Err: fmt.Errorf("%w: %w", store.ErrUnavailable, err)}
}

// noScript reports that the node does not know the script: nothing was done.
func noScript(r rueidis.RedisResult) bool {
	e, ok := rueidis.IsRedisErr(r.Error())
	return ok && e.IsNoScript()
}

// answer reads the tuple that a script's header describes.
type answer struct {
	items []rueidis.RedisMessage
	bad   bool
}

func (a *answer) int(i int) int64 {
	if i >= len(a.items) {
		return 0
	}
	v, err := a.items[i].AsInt64()
	if err != nil {
		a.bad = true
	}
	return v
}

func (a *answer) micros(i int) time.Duration { return time.Duration(a.int(i)) * time.Microsecond }

func (a *answer) bytes(i int) []byte {
	if i >= len(a.items) {
		a.bad = true
		return nil
	}
	v, err := a.items[i].AsBytes()
	if err != nil {
		a.bad = true
	}
	return v
}

// text is an item that may be left out; "": it is.
func (a *answer) text(i int) string {
	if i >= len(a.items) || a.items[i].IsNil() {
		return ""
	}
	return string(a.bytes(i))
}

// codeLarge is the prelude's LARGE.
const codeLarge wire.Code = 0

// A duty is what an answer still owes before it may be given.
type duty struct {
	acks    int  // replicas that must hold what it says
	granted bool // the claim was granted by this very step
	large   bool // the result has to be fetched apart; the reply is empty
}

// Every script answers so where it leaves a record of a later version alone: the
// code, and that version.
const laterItems = 2

var errLater = fmt.Errorf("redis: the record is of a later version than %d, which this bridge serves", store.RecordVersion)

// later reports whether a script that answers in another way has done that.
func later(res rueidis.RedisResult) bool {
	items, err := res.ToArray()
	return err == nil && len(items) == laterItems
}

func decode(res rueidis.RedisResult) (store.Reply, duty) {
	items, err := res.ToArray()
	if err != nil {
		return unavailable(err), duty{}
	}
	a := answer{items: items}
	var d duty
	r := store.Reply{Code: wire.Code(a.int(0))}
	switch r.Code {
	case codeLarge:
		d.large = true
		r.Status = uint16(a.int(1))
		r.Age = a.micros(2)
		r.Remaining = a.micros(3)
		r.Fence = uint64(a.int(4))
		d.acks = int(a.int(5))
		r.Trace = a.text(6)
	case wire.OK:
		r.Restored = a.int(1) == 1
		r.Lease = a.micros(2)
		d.acks = int(a.int(3))
		r.Dropped = a.int(4) > 0
	case wire.Created:
		r.Fence = uint64(a.int(1))
		r.Lease = a.micros(2)
		r.Attempt = uint32(a.int(3))
		r.Takeover = a.int(4) == 1
		d.granted = a.int(5) == 1
		d.acks = int(a.int(6))
		r.Dropped = a.int(7) > 0
	case wire.Replayed, wire.KeyUsed, wire.ResponseNotKept:
		r.Status = uint16(a.int(1))
		r.Age = a.micros(2)
		r.Remaining = a.micros(3)
		if r.Code == wire.Replayed {
			r.Result = a.bytes(4)
		}
		d.acks = int(a.int(5))
		r.Trace = a.text(6)
	case wire.InFlight, wire.OutcomeUnknown:
		r.RetryAfter = a.micros(1)
		r.Age = a.micros(2)
		r.Trace = a.text(3)
	case wire.KeyReused:
		r.Fingerprint = a.bytes(1)
		r.Age = a.micros(2)
		r.Trace = a.text(3)
	case wire.Issued:
		r.Remaining = a.micros(1)
	case store.Moved:
		r.Moved = a.bytes(1)
		r.Planted = a.int(2) == 1
		d.acks = int(a.int(3))
		a.bad = a.bad || len(r.Moved) != store.PointerBytes
	case wire.Found:
		var known bool
		r.State, known = states[a.text(1)]
		a.bad = a.bad || !known
		r.Status = uint16(a.int(2))
		r.Age, r.Remaining, r.RetryAfter = a.micros(3), a.micros(4), a.micros(5)
		r.Result = a.bytes(6)
	case wire.KeyExpired, wire.Invalid, wire.Stale, wire.Lapsed, wire.NotFound:
	default:
		a.bad = true
	}
	if a.bad {
		return unavailable(errAnswer), duty{}
	}
	return r, d
}
