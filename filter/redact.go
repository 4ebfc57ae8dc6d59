package filter

import (
	"github.com/oncewall/oncewall/filter/canon"
	"github.com/oncewall/oncewall/filter/wire"
)

// redact takes out of the captured body what the rule does not let into a record.
// The client's own answer is not touched: it left, or leaves, from Envoy's buffer.
// false: it cannot be told what to take out, and nothing of the body may be kept.
func (s *Stream) redact() bool {
	res := &s.response
	pointers := s.rule.Record.Redact
	if len(pointers) == 0 || len(res.body) == 0 {
		return true
	}
	body, changed, err := canon.Redact(res.body, pointers)
	if err != nil {
		return false
	}
	if !changed {
		return true
	}
	s.w.captured += len(body) - len(res.body)
	res.body = body
	// Recorded as a line of the answer, so that every filter replays it.
	lines := []wire.HeaderLine{{Name: HeaderRedacted, Value: "true"}}
	for _, l := range res.lines {
		if !ofWholeBody[l.Name] {
			lines = append(lines, l)
		}
	}
	res.lines = recordable(lines)
	return res.lines != nil
}
