package filter

import (
	"strings"

	"github.com/oncewall/oncewall/filter/wire"
)

// streamedTypes are media types of answers that come piece by piece, for as long
// as there is something to say.
var streamedTypes = map[string]bool{
	"application/x-ndjson": true, "application/ndjson": true, "application/x-jsonlines": true, "application/jsonl": true,
	"application/json-seq": true, "application/stream+json": true, "application/x-json-stream": true,
	"multipart/x-mixed-replace": true,
	"application/connect+json":  true, "application/connect+proto": true,
}

// capturable reports whether an answer's body may be held: its declared length
// fits, and it is not a stream. It is one by its type, or by the backend's word to
// proxies (X-Accel-Buffering: no); but for events, only where it does not declare a
// length.
func (s *Stream) capturable(lines []wire.HeaderLine) bool {
	streamed, whole := false, false
	for _, l := range lines {
		switch l.Name {
		case "content-type":
			if hasPrefixFold(l.Value, "text/event-stream") {
				return false
			}
			media, _, _ := strings.Cut(l.Value, ";")
			streamed = streamed || streamedTypes[strings.ToLower(strings.Trim(media, " \t"))]
		case "x-accel-buffering":
			streamed = streamed || strings.EqualFold(l.Value, "no")
		case "content-length":
			n, ok := parseLength(l.Value)
			if ok && n > s.rule.Record.MaxBody && !s.keepsLength() {
				return false
			}
			whole = whole || ok
		}
	}
	return !streamed || whole
}
