package model

// recovery says what may happen to a claim whose lease ended without news.
type recovery uint8

const (
	reacquire recovery = iota
	probe
	hold
)

func (r recovery) String() string { return [...]string{"reacquire", "probe", "hold"}[r] }

// mode is when the outcome is recorded.
type mode uint8

const (
	held   mode = iota // the response is held until one complete is acknowledged
	before             // executed is acknowledged before the client sees a byte
	after              // the client sees the response first
)

// older is what becomes of a success of an older fence on a live claim.
type older uint8

const (
	note older = iota // the rule: noted on the claim
	accept
	stale
)

// short is what a bridge does when the replica has not acknowledged a claim.
type short uint8

const (
	letGo  short = iota // the rule: it releases and answers unavailable
	refuse              // it answers unavailable and leaves the claim
	grant               // it grants all the same
)

// A Config is one run: who takes part, what may go wrong, which rules are off.
// Its zero value has every rule on and no fault.
type Config struct {
	Name     string
	Recovery recovery
	Mode     mode
	Requests int   // 2 or 3
	Claims   uint8 // how often a gateway sends its claim before it gives up: 1 or 2
	Ledger   bool
	Issued   bool // the key was issued by the gateway
	Expires  bool // answers become tombstones, and tombstones end
	Forward  bool // unavailable: forward, instead of refusing
	Attempts uint8
	// BackendFence: the backend refuses a fence lower than one it has executed.
	BackendFence bool
	// RefusalIsResult: the gateway takes that refusal for the result, instead of
	// releasing.
	RefusalIsResult bool
	// RenewOver: a renewal is heard after the lease's end too, as long as nothing
	// newer is there.
	RenewOver bool
	Older     older
	Wait      bool // for the replica, wherever a rule says so
	Short     short

	// How often each fault may happen.
	Crashes, Failovers, Flushes, Outages, IndexLosses, SetBacks, LostRenewals uint8
	Stalls                                                                    bool // gateways and bridges may be slower than a lease
	Duplicates                                                                bool // messages may arrive twice

	off ruleSet
}

// A rule is one of the protocol that a run may switch off.
type rule uint8

type ruleSet uint64

const (
	// On the record.
	byFence          rule = iota // final words and unknown are heard by fence, on lost and older records too
	reentryWhileLive             // a claim answered again to its owner only while its lease lives
	marker                       // release leaves RELEASED behind, found or not
	maybeKeeps                   // a release after a take-over does not free the key
	olderOnFree                  // an older success is the final word where no claim is live
	olderNeedsOK                 // an older fence is heard only with a success
	executedIsFinal              // EXECUTED is never granted again
	executedHasOwner             // only the owner completes EXECUTED
	attemptBack                  // a release gives its attempt back
	leaversKept                  // a release that frees nothing is remembered, and so is a marker that a grant replaces
	indexHeals                   // a touch puts an unresolved record back into the index

	// In the gateway.
	ownClock       // it never forwards on a grant that may have ended
	lapsedReleased // it releases a claim that lapsed, or was granted too late
	tellExecution  // it sends executed with the headers
	settle         // an acknowledged complete settles a pending executed
	tellsAnyway    // a request forwarded without a grant still tells its outcome

	// With a replica.
	waitComplete // WAIT on complete
	waitExecuted // WAIT on executed
	waitReplay   // WAIT on replays
	waitNotKept  // WAIT on response-not-kept and in-flight for a body

	// With the ledger.
	ledgerDecides  // its row, by its own lease, decides on a grant
	ledgerGrants   // a grant needs the ledger's word
	ledgerFirst    // other words go to the ledger first
	confirmRefusal // refusals of Redis are confirmed there
	repairs        // a claim that the ledger refused is overwritten in Redis
	fenceFloor     // its fence is higher than its row's
	ledgerScanned  // the reconciler works from the ledger

	// The reconciler.
	probePromises // "not executed" is a promise for this fence and lower ones
	verdictIfOver // a verdict applies only while the lease is over still

	// Issued keys.
	issuedReleasedLost // RELEASED is never granted for one
	issuedAgain        // released, it is ISSUED again
	issuedReleaser     // ISSUED remembers who released it
	issuedAsksLedger   // with the ledger, absence in Redis means nothing
	issuedHeld         // a lost record that unknown makes again is held, without the ledger

	rules // their number
)

func (c *Config) rule(r rule) bool { return c.off&(1<<r) == 0 }

func without(rs ...rule) func(*Config) {
	return func(c *Config) {
		for _, r := range rs {
			c.off |= 1 << r
		}
	}
}
