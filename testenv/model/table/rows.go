package table

import "github.com/oncewall/oncewall/filter/wire"

var (
	onIssue   = []wire.Kind{wire.Issue}
	onClaim   = []wire.Kind{wire.Claim}
	onFinal   = []wire.Kind{wire.Executed, wire.Complete}
	onUnknown = []wire.Kind{wire.Unknown}
	onRelease = []wire.Kind{wire.Release}
	onRenew   = []wire.Kind{wire.Renew}
)

// Rows is the table.
var Rows = concat(issueRows, claimRows, finalRows, unknownRows, releaseRows, renewRows, decideRows, recoverRows, laterRows)

func concat(parts ...[]Row) (all []Row) {
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

var issueRows = []Row{
	{
		"issue-new", "absent", "issue", "ISSUED for its life", "issued", "",
		onIssue, in(Absent), issueNew,
	},
	{
		"issue-again", "ISSUED", "issue", "–", "issued, what is left of the same life", "",
		onIssue, in(Issued), tellIssued,
	},
	{
		"issue-used", "any other", "issue", "–", "stale", "",
		onIssue, always, say(wire.Stale),
	},
}

var claimRows = []Row{
	{
		"claim-new", "absent", "claim, client key", "PROCESSING(F), indexed", "created F", "",
		onClaim, all(in(Absent), not((*Case).issuedKey)), grantFirst,
	},
	{
		"claim-lost", "absent", "claim, issued key", "–", "key-expired", "",
		onClaim, in(Absent), say(wire.KeyExpired),
	},
	{
		"claim-forgotten", "tombstone", "claim, client key, no tombstone wanted (not dropped yet)", "PROCESSING(F), indexed", "created F", "",
		onClaim, (*Case).forgotten, grantForgotten,
	},
	{
		"claim-reused", "any", "claim, another fingerprint than the record's", "–", "key-reused", "",
		onClaim, (*Case).reused, tellReused,
	},
	{
		"claim-tombstone", "tombstone", "claim", "–", "key-expired", "",
		onClaim, func(c *Case) bool { return c.Before.Past(c.Now) }, say(wire.KeyExpired),
	},
	{
		"claim-after-release", "ISSUED, RELEASED", "claim, me released it, or is a leaver", "–", "stale", "",
		onClaim, all(in(Issued, Released), (*Case).left), say(wire.Stale),
	},
	{
		"claim-issued", "ISSUED", "claim, within its life", "PROCESSING(F), indexed", "created F", "",
		onClaim, all(in(Issued), func(c *Case) bool { return c.Now < c.Before.KeyExpires }), grantFirst,
	},
	{
		"claim-issued-late", "ISSUED", "claim, past its life", "–", "key-expired", "",
		onClaim, in(Issued), say(wire.KeyExpired),
	},
	{
		"claim-released", "RELEASED", "claim, other, client key", "PROCESSING(F), indexed", "created F", "",
		onClaim, all(in(Released), not((*Case).issuedKey)), grantFirst,
	},
	{
		"claim-released-issued", "RELEASED", "claim, other, issued key", "–", "key-expired", "",
		onClaim, in(Released), say(wire.KeyExpired),
	},
	{
		"claim-again", "PROCESSING", "claim, me, not over", "–", "created, same fence, same end of the lease", "",
		onClaim, all(in(Processing), (*Case).me, not((*Case).over)), grantAgain,
	},
	{
		"claim-lapsed", "PROCESSING", "claim, me, over", "–", "lapsed: never forward now, release", "",
		onClaim, all(in(Processing), (*Case).me), say(wire.Lapsed),
	},
	{
		"claim-in-flight", "PROCESSING", "claim, other, not over", "–", "in-flight until lease_end", "",
		onClaim, all(in(Processing), not((*Case).over)), untilLease(wire.InFlight),
	},
	{
		"claim-unknown", "UNKNOWN", "claim, not over", "–", "outcome-unknown until lease_end", "",
		onClaim, all(in(Unknown), not((*Case).over)), untilLease(wire.OutcomeUnknown),
	},
	{
		"claim-noted", "PROCESSING", "claim, other, over, noted", "EXECUTED by the noted owner, out of the index", "response-not-kept", "",
		onClaim, all(in(Processing), (*Case).noted), sealAndTell,
	},
	{
		"claim-leaver", "PROCESSING, UNKNOWN", "claim that the next row would grant, me is a leaver", "–", "stale", "",
		onClaim, all(in(Processing, Unknown), (*Case).reacquires, (*Case).left), say(wire.Stale),
	},
	{
		"claim-takeover", "PROCESSING, UNKNOWN", "claim, over, `reacquire`, attempts left, not noted, not held (in PROCESSING: other)",
		"PROCESSING(F), maybe, attempts + 1", "created F, a take-over", "",
		onClaim, all(in(Processing, Unknown), (*Case).reacquires), takeOver,
	},
	{
		"claim-held", "PROCESSING, UNKNOWN", "claim, over, `probe` or `hold`, or no attempts left, or held", "–",
		"outcome-unknown, no Retry-After", "",
		onClaim, in(Processing, Unknown), noEnd,
	},
	{
		"claim-body", "EXECUTED", "claim, body on its way, lease not over", "–", "in-flight until lease_end", "",
		onClaim, all(in(Executed), not((*Case).over)), untilLease(wire.InFlight),
	},
	{
		"claim-executed", "EXECUTED", "claim, no body is coming, or lease over", "–", "response-not-kept, with the status", "",
		onClaim, in(Executed), tell(wire.ResponseNotKept),
	},
	{
		"claim-used", "COMPLETED", "claim, the rule rejects repeats", "–", "key-used, with the status", "",
		onClaim, func(c *Case) bool { return c.policy.RejectRepeat }, tell(wire.KeyUsed),
	},
	{
		"claim-replayed", "COMPLETED", "claim, the rule replays, result there", "–", "replayed", "",
		onClaim, func(c *Case) bool { return c.Before.Result != "" }, tell(wire.Replayed),
	},
	{
		"claim-not-kept", "COMPLETED", "claim, the rule replays, result missing", "–", "response-not-kept, with the status", "",
		onClaim, in(Completed), tell(wire.ResponseNotKept),
	},
}

var finalRows = []Row{
	{
		"final-live", "PROCESSING", "executed or complete, cur or new", "EXECUTED or COMPLETED, out of the index", "ok", "",
		onFinal, all(in(Processing), either((*Case).current, (*Case).newer)), finish,
	},
	{
		"final-noted", "PROCESSING", "executed or complete, older or other owner, 2xx", "noted: owner and status, the first one's; the claim stays",
		"stale", "",
		onFinal, all(in(Processing), (*Case).success), noteSuccess,
	},
	{
		"final-older", "PROCESSING", "the same, not 2xx", "–", "stale", "",
		onFinal, in(Processing), say(wire.Stale),
	},
	{
		"final-refused", "UNKNOWN, RELEASED, ISSUED", "executed or complete, older (not of me without a fence), not 2xx", "–", "stale", "",
		onFinal, all(in(Unknown, Released, Issued), (*Case).older, not((*Case).current), not((*Case).success)), say(wire.Stale),
	},
	{
		"final-unknown", "UNKNOWN", "executed or complete otherwise, any fence and owner", "EXECUTED or COMPLETED with the higher fence, out of the index",
		"ok", "",
		onFinal, in(Unknown), finish,
	},
	{
		"final-restored", "RELEASED, ISSUED, absent", "executed or complete otherwise, any fence and owner",
		"EXECUTED or COMPLETED with the higher fence, out of the index", "ok, restored", "",
		onFinal, in(Released, Issued, Absent), finishRestored,
	},
	{
		"final-body", "EXECUTED", "complete, me, within its life", "COMPLETED", "ok", "",
		onFinal, func(c *Case) bool {
			return c.Before.State == Executed && c.me() && c.Op.Kind == wire.Complete && !c.Before.Past(c.Now)
		}, finish,
	},
	{
		"final-no-body", "EXECUTED", "executed, me, no result will follow", "EXECUTED, no body is coming", "ok", "",
		onFinal, func(c *Case) bool {
			return c.Before.State == Executed && c.me() && c.Op.Kind == wire.Executed && c.Op.NoResult &&
				!c.Before.Past(c.Now) && !c.over()
		}, noBody,
	},
	{
		"final-again", "EXECUTED, COMPLETED, tombstone", "executed or complete otherwise: me / other", "–", "ok / stale", "",
		onFinal, always, byOwner,
	},
}

var unknownRows = []Row{
	{
		"unknown-noted", "PROCESSING noted", "unknown, cur or new", "EXECUTED by the noted owner, out of the index", "ok", "",
		onUnknown, all(in(Processing), (*Case).noted, either((*Case).current, (*Case).newer)), sealAndOK,
	},
	{
		"unknown-live", "PROCESSING", "unknown, cur", "UNKNOWN, lease_end kept", "ok", "",
		onUnknown, all(in(Processing), (*Case).current), becomeUnknown,
	},
	{
		"unknown-lost", "absent", "unknown, client key", "UNKNOWN, fresh lease", "ok, restored", "",
		onUnknown, all(in(Absent), not((*Case).issuedKey)), restoreUnknown,
	},
	{
		"unknown-lost-issued", "absent", "unknown, issued key", "UNKNOWN, fresh lease, held", "ok, restored", "",
		onUnknown, in(Absent), restoreHeld,
	},
	{
		"unknown-restored", "PROCESSING, RELEASED, ISSUED", "unknown, new (RELEASED, ISSUED: or cur), client key", "UNKNOWN, fresh lease", "ok, restored", "",
		onUnknown, all(in(Processing, Released, Issued), either((*Case).current, (*Case).newer), not((*Case).issuedKey)), restoreUnknown,
	},
	{
		"unknown-restored-issued", "PROCESSING, RELEASED, ISSUED", "the same, issued key", "UNKNOWN, fresh lease, held", "ok, restored", "",
		onUnknown, all(in(Processing, Released, Issued), either((*Case).current, (*Case).newer)), restoreHeld,
	},
	{
		"unknown-older", "PROCESSING, RELEASED, ISSUED", "unknown otherwise", "–", "stale", "",
		onUnknown, in(Processing, Released, Issued), say(wire.Stale),
	},
	{
		"unknown-again", "UNKNOWN, EXECUTED, COMPLETED, tombstone", "unknown: me / other", "–", "ok / stale", "",
		onUnknown, always, byOwner,
	},
}

func releases(c *Case) bool {
	return c.Before.State == Processing && c.current()
}

var releaseRows = []Row{
	{
		"release-lost", "absent", "release, client key", "RELEASED", "ok", "",
		onRelease, all(in(Absent), not((*Case).issuedKey)), leaveMarker,
	},
	{
		"release-noted", "PROCESSING noted", "release, cur", "EXECUTED by the noted owner, out of the index", "ok", "",
		onRelease, all(releases, (*Case).noted), sealAndOK,
	},
	{
		"release-takeover", "PROCESSING", "release, cur, after a take-over (maybe)", "UNKNOWN, over, attempts - 1, fingerprint kept; me a leaver", "ok", "",
		onRelease, all(releases, func(c *Case) bool { return c.Before.Maybe }), giveBack,
	},
	{
		"release-issued", "PROCESSING", "release, cur, no maybe, issued key", "ISSUED again, out of the index", "ok", "",
		onRelease, all(releases, (*Case).issuedKey), issueAgain,
	},
	{
		"release-live", "PROCESSING", "release, cur, no maybe, client key", "RELEASED, out of the index", "ok", "",
		onRelease, releases, free,
	},
	{
		"release-leaver", "ISSUED, RELEASED, PROCESSING, UNKNOWN", "release otherwise (not of who released it)", "the same; me a leaver", "ok", "",
		onRelease, func(c *Case) bool {
			return in(Processing, Unknown)(c) || in(Issued, Released)(c) && !c.me()
		}, leaveAlone,
	},
	{
		"release-again", "ISSUED, RELEASED", "release, me released it", "the same, for a marker's life from now", "ok", "",
		onRelease, all(in(Issued, Released), (*Case).me), remark,
	},
	{
		"release-nothing", "any other", "release", "–", "ok, nothing done", "",
		onRelease, always, say(wire.OK),
	},
}

var renewRows = []Row{
	{
		"renew-live", "PROCESSING, EXECUTED", "renew, me, fence equal, not over", "lease_end later", "ok, what is left of the lease", "",
		onRenew, all(in(Processing, Executed), (*Case).me, not((*Case).over), func(c *Case) bool {
			return c.Op.Fence == c.Before.Fence
		}), renew,
	},
	{
		"renew-late", "any other", "renew", "–", "stale", "",
		onRenew, always, say(wire.Stale),
	},
}

// laterRows are of parts that stand beside the store.
var laterRows = []Row{
	{"ledger-claim-lost", "absent", "claim, issued key", "PROCESSING(F); the ledger decides", "created F", "the ledger", nil, nil, nil},
	{"ledger-claim-released", "RELEASED", "claim, other, issued key", "PROCESSING(F)", "created F", "the ledger", nil, nil, nil},
	{"ledger-unknown", "absent, RELEASED, ISSUED, older", "unknown, issued key", "UNKNOWN, not held", "ok", "the ledger", nil, nil, nil},
	{"ledger-release", "absent", "release, issued key", "RELEASED", "ok", "the ledger", nil, nil, nil},
}
