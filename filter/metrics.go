package filter

// Metric is one of the filter's counters.
type Metric uint8

// The counters. Their names are fixed; they carry no labels.
const (
	MetricCovered Metric = iota
	MetricCreated
	MetricReplayed
	MetricReplayedLocally
	MetricInFlight
	MetricKeyReused
	MetricKeyRefused
	MetricPrincipalMissing
	MetricKeyNotIssued
	MetricKeyForeign
	MetricKeyExpired
	MetricKeyUsed
	MetricOutcomeUnknown
	MetricResponseNotKept
	MetricTooLarge
	MetricUnavailable
	MetricUnprotected
	MetricMisconfigured
	MetricIssued
	MetricTakeover
	MetricReleased
	MetricCompleted
	MetricExecuted
	MetricUnknown
	MetricUnconfirmed
	MetricStale
	MetricDropped
	MetricCallout
	MetricOperation
	MetricBridgeError
	MetricPanic
	MetricInvalidRecord
	MetricOverQuota
	MetricWaited
	MetricPoll
	MetricPollFailed
	MetricTooManyWaiting
	MetricBreakerOpened
	MetricLocalClaimed
	MetricLocalRefused
	MetricLocalFull
	MetricOverBudget
	MetricReloaded
	MetricObserved
	metricCount
)

// MetricNames are the counters' names in the order of their values.
var metricNames = [metricCount]string{
	"idempotency.covered",
	"idempotency.created",
	"idempotency.replayed",
	"idempotency.replayed_locally",
	"idempotency.in_flight",
	"idempotency.key_reused",
	"idempotency.key_refused",
	"idempotency.principal_missing",
	"idempotency.key_not_issued",
	"idempotency.key_foreign",
	"idempotency.key_expired",
	"idempotency.key_used",
	"idempotency.outcome_unknown",
	"idempotency.response_not_kept",
	"idempotency.too_large",
	"idempotency.unavailable",
	"idempotency.failure_mode_allowed",
	"idempotency.misconfigured",
	"idempotency.issued",
	"idempotency.takeover",
	"idempotency.op_released",
	"idempotency.op_completed",
	"idempotency.op_executed",
	"idempotency.op_unknown",
	"idempotency.answer_unconfirmed",
	"idempotency.stale",
	"idempotency.result_dropped",
	"idempotency.callouts",
	"idempotency.operations",
	"idempotency.bridge_error",
	"idempotency.panic",
	"idempotency.invalid_record",
	"idempotency.over_quota",
	"idempotency.waited",
	"idempotency.polls",
	"idempotency.poll_failed",
	"idempotency.too_many_waiting",
	"idempotency.breaker_opened",
	"idempotency.local_claimed",
	"idempotency.local_refused",
	"idempotency.local_full",
	"idempotency.over_budget",
	"idempotency.reloaded",
	"idempotency.observed",
}

// Metrics returns the names of the counters, indexed by [Metric].
func Metrics() []string { return metricNames[:] }
