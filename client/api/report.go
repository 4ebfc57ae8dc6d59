package api

// PathReport is where operators ask for a report, by GET. The query's since is how far
// back it goes, as a Go duration (24h, 90m); default 24h, at most 840h.
const PathReport = "/v1/report"

// Report counts first requests and repeats of whole hours. A bridge that died took at
// most its last ten seconds with it, and what other bridges have counted in that time
// is not in it yet.
type Report struct {
	From  string       `json:"from"` // beginning of the first hour, RFC 3339
	To    string       `json:"to"`   // when it was made
	Rules []RuleReport `json:"rules"`
}

// RuleReport counts one rule's requests. Those of the other members are repeats, but
// that SuspectedNewKey is a part of First: they ran.
type RuleReport struct {
	Namespace string `json:"namespace"` // empty, with Scope: those for which there was no room
	Scope     string `json:"scope"`
	// First is how many requests were granted as the first with their key.
	First int64 `json:"first"`
	// DoubleClick came while the first was in flight, or within 2 s of it.
	DoubleClick int64 `json:"double_click"`
	// ClientRetry came later.
	ClientRetry int64 `json:"client_retry"`
	// GatewayRetry was sent again by a proxy in front of the gateway.
	GatewayRetry int64 `json:"gateway_retry"`
	// KeyReused asked for something else with the same key, and was refused.
	KeyReused int64 `json:"key_reused"`
	// SuspectedNewKey asked for the same as another key of the same principal, within
	// two minutes.
	SuspectedNewKey int64 `json:"suspected_new_key"`
}

// Repeats is how many requests were repeats.
func (r *RuleReport) Repeats() int64 {
	return r.DoubleClick + r.ClientRetry + r.GatewayRetry + r.KeyReused
}
