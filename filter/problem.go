package filter

import (
	"strconv"

	"github.com/oncewall/oncewall/filter/wire"
)

// Code is the outcome of a covered request as the client reads it in
// Idempotency-Status and in a problem document.
type Code string

// The codes of docs/problems.
const (
	CodeCreated          Code = "created"
	CodeReplayed         Code = "replayed"
	CodeInFlight         Code = "in-flight"
	CodeKeyReused        Code = "key-reused"
	CodeKeyMissing       Code = "key-missing"
	CodeKeyInvalid       Code = "key-invalid"
	CodePrincipalMissing Code = "principal-missing"
	CodeKeyNotIssued     Code = "key-not-issued"
	CodeKeyForeign       Code = "key-foreign"
	CodeKeyExpired       Code = "key-expired"
	CodeKeyUsed          Code = "key-used"
	CodeOutcomeUnknown   Code = "outcome-unknown"
	CodeResponseNotKept  Code = "response-not-kept"
	CodeTooLarge         Code = "too-large"
	CodeUnavailable      Code = "unavailable"
	CodeOverQuota        Code = "over-quota"
	CodeTooManyWaiting   Code = "too-many-waiting"
	CodeUnprotected      Code = "unprotected"
	CodeMisconfigured    Code = "misconfigured"
	CodeReleased         Code = "released"
	CodeScopeUnknown     Code = "scope-unknown"
	CodeKeyUnknown       Code = "key-unknown"
	CodeIssued           Code = "issued"
)

// problemBase is where the pages of docs/problems are published.
const problemBase = "https://github.com/oncewall/oncewall/blob/main/docs/problems/"

// problem is the fixed part of a refusal.
type problem struct {
	code      Code
	status    uint32
	grpc      int32 // grpc-status, for requests that are gRPC
	title     string
	detail    string
	retryable bool
	metric    Metric
}

// The refusals, with their default statuses. Texts are fixed: nothing that a
// client sent enters them.
var (
	problemInFlight = &problem{CodeInFlight, 409, 10, "The same request is being processed",
		"A request with this idempotency key has been forwarded and has not been answered yet. Retry with the same key.", true, MetricInFlight}
	problemTooManyWaiting = &problem{CodeTooManyWaiting, 409, 10, "Too many requests wait for this one",
		"A request with this idempotency key has been forwarded and has not been answered yet, and no more requests can wait for its answer. Retry with the same key.", true, MetricTooManyWaiting}
	problemKeyReused = &problem{CodeKeyReused, 422, 3, "The idempotency key was used for another request",
		"This key belongs to a request that differs in the parts listed. Use a new key for a new request.", false, MetricKeyReused}
	problemKeyMissing = &problem{CodeKeyMissing, 400, 3, "An idempotency key is required",
		"This operation needs an idempotency key. See the operation's documentation for where it goes.", false, MetricKeyRefused}
	problemKeyInvalid = &problem{CodeKeyInvalid, 400, 3, "The idempotency key is not valid",
		"The key must be one value: a string of visible ASCII characters within the allowed length.", false, MetricKeyRefused}
	problemPrincipalMissing = &problem{CodePrincipalMissing, 401, 16, "The caller is not known",
		"Idempotency keys belong to a caller, and this request does not carry what names one.", false, MetricPrincipalMissing}
	problemKeyNotIssued = &problem{CodeKeyNotIssued, 400, 3, "The idempotency key was not issued here",
		"This operation takes only keys that this gateway issued. Ask for one and send it unchanged.", false, MetricKeyNotIssued}
	problemKeyForeign = &problem{CodeKeyForeign, 403, 7, "The idempotency key was issued to another caller or for another operation",
		"The key was not consumed.", false, MetricKeyForeign}
	problemKeyExpired = &problem{CodeKeyExpired, 410, 9, "The idempotency key has expired",
		"Nothing was forwarded. Look at the state of the operation before sending it again under a new key.", false, MetricKeyExpired}
	problemKeyUsed = &problem{CodeKeyUsed, 409, 6, "The idempotency key has been used",
		"The operation with this key has been executed; it is not executed again.", false, MetricKeyUsed}
	problemOutcomeUnknown = &problem{CodeOutcomeUnknown, 409, 10, "The outcome of the first request is not known",
		"A request with this key was forwarded and no complete answer came. It is not forwarded again until its outcome is known.", true, MetricOutcomeUnknown}
	problemNotKept = &problem{CodeResponseNotKept, 409, 6, "The request was executed; its response was not kept",
		"The operation with this key has been executed with the status given. It is not executed again.", false, MetricResponseNotKept}
	problemTooLarge = &problem{CodeTooLarge, 413, 8, "The request is too large to be compared with a repeat of it",
		"Nothing was forwarded and the key was not consumed.", false, MetricTooLarge}
	problemUnavailable = &problem{CodeUnavailable, 503, 14, "The idempotency store is not available",
		"Nothing was forwarded. Retry with the same key.", true, MetricUnavailable}
	problemOverQuota = &problem{CodeOverQuota, 429, 8, "Too many new idempotency keys",
		"Nothing was forwarded and the key was not consumed. Retry with the same key.", true, MetricOverQuota}
	problemMisconfigured = &problem{CodeMisconfigured, 500, 13, "The gateway is not configured for this request",
		"Nothing was forwarded.", false, MetricMisconfigured}
	problemScopeUnknown = &problem{CodeScopeUnknown, 400, 3, "No key can be issued for this scope",
		"The body must be a JSON object whose member scope names an operation that takes issued keys.", false, MetricKeyRefused}
	problemLookupScope = &problem{CodeScopeUnknown, 400, 3, "It is not clear which operation's key is meant",
		"Name the operation's scope in the query: ?scope=NAME.", false, MetricKeyRefused}
	problemKeyUnknown = &problem{CodeKeyUnknown, 404, 5, "Nothing is known of this key",
		"No request of this caller with this key has been seen in this scope, or it has been forgotten.", false, MetricKeyRefused}
)

// extra is what a single refusal adds to its fixed part.
type extra struct {
	retryAfterMS int64  // > 0: Retry-After, rounded up to seconds
	parts        []byte // key-reused: one PartID a byte
	status       uint16 // response-not-kept, key-used: the original status
	until        string // when a lease ends, an HTTP date
	reason       string // key-invalid: fixed text of the rule that was broken
}

// problem is p with the status that the rule gives it.
func (r *Rule) problem(p *problem) *problem {
	status, ok := r.statuses[p.code]
	if !ok {
		return p
	}
	q := *p
	q.status = status
	return &q
}

// reply renders the problem document (RFC 9457).
func (p *problem) reply(x extra) *LocalReply {
	b := make([]byte, 0, 512)
	b = append(b, `{"type":"`...)
	b = append(b, problemBase...)
	b = append(b, p.code...)
	b = append(b, `.md","title":"`...)
	b = append(b, p.title...)
	b = append(b, `","status":`...)
	b = strconv.AppendUint(b, uint64(p.status), 10)
	b = append(b, `,"detail":"`...)
	b = append(b, p.detail...)
	if x.reason != "" {
		b = append(b, ' ')
		b = append(b, x.reason...)
	}
	b = append(b, `","code":"`...)
	b = append(b, p.code...)
	b = append(b, `","retryable":`...)
	b = strconv.AppendBool(b, p.retryable)
	if len(x.parts) > 0 {
		b = append(b, `,"parts":[`...)
		for i, id := range x.parts {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(b, '"')
			b = append(b, wire.PartID(id).String()...)
			b = append(b, '"')
		}
		b = append(b, ']')
	}
	if x.status != 0 {
		b = append(b, `,"original_status":`...)
		b = strconv.AppendUint(b, uint64(x.status), 10)
	}
	b = append(b, '}', '\n')
	h := make([][2]string, 0, 8)
	h = append(h, [2]string{"content-type", "application/problem+json"},
		[2]string{"cache-control", "no-store"},
		[2]string{"link", "<" + problemBase + string(p.code) + `.md>; rel="describedby"`},
		[2]string{HeaderStatus, string(p.code)})
	if x.until != "" {
		h = append(h, [2]string{HeaderLeaseUntil, x.until})
	}
	if p.retryable && x.retryAfterMS > 0 {
		h = append(h, [2]string{"retry-after", strconv.FormatInt((x.retryAfterMS+999)/1000, 10)})
	}
	return &LocalReply{Status: p.status, Details: detailsPrefix + string(p.code), Headers: h, Body: b, GRPC: p.grpc}
}

// problemPanic has the code of a gateway that is not fit for the request: unlike
// problemMisconfigured it cannot say how far the request got.
var problemPanic = &problem{CodeMisconfigured, 500, 13, "The gateway failed",
	"It is not known whether the request was forwarded. Retry with the same key.", true, MetricPanic}

// PanicReply is what a stream gets that a fault of the filter itself has
// stopped.
var PanicReply = func() *LocalReply {
	r := problemPanic.reply(extra{})
	r.Details = "oncewall_panic"
	return r
}()
