package table

import (
	"github.com/oncewall/oncewall/filter/wire"
)

// State is the state of a record.
type State uint8

// The states. A tombstone is no state of its own: it is a final record past its
// life.
const (
	Absent State = iota
	Issued
	Released
	Processing
	Unknown
	Executed
	Completed
)

func (s State) String() string {
	return [...]string{"absent", "ISSUED", "RELEASED", "PROCESSING", "UNKNOWN", "EXECUTED", "COMPLETED"}[s]
}

// A Record is all that a store keeps of one key: the record, its result, its
// place in the index, and how long the first two will live. The zero Record is
// absent. Records are compared with ==.
type Record struct {
	State       State
	Owner       string // Issued, Released: the one that released it
	Fence       uint64
	Fingerprint string // "": none
	// Policy is set where HasPolicy is: a marker of a client key has none.
	Policy      wire.Policy
	HasPolicy   bool
	Claimed     int64 // us
	LeaseEnd    int64 // us; 0: over, whatever the clock says
	Attempts    int64
	Maybe       bool   // an earlier fence may have run
	NotedOwner  string // known to have run, under an earlier fence
	NotedStatus uint16
	Held        bool   // only a final word or the operator ends it
	Status      uint16 // of the answer
	Expires     int64  // us: end of the answer's life
	KeyExpires  int64  // us: end of an issued key's life
	Identity    string // key and principal, sealed; until the final word
	Caller      string // keyed digest of the caller
	Trace       string // traceparent of the first request
	// Leavers are the owners that released and that nothing else remembers, the
	// oldest first.
	Leavers [MaxLeavers]Leaver
	Left    int64 // us until the store drops the record; 0: absent

	Result     string // an envelope; "": none
	ResultLeft int64  // us until the store drops the result

	Indexed bool
	Due     int64 // us: the moment for which it is indexed
}

// MaxLeavers bounds the released owners that a record remembers beside its own.
const MaxLeavers = 8

// A Leaver is an owner that is granted nothing more until a moment (us). The zero
// Leaver is none.
type Leaver struct {
	Owner string
	Until int64
}

// Final reports whether the record holds a final word, tombstones included.
func (r *Record) Final() bool { return r.State == Executed || r.State == Completed }

// Unresolved reports whether the reconciler has to find the record.
func (r *Record) Unresolved() bool { return r.State == Processing || r.State == Unknown }

// Over reports whether the lease has ended.
func (r *Record) Over(now int64) bool { return now >= r.LeaseEnd }

// Past reports whether an answer has outlived itself.
func (r *Record) Past(now int64) bool { return r.Final() && now >= r.Expires }

func (r *Record) index() { r.Indexed, r.Due = true, r.LeaseEnd }

func (r *Record) unindex() { r.Indexed, r.Due = false, 0 }

// millis rounds a span up to whole milliseconds, as lives are kept.
func millis(us int64) int64 { return max((us+999)/1000, 0) }

// life is a life of so many milliseconds, at least one.
func life(ms int64) int64 { return max(ms, 1) * 1000 }

// liveUnresolved sets the life of a record without a final word: what is left of
// its lease, then as long as an answer would have been remembered; never less than
// its issued key, or than it refuses a leaver.
func (r *Record) liveUnresolved(p wire.Policy, now int64) {
	last := int64(0)
	for _, l := range r.Leavers {
		if l.Until > now {
			last = l.Until // the newest holds longest
		}
	}
	r.Left = life(max(millis(r.LeaseEnd-now)+p.TTLMS+p.TombstoneMS, millis(r.KeyExpires-now), millis(last-now)))
}

// liveFinal sets the life of a final record from now on, and forgets what only an
// unresolved one needs. An issued key's answer lives at least as long as the key.
func (r *Record) liveFinal(p wire.Policy, now int64) {
	r.Expires = max(now+p.TTLMS*1000, r.KeyExpires, r.LeaseEnd)
	r.Left = life(millis(r.Expires-now) + p.TombstoneMS)
	r.Policy, r.HasPolicy = p, true
	r.Attempts, r.Maybe, r.NotedOwner, r.NotedStatus, r.Held = 0, false, "", 0, false
	r.Leavers, r.Identity = [MaxLeavers]Leaver{}, ""
	r.unindex()
}

// outliveLease keeps an answer, whose body is on its way, at least for its lease.
func (r *Record) outliveLease(p wire.Policy, now int64) {
	r.Expires = max(r.Expires, r.LeaseEnd)
	r.Left = life(millis(r.Expires-now) + p.TombstoneMS)
}

// Stricter is the policy that holds between a record's and a later caller's: the
// longer lives, the fewer attempts, hold before probe before reacquire, issued
// before client's, rejecting before replaying, more replicas; the record's rule
// generation.
func (r *Record) Stricter(caller wire.Policy) wire.Policy {
	if !r.HasPolicy {
		return caller
	}
	p := r.Policy
	p.TTLMS = max(p.TTLMS, caller.TTLMS)
	p.TombstoneMS = max(p.TombstoneMS, caller.TombstoneMS)
	p.LeaseMS = max(p.LeaseMS, caller.LeaseMS)
	if p.MaxAttempts == 0 || caller.MaxAttempts > 0 && caller.MaxAttempts < p.MaxAttempts {
		p.MaxAttempts = caller.MaxAttempts // 0 is no bound
	}
	p.Recovery = min(p.Recovery, caller.Recovery)
	p.Issued = p.Issued || caller.Issued
	p.RejectRepeat = p.RejectRepeat || caller.RejectRepeat
	p.Replicas = max(p.Replicas, caller.Replicas)
	return p
}
