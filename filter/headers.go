package filter

import (
	"strings"

	"github.com/oncewall/oncewall/filter/rules"
	"github.com/oncewall/oncewall/filter/wire"
)

// Header names of the protocol, in lower case as Envoy hands them over.
const (
	// HeaderStatus carries the code on every protected response, and upstream on
	// a request that is forwarded without protection.
	HeaderStatus = "idempotency-status"
	// HeaderReplayed is "true" on a replay.
	HeaderReplayed = "idempotent-replayed"
	// HeaderAge is the age of the replayed record in seconds, HeaderExpiresIn
	// what is left of its life.
	HeaderAge       = "idempotency-age"
	HeaderExpiresIn = "idempotency-expires-in"
	// HeaderFirstSeen is when the replayed record was claimed, HeaderLeaseUntil when
	// the claim of a concurrent request ends unless it is renewed: HTTP dates by the
	// gateway's clock.
	HeaderFirstSeen  = "idempotency-first-seen"
	HeaderLeaseUntil = "idempotency-lease-until"
	// HeaderRecorded marks an answer whose record the store has not acknowledged:
	// "pending", or "superseded" where a newer owner holds the key.
	HeaderRecorded = "idempotency-recorded"
	// HeaderRedacted is "true" on a replay in which values are null that the first
	// client got.
	HeaderRedacted = "idempotency-redacted"
	// HeaderFence, HeaderAttempt and HeaderGateway go upstream.
	HeaderFence   = "idempotency-fence"
	HeaderAttempt = "idempotency-attempt"
	HeaderGateway = "idempotency-gateway"
	// HeaderProof is for gateways of the same namespace behind this one.
	HeaderProof = "idempotency-gateway-proof"
	// HeaderOutcome is upstream's own word: final, not-executed or no-store.
	HeaderOutcome = "idempotency-outcome"
	// HeaderTTL is upstream's own word on the life of its result, in seconds.
	HeaderTTL = "idempotency-ttl"

	headerMaxRetries      = "x-envoy-max-retries"
	headerUpstreamTimeout = "x-envoy-upstream-rq-timeout-ms"
)

// ownRequestHeaders are removed from what a client sends.
var ownRequestHeaders = []string{HeaderFence, HeaderAttempt, HeaderGateway, HeaderProof, HeaderStatus, HeaderOutcome, HeaderTTL}

// timeoutRequestHeaders set how long upstream may take, beside the one header that
// the rule's upstream_timeout is written to.
var timeoutRequestHeaders = []string{"x-envoy-upstream-stream-duration-ms"}

// retryRequestHeaders let a client widen Envoy's retries or timeouts; on a
// covered request with envoy_retries off they are removed.
var retryRequestHeaders = []string{
	"x-envoy-retry-on", "x-envoy-retry-grpc-on", "x-envoy-hedge-on-per-try-timeout",
	"x-envoy-upstream-rq-per-try-timeout-ms", "x-envoy-retriable-status-codes",
	"x-envoy-retriable-header-names",
}

// notRecorded lists header lines that belong to one exchange, to one hop, to
// this filter, or to a caller's session. They never enter a record, but for what
// a rule opts in to ([optIn]).
var notRecorded = map[string]bool{
	// hop by hop (RFC 9110, section 7.6.1)
	"connection": true, "keep-alive": true, "proxy-connection": true, "te": true,
	"trailer": true, "transfer-encoding": true, "upgrade": true,
	// made anew for each answer
	"content-length": true, "date": true, "via": true, "alt-svc": true,
	"x-envoy-upstream-service-time": true, "x-envoy-attempt-count": true,
	"x-envoy-decorator-operation": true, "x-request-id": true, "preference-applied": true,
	// ours
	HeaderStatus: true, HeaderReplayed: true, HeaderAge: true, HeaderExpiresIn: true,
	HeaderFirstSeen: true, HeaderLeaseUntil: true,
	HeaderRecorded: true, HeaderOutcome: true, HeaderTTL: true, HeaderFence: true, HeaderAttempt: true, HeaderGateway: true, HeaderProof: true,
}

// ofEnvoy reports whether a header line is Envoy's or of a mesh around it: it tells
// the next hop about this exchange. A replay of x-envoy-immediate-health-check-fail
// would take its gateway out of service at a load balancer. Records of earlier
// versions may have such lines, which is no fault ([CheckResponse]).
func ofEnvoy(name string) bool { return strings.HasPrefix(name, "x-envoy-") }

// nominated returns what the Connection lines of an answer name (RFC 9110, section
// 7.6.1), each between two commas; "": nothing. Envoy does not take these lines out
// of an answer.
func nominated(lines []wire.HeaderLine) (names string) {
	for _, l := range lines {
		if l.Name == "connection" {
			names += "," + strings.ToLower(strings.NewReplacer(" ", "", "\t", "").Replace(l.Value)) + ","
		}
	}
	return names
}

// names reports whether a list of nominated has a name.
func names(list, name string) bool {
	return list != "" && strings.Contains(list, ","+name+",")
}

// optIn reports whether a header line is recorded only where the rule asks for it
// (record.keep_headers): credentials, and what a browser was told of one origin.
func optIn(name string) bool { return rules.OptIn(name) }

// ownResponseHeaders are removed from what upstream answers: only this gateway
// speaks of its records, and what it tells upstream is not for clients, if a
// backend echoes it.
var ownResponseHeaders = []string{HeaderStatus, HeaderReplayed, HeaderAge, HeaderExpiresIn,
	HeaderFirstSeen, HeaderLeaseUntil, HeaderRecorded, HeaderRedacted, HeaderOutcome, HeaderTTL,
	HeaderFence, HeaderAttempt, HeaderGateway, HeaderProof}

// ofWholeBody lists header lines that are true of the whole body alone: with
// values redacted they are dropped.
var ofWholeBody = map[string]bool{
	"etag": true, "content-md5": true, "digest": true, "content-digest": true, "repr-digest": true,
}

// hasPrefixFold is strings.HasPrefix without regard to ASCII case; prefix is in
// lower case.
func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

// validName reports whether s is a field name in lower case (RFC 9110, section
// 5.6.2).
func validName(s string) bool {
	if s == "" {
		return false
	}
	for i := 0; i < len(s); i++ {
		if !nameByte[s[i]] {
			return false
		}
	}
	return true
}

var nameByte = func() (t [256]bool) {
	for _, c := range []byte("abcdefghijklmnopqrstuvwxyz0123456789!#$%&'*+-.^_`|~") {
		t[c] = true
	}
	return t
}()

// validValue reports whether s can stand as a field value: no control byte but
// the tab.
func validValue(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}

// isGRPC reports whether a Content-Type is that of gRPC: application/grpc, with a
// "+" and the messages' format or parameters behind it. gRPC-Web is none, whose
// answers are ordinary ones.
func isGRPC(contentType string) bool {
	const name = "application/grpc"
	return hasPrefixFold(contentType, name) &&
		(len(contentType) == len(name) || strings.IndexByte("+; \t", contentType[len(name)]) >= 0)
}
