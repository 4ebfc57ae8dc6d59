package admin

import (
	"errors"
	"net/http"

	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/client/api"
	"github.com/oncewall/oncewall/filter/wire"
)

// docs is where pages about problems are. Those that the gateway answers too have
// a page each, the API's own an anchor.
const (
	docs      = "https://github.com/oncewall/oncewall/blob/main/docs/"
	pageOf    = docs + "problems/"
	anchorsOf = docs + "api.md#"
)

// kind is the fixed part of a problem.
type kind struct {
	code      string
	status    int
	retryable bool
	title     string
	page      bool // docs/problems has one
}

var (
	internal         = kind{"internal", http.StatusInternalServerError, true, "An error inside the bridge", false}
	unauthorized     = kind{"unauthorized", http.StatusUnauthorized, false, "The Authorization header carries no secret with this role", false}
	forbidden        = kind{"forbidden", http.StatusForbidden, false, "This caller may have no keys in this namespace and scope", false}
	notFound         = kind{"not-found", http.StatusNotFound, false, "No such path", false}
	methodNotAllowed = kind{"method-not-allowed", http.StatusMethodNotAllowed, false, "This path has another method", false}
	unsupportedType  = kind{"unsupported-type", http.StatusUnsupportedMediaType, false, "The body must be application/json", false}
	tooMany          = kind{"too-many-requests", http.StatusServiceUnavailable, true, "Too many requests of the API are under way", false}
	tooLarge         = kind{"body-too-large", http.StatusRequestEntityTooLarge, false, "The body is too large", false}
	invalidRequest   = kind{"invalid", http.StatusBadRequest, false, "The request is not valid", false}
	conflict         = kind{"conflict", http.StatusConflict, false, "The record is not as it was when the decision was made", false}
	unresolved       = kind{"unresolved", http.StatusConflict, false, "The record is unresolved: its request may be under way or may have run", false}
	leaseLive        = kind{"lease-live", http.StatusConflict, true, "The record's lease is not over", false}
	storeAway        = kind{"unavailable", http.StatusServiceUnavailable, true, "The store did not answer in time", true}
)

// refusals are the outcomes of an operation that did not give its caller what was
// asked for.
var refusals = map[wire.Code]kind{
	wire.InFlight:        {"in-flight", http.StatusConflict, true, "Another owner's claim is live", true},
	wire.KeyReused:       {"key-reused", http.StatusUnprocessableEntity, false, "The key was used with another fingerprint", true},
	wire.KeyUsed:         {"key-used", http.StatusConflict, false, "The key has been used", true},
	wire.KeyExpired:      {"key-expired", http.StatusGone, false, "The key has expired", true},
	wire.OutcomeUnknown:  {"outcome-unknown", http.StatusConflict, true, "An earlier owner's outcome is not known", true},
	wire.ResponseNotKept: {"response-not-kept", http.StatusConflict, false, "It was executed; its result was not kept", true},
	wire.KeyNotIssued:    {"key-not-issued", http.StatusBadRequest, false, "The key was not issued here", true},
	wire.KeyForeign:      {"key-foreign", http.StatusForbidden, false, "The key was issued to another principal or scope", true},
	wire.Stale:           {"stale", http.StatusConflict, false, "A newer claim or a final word is there", false},
	wire.Lapsed:          {"lapsed", http.StatusConflict, false, "This owner's own claim outlived its lease", false},
	wire.Unavailable:     storeAway,
	wire.Invalid:         invalidRequest,
	wire.OverQuota:       {"over-quota", http.StatusTooManyRequests, true, "The namespace's quota of new keys is used up", true},
}

func problem(k kind) *api.Problem {
	t := anchorsOf + k.code
	if k.page {
		t = pageOf + k.code + ".md"
	}
	return &api.Problem{Type: t, Title: k.title, Status: k.status, Code: k.code, Retryable: k.retryable}
}

// invalid is the refusal of a request for what detail says. It names members and
// bounds, never what was sent.
func invalid(detail string) *api.Problem {
	p := problem(invalidRequest)
	p.Detail = detail
	return p
}

// refused tells an outcome as a problem.
func refused(r *wire.Result) *api.Problem {
	k, ok := refusals[r.Code]
	if !ok {
		k = internal
	}
	p := problem(k)
	p.Detail = r.Text
	p.RetryAfterMS = r.RetryAfterMS
	p.OriginalStatus = int(r.Status)
	for _, id := range r.Differs {
		p.Parts = append(p.Parts, wire.PartID(id).String())
	}
	return p
}

// away tells why an operator's request found nothing out.
func away(err error) *api.Problem {
	if errors.Is(err, store.ErrBadCursor) {
		return invalid("cursor: not one of an earlier page")
	}
	if errors.Is(err, store.ErrUnavailable) {
		return problem(storeAway)
	}
	return problem(internal)
}
