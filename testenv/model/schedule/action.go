package schedule

import (
	"fmt"
	"strings"
	"time"

	"github.com/oncewall/oncewall/filter/wire"
)

// A Verb is what an action does.
type Verb uint8

// Verbs up to Renew are operations, numbered as wire.Kind. Then come an operator's
// decisions and a reconciler's findings, the others are faults.
const (
	DecideComplete Verb = iota + 10 // in the order of store.Action
	DecideExecute
	DecideFree
	DecideExtend
	FindResult // a reconciler's findings, in the order of store.Outcome
	FindExecuted
	FindNothing
	Tidy // its looks at the index and at all records
	Walk
	Look // a caller's, which changes nothing
)

// The faults.
const (
	Repeat      Verb = iota + 20 // the last operation again, its answer having been lost
	Pass                         // time passes
	SetBack                      // the clock is set back
	LoseIndex                    // the index entry
	LoseResult                   // the result
	LoseRecord                   // the record, neither its result nor its index entry
	LoseAll                      // everything, as FLUSHALL does
	LoseScripts                  // SCRIPT FLUSH
)

// A Fence is which fence an operation carries.
type Fence uint8

// The fences.
const (
	NoFence     Fence = iota // 0, not known
	OwnFence                 // of the owner's last grant of this key
	RecordFence              // the record's, whoever owns it
	OlderFence               // one less than that
	NewerFence               // five more than that
)

// An Action is one step of a schedule. It is free of anything that only the run
// knows, so that it means the same when others are dropped.
type Action struct {
	Verb        Verb
	Key, Owner  int
	Fence       Fence
	Policy      wire.Policy
	Print       byte // letter of the fingerprint; 0: none
	Status      uint16
	NoResult    bool
	Unprotected bool
	Body        string        // of the result; Complete only, "": not kept
	Time        time.Duration // Pass, SetBack; life of an issued key
	Theirs      bool          // a finding about the record's own owner
	Asks        bool          // it says who asks
	Word        time.Duration // upstream's, on the life of the result; 0: none
}

func (a Action) operation() bool { return a.Verb <= Verb(wire.Renew) }

func (a Action) decision() bool { return DecideComplete <= a.Verb && a.Verb <= DecideExtend }

func (a Action) tending() bool { return a.Verb == Tidy || a.Verb == Walk }

func (a Action) finding() bool { return FindResult <= a.Verb && a.Verb <= FindNothing }

var verbNames = map[Verb]string{
	Verb(wire.Issue): "issue", Verb(wire.Claim): "claim", Verb(wire.Executed): "executed", Verb(wire.Complete): "complete",
	Verb(wire.Release): "release", Verb(wire.Unknown): "unknown", Verb(wire.Renew): "renew",
	DecideComplete: "decide: complete", DecideExecute: "decide: execute", DecideFree: "decide: free", DecideExtend: "decide: extend",
	FindResult: "find: result", FindExecuted: "find: executed", FindNothing: "find: nothing",
	Tidy: "tidy the index", Walk: "walk over all records", Look: "look",
	Repeat: "repeat", Pass: "pass", SetBack: "set back", LoseIndex: "lose index entry", LoseResult: "lose result",
	LoseRecord: "lose record", LoseAll: "lose all", LoseScripts: "lose scripts",
}

var fenceNames = [...]string{"none", "own", "the record's", "older", "newer"}

func (a Action) String() string {
	var b strings.Builder
	b.WriteString(verbNames[a.Verb])
	switch a.Verb {
	case Repeat, LoseAll, LoseScripts:
		return b.String()
	case Pass, SetBack:
		fmt.Fprintf(&b, " %v", a.Time)
		return b.String()
	}
	fmt.Fprintf(&b, " k%d", a.Key)
	if a.decision() {
		fmt.Fprintf(&b, " by o%d, fence %s, status %d, result %s, lease %v", a.Owner, fenceNames[a.Fence], a.Status, brief(a.Body), a.Time)
	}
	if a.finding() {
		fmt.Fprintf(&b, " of o%d (the record's: %v), fence %s, status %d, result %s", a.Owner, a.Theirs, fenceNames[a.Fence], a.Status, brief(a.Body))
	}
	if !a.operation() {
		return b.String()
	}
	kind := wire.Kind(a.Verb)
	if kind != wire.Issue {
		fmt.Fprintf(&b, " o%d", a.Owner)
	}
	if kind > wire.Claim {
		fmt.Fprintf(&b, ", fence %s", fenceNames[a.Fence])
	}
	if kind == wire.Issue {
		fmt.Fprintf(&b, " for %v", a.Time)
	}
	if kind == wire.Executed || kind == wire.Complete {
		fmt.Fprintf(&b, ", status %d, result %s", a.Status, brief(a.Body))
	}
	if a.NoResult {
		b.WriteString(", no result follows")
	}
	if a.Unprotected {
		b.WriteString(", unprotected")
	}
	if a.Asks {
		b.WriteString(", says who asks")
	}
	if a.Word != 0 {
		fmt.Fprintf(&b, ", upstream keeps it for %v", a.Word)
	}
	if a.Print != 0 {
		fmt.Fprintf(&b, ", fingerprint %c", a.Print)
	}
	fmt.Fprintf(&b, ", policy %s", policyText(a.Policy))
	return b.String()
}

func policyText(p wire.Policy) string {
	s := fmt.Sprintf("{ttl %dms, tombstone %dms, lease %dms, attempts %d, %s", p.TTLMS, p.TombstoneMS, p.LeaseMS,
		p.MaxAttempts, [...]string{"?", "hold", "probe", "reacquire"}[p.Recovery])
	if p.Issued {
		s += ", issued"
	}
	if p.RejectRepeat {
		s += ", reject"
	}
	return s + ", " + p.Generation + "}"
}
