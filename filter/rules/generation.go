package rules

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
)

// generation digests the effective rule: two rules have one generation only if
// no field differs. It goes into records and cache entries, so a new field is
// appended at the end and only when it is set.
func generation(r *Rule) string {
	var d digest
	d.text(r.Name, r.Scope)
	d.list(r.Match.Methods)
	d.text(r.Match.Exact, r.Match.Prefix)
	pr := r.Principal
	d.number(int64(pr.Kind))
	d.text(pr.Header, pr.Claim, pr.Issuer, pr.Payload, pr.Const)
	d.number(int64(len(r.Key.From)))
	for _, from := range r.Key.From {
		d.text(from.Header)
		d.list(from.JSON)
	}
	d.flag(r.Key.Required, r.Key.Issued)
	d.number(int64(r.Key.MaxLength), int64(r.Fingerprint.Body), r.Fingerprint.MaxBody)
	d.list(r.Fingerprint.Headers)
	d.number(int64(r.InFlight.Action), int64(r.InFlight.MaxWait))
	d.number(int64(r.Completed.Action), int64(r.Completed.TTL), int64(r.Completed.TombstoneTTL))
	d.number(r.Record.MaxBody, int64(r.Record.When))
	d.flag(r.Record.Body)
	d.list(r.Record.DropHeaders)
	d.number(int64(r.UpstreamTimeout), int64(r.EnvoyRetries))
	d.number(int64(r.Recovery.Lease), int64(r.Recovery.Action), int64(r.Recovery.MaxAttempts))
	d.number(int64(r.Unavailable), int64(r.Mode))
	// Added later: a rule without it keeps the digest that it had.
	if n := r.Durability.Replicas; n > 0 {
		d.number(int64(n))
	}
	if len(r.Record.Redact) > 0 {
		// The name comes first: what follows is then no other late field's.
		d.text("redact")
		d.list(r.Record.Redact)
	}
	if len(r.Fingerprint.Ignore) > 0 {
		d.text("ignore")
		d.list(r.Fingerprint.Ignore)
	}
	if r.Fingerprint.Over > OverReject {
		d.text("over")
		d.number(int64(r.Fingerprint.Over))
	}
	if n := r.Fingerprint.MaxDecodedBody; n != defaultDecodedBody {
		d.text("max_decoded_body")
		d.number(n)
	}
	sum := sha256.Sum256(d.b)
	return hex.EncodeToString(sum[:8])
}

// digest is a rendering in which every part carries its length.
type digest struct{ b []byte }

func (d *digest) text(parts ...string) {
	for _, s := range parts {
		d.number(int64(len(s)))
		d.b = append(d.b, s...)
	}
}

func (d *digest) list(parts []string) {
	d.number(int64(len(parts)))
	d.text(parts...)
}

func (d *digest) number(numbers ...int64) {
	for _, n := range numbers {
		d.b = binary.BigEndian.AppendUint64(d.b, uint64(n))
	}
}

func (d *digest) flag(flags ...bool) {
	for _, f := range flags {
		n := int64(0)
		if f {
			n = 1
		}
		d.number(n)
	}
}
