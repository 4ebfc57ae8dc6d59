package rules

import (
	"fmt"
	"slices"
)

// Outcomes moves upstream's statuses between the three meanings that an answer
// can have. What no list names keeps its default meaning ([DefaultOutcome]).
type Outcomes struct {
	Result  []int // the request was executed, and this is its result
	Release []int // the request was not executed: the key is free again
	Unknown []int // whether it was executed is not known: the rule's recovery decides
}

// Outcome is what an answer of upstream says about the request.
type Outcome uint8

// The outcomes.
const (
	OutcomeResult Outcome = iota
	OutcomeRelease
	OutcomeUnknown
)

// DefaultOutcome sorts upstream's statuses where a rule does not. 502, 503 and
// 504 come from a proxy as often as from the application; 401, 403, 407, 408,
// 421, 425 and 429 say that the application did not begin.
func DefaultOutcome(status int) Outcome {
	switch status {
	case 401, 403, 407, 408, 421, 425, 429:
		return OutcomeRelease
	case 502, 503, 504:
		return OutcomeUnknown
	}
	return OutcomeResult
}

// Statuses of an answer that upstream made.
const minStatus, maxStatus = 200, 599

// Table returns the meaning of every status; the index is the status.
func (o *Outcomes) Table() *[maxStatus + 1]Outcome {
	var t [maxStatus + 1]Outcome
	for s := range t {
		t[s] = DefaultOutcome(s)
	}
	for _, s := range o.Result {
		t[s] = OutcomeResult
	}
	for _, s := range o.Release {
		t[s] = OutcomeRelease
	}
	for _, s := range o.Unknown {
		t[s] = OutcomeUnknown
	}
	return &t
}

func (p *parser) buildOutcomes(r *Rule, s source) {
	n, _ := s.block("outcomes")
	seen := map[int]string{}
	for _, l := range [...]struct {
		name string
		dst  *[]int
	}{{"result", &r.Outcomes.Result}, {"release", &r.Outcomes.Release}, {"unknown", &r.Outcomes.Unknown}} {
		list := n.get(l.name)
		if list == nil {
			continue
		}
		for i, item := range list.items {
			if !item.good() {
				continue
			}
			at, status := fmt.Sprintf("outcomes.%s[%d]", l.name, i), int(item.value)
			switch first, again := seen[status]; {
			case again:
				p.add(at, item, "must not be listed twice: it is in outcomes.%s", first)
			case status < 300 && l.name == "release":
				p.add(at, item, "must be >= 300: after a 2xx the request has been executed, and would run again")
			case status < 300 && l.name == "unknown":
				p.add(at, item, "must be >= 300: after a 2xx the request has been executed")
			default:
				seen[status] = l.name
				*l.dst = append(*l.dst, status)
			}
		}
		slices.Sort(*l.dst)
	}
}

// outcomesField is the block's description.
func outcomesField() *field {
	list := func(name, def, meaning, loss string) *field {
		return &field{name: name, kind: kindList, min: 0, max: 64, def: def, meaning: meaning, loss: loss,
			elem: &field{kind: kindInteger, min: minStatus, max: maxStatus}}
	}
	return &field{name: "outcomes", kind: kindObject, def: "by status, as below",
		meaning: "What an answer's status says about the request. A list moves its statuses; the others keep their meaning. Upstream's own `Idempotency-Outcome` decides over all.",
		members: []*field{
			list("result", "2xx, 3xx, 500, 501, 505 to 599, and the 4xx that are not below",
				"Executed: the answer is recorded and replayed.", ""),
			list("release", "401, 403, 407, 408, 421, 425, 429",
				"Not executed: the key is free again, and the next retry runs. No 2xx.",
				"A backend that answers so after it has begun is run again."),
			list("unknown", "502, 503, 504",
				"Not known: `recovery` decides. No 2xx.", ""),
		}}
}
