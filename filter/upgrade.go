package filter

import "strings"

// upgradeBody is the reason against a body beside an upgrade. Envoy hands it over as
// what follows the request, and its end never comes. For other protocols than
// WebSocket Envoy 1.36 sends it on before upstream has agreed: one that does not
// upgrade takes it for the request's body, which no repeat could be compared with.
const upgradeBody = "A request with Upgrade has no body that can be compared."

// upgrades reports whether a request asks for another protocol on its stream, as
// Envoy sees it (an HTTP/2 client's extended CONNECT looks the same here). It has
// no body: what follows belongs to that protocol, and comes once upstream has
// agreed, so that nothing may wait for its end. The answer, 101, is told as
// executed and never kept.
func upgrades(r Request) bool {
	if len(r.Header("upgrade")) == 0 {
		return false
	}
	for _, line := range r.Header("connection") {
		for token := range strings.SplitSeq(line, ",") {
			if strings.EqualFold(strings.TrimSpace(token), "upgrade") {
				return true
			}
		}
	}
	return false
}
