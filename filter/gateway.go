package filter

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"encoding/hex"
	"strconv"
	"time"

	"github.com/oncewall/oncewall/filter/rules"
)

// A request may pass two gateways. Another namespace is another gateway: it
// claims the key for itself. The own namespace is a loop, and the request passes:
// it would wait for itself. Anyone can write the namespace into a header, so it
// counts only with a proof: a MAC, under the secret that the namespace's gateways
// share with the bridge, of what the claim is of. It is worth something for that
// key and that request alone, and for no longer than the claim was to be trusted.

// proofBytes are what is sent of the MAC.
const proofBytes = 16

// proofSlack is how much longer than its lease a claim is believed, for clocks
// that differ.
const proofSlack = time.Minute

// proof is what a request says of the gateway that it has passed.
type proof struct {
	fence, attempt string
	mac            string
}

// SetSecret gives the worker the secret that all gateways of its namespace share.
// Without one it proves nothing and believes nothing.
func (w *Worker) SetSecret(secret string) {
	if secret == "" {
		return
	}
	m := hmac.New(sha256.New, []byte(secret))
	m.Write([]byte("oncewall: this request has passed a gateway"))
	w.gatewayKey = m.Sum(nil)
}

// readProof notes what a request says of a gateway of this namespace; the headers
// themselves are removed like any that a client sends.
func (s *Stream) readProof(r Request) {
	if s.w.gatewayKey == nil || s.rule == nil {
		return
	}
	macs := r.Header(HeaderProof)
	if len(macs) != 1 || len(macs[0]) != 2*proofBytes {
		return
	}
	namespaces, fences, attempts := r.Header(HeaderGateway), r.Header(HeaderFence), r.Header(HeaderAttempt)
	if len(namespaces) != 1 || namespaces[0] != s.w.cfg.Namespace || len(fences) != 1 || len(attempts) != 1 {
		return
	}
	s.proof = &proof{fence: fences[0], attempt: attempts[0], mac: macs[0]}
}

// comesBack reports whether the request has passed a gateway of this namespace,
// which holds the claim of its key.
func (s *Stream) comesBack(now int64) bool {
	p := s.proof
	if p == nil {
		return false
	}
	fence, err := strconv.ParseUint(p.fence, 10, 63)
	if err != nil || subtle.ConstantTimeCompare([]byte(s.prove(fence)), []byte(p.mac)) != 1 {
		return false
	}
	if s.w.epoch == 0 {
		return true
	}
	// A fence is the clock's microseconds at the claim, or a little more.
	age := time.Duration(s.w.epoch + now - int64(fence)*int64(time.Microsecond))
	return age.Abs() <= s.rule.Recovery.Lease+proofSlack
}

// prove is the MAC that says that this stream's key is claimed with a fence, for a
// request of this fingerprint: method, target, and what the rule compares besides.
func (s *Stream) prove(fence uint64) string {
	m := hmac.New(sha256.New, s.w.gatewayKey)
	b := make([]byte, 0, 256)
	for _, part := range [...]string{s.w.cfg.Namespace, s.rule.Scope, s.principal, s.key, string(s.fingerprint)} {
		b = binary.BigEndian.AppendUint32(b, uint32(len(part)))
		b = append(b, part...)
	}
	m.Write(binary.BigEndian.AppendUint64(b, fence))
	return hex.EncodeToString(m.Sum(nil)[:proofBytes])
}

// passBack lets a request through that has come back: it is the claim of the
// gateway before, and goes on as that one sent it.
func (s *Stream) passBack() {
	s.emit(SetRequestHeader, HeaderFence, s.proof.fence)
	s.emit(SetRequestHeader, HeaderAttempt, s.proof.attempt)
	s.emit(SetRequestHeader, HeaderGateway, s.w.cfg.Namespace)
	s.emit(SetRequestHeader, HeaderProof, s.proof.mac)
	if s.rule.EnvoyRetries == rules.RetriesOff {
		s.emit(SetRequestHeader, headerMaxRetries, "0")
	}
	s.emit(SetRequestHeader, headerUpstreamTimeout, s.rule.timeout)
	s.dropBody()
	s.state = statePassing
	s.tell(Decision{Code: CodeLoop})
}

// refusals says what an answer of another gateway's means for a claim here. It
// is never recorded: the next retry is that gateway's to answer. Most say that
// the request went no further; two may come after it did.
var refusals = map[Code]rules.Outcome{
	CodeInFlight: rules.OutcomeRelease, CodeTooManyWaiting: rules.OutcomeRelease,
	CodeKeyReused: rules.OutcomeRelease, CodeKeyMissing: rules.OutcomeRelease, CodeKeyInvalid: rules.OutcomeRelease,
	CodePrincipalMissing: rules.OutcomeRelease, CodeKeyNotIssued: rules.OutcomeRelease, CodeKeyForeign: rules.OutcomeRelease,
	CodeKeyExpired: rules.OutcomeRelease, CodeKeyUsed: rules.OutcomeRelease, CodeResponseNotKept: rules.OutcomeRelease,
	CodeTooLarge: rules.OutcomeRelease, CodeUnavailable: rules.OutcomeRelease, CodeOverQuota: rules.OutcomeRelease,
	CodeReleased:       rules.OutcomeRelease,
	CodeOutcomeUnknown: rules.OutcomeUnknown, CodeMisconfigured: rules.OutcomeUnknown,
}
