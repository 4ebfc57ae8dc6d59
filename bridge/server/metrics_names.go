package server

import "github.com/oncewall/oncewall/filter/wire"

// Label values. An index without a name is counted as "other".
var (
	operationNames = [...]string{
		wire.Issue: "issue", wire.Claim: "claim", wire.Executed: "executed", wire.Complete: "complete",
		wire.Release: "release", wire.Unknown: "unknown", wire.Renew: "renew", wire.Wait: "wait", wire.Get: "get",
	}
	outcomeNames = [...]string{
		wire.OK: "ok", wire.Created: "created", wire.Replayed: "replayed", wire.InFlight: "in-flight",
		wire.KeyReused: "key-reused", wire.KeyUsed: "key-used", wire.KeyExpired: "key-expired",
		wire.OutcomeUnknown: "outcome-unknown", wire.ResponseNotKept: "response-not-kept",
		wire.KeyNotIssued: "key-not-issued", wire.KeyForeign: "key-foreign", wire.Stale: "stale",
		wire.Lapsed: "lapsed", wire.Issued: "issued", wire.Unavailable: "unavailable", wire.Invalid: "invalid",
		wire.OverQuota: "over-quota", wire.Free: "free", wire.TooManyWaiting: "too-many-waiting",
		wire.Found: "found", wire.NotFound: "not-found",
	}
)

func operationName(k wire.Kind) string {
	if int(k) >= len(operationNames) {
		k = 0
	}
	return label(operationNames[k])
}

func outcomeName(c wire.Code) string {
	if int(c) >= len(outcomeNames) {
		c = 0
	}
	return label(outcomeNames[c])
}

func label(name string) string {
	if name == "" {
		return "other"
	}
	return name
}
