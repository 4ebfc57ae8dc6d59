package rules

import (
	"slices"
	"strconv"
)

// RefusalCodes are the codes whose answer's status a rule may change, with their
// default statuses (docs/problems).
var RefusalCodes = []StatusOf{
	{"in-flight", 409}, {"too-many-waiting", 409}, {"key-reused", 422}, {"key-missing", 400}, {"key-invalid", 400},
	{"principal-missing", 401}, {"key-not-issued", 400}, {"key-foreign", 403}, {"key-expired", 410}, {"key-used", 409},
	{"outcome-unknown", 409}, {"response-not-kept", 409}, {"too-large", 413}, {"unavailable", 503}, {"over-quota", 429},
	{"misconfigured", 500},
}

// StatusOf is the status of one refusal.
type StatusOf struct {
	Code   string
	Status int
}

func (p *parser) buildStatuses(r *Rule, s source) {
	n, _ := s.block("statuses")
	for _, c := range RefusalCodes {
		if m := n.get(c.Code); m.good() && int(m.value) != c.Status {
			r.Statuses = append(r.Statuses, StatusOf{c.Code, int(m.value)})
		}
	}
	slices.SortFunc(r.Statuses, func(a, b StatusOf) int {
		if a.Code < b.Code {
			return -1
		}
		return 1
	})
}

// statusesField is the block's description.
func statusesField() *field {
	f := &field{name: "statuses", kind: kindObject, def: "as the problem pages say",
		meaning: "HTTP statuses of refusals, by [code](problems/README.md), where clients expect others. Code, document and headers stay; a gRPC request gets its `grpc-status` all the same. Some clients and proxies repeat a request by themselves after 408, 425, 429, 502, 503 or 504."}
	for _, c := range RefusalCodes {
		f.members = append(f.members, &field{name: c.Code, kind: kindInteger, min: 400, max: 599, def: "`" + strconv.Itoa(c.Status) + "`", meaning: "Status of `" + c.Code + "`."})
	}
	return f
}
