package filter

// Metric is one of the filter's counters.
type Metric uint8

// The counters. Their names are fixed and carry no labels; docs/operations.md says
// what each counts.
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

// metricNames are the counters as Envoy shows them.
var metricNames = [metricCount]string{
	MetricCovered:          "idempotency.covered",
	MetricCreated:          "idempotency.created",
	MetricReplayed:         "idempotency.replayed",
	MetricReplayedLocally:  "idempotency.replayed_locally",
	MetricInFlight:         "idempotency.in_flight",
	MetricKeyReused:        "idempotency.key_reused",
	MetricKeyRefused:       "idempotency.key_refused",
	MetricPrincipalMissing: "idempotency.principal_missing",
	MetricKeyNotIssued:     "idempotency.key_not_issued",
	MetricKeyForeign:       "idempotency.key_foreign",
	MetricKeyExpired:       "idempotency.key_expired",
	MetricKeyUsed:          "idempotency.key_used",
	MetricOutcomeUnknown:   "idempotency.outcome_unknown",
	MetricResponseNotKept:  "idempotency.response_not_kept",
	MetricTooLarge:         "idempotency.too_large",
	MetricUnavailable:      "idempotency.unavailable",
	MetricUnprotected:      "idempotency.failure_mode_allowed",
	MetricMisconfigured:    "idempotency.misconfigured",
	MetricIssued:           "idempotency.issued",
	MetricTakeover:         "idempotency.takeover",
	MetricReleased:         "idempotency.op_released",
	MetricCompleted:        "idempotency.op_completed",
	MetricExecuted:         "idempotency.op_executed",
	MetricUnknown:          "idempotency.op_unknown",
	MetricUnconfirmed:      "idempotency.answer_unconfirmed",
	MetricStale:            "idempotency.stale",
	MetricDropped:          "idempotency.result_dropped",
	MetricCallout:          "idempotency.callouts",
	MetricOperation:        "idempotency.operations",
	MetricBridgeError:      "idempotency.bridge_error",
	MetricPanic:            "idempotency.panic",
	MetricInvalidRecord:    "idempotency.invalid_record",
	MetricOverQuota:        "idempotency.over_quota",
	MetricWaited:           "idempotency.waited",
	MetricPoll:             "idempotency.polls",
	MetricPollFailed:       "idempotency.poll_failed",
	MetricTooManyWaiting:   "idempotency.too_many_waiting",
	MetricBreakerOpened:    "idempotency.breaker_opened",
	MetricLocalClaimed:     "idempotency.local_claimed",
	MetricLocalRefused:     "idempotency.local_refused",
	MetricLocalFull:        "idempotency.local_full",
	MetricOverBudget:       "idempotency.over_budget",
	MetricReloaded:         "idempotency.reloaded",
	MetricObserved:         "idempotency.observed",
}

// Metrics returns the names of the counters, indexed by [Metric].
func Metrics() []string { return metricNames[:] }
