package filter

import (
	"errors"
	"fmt"
	"strings"

	"github.com/oncewall/oncewall/filter/wire"
)

// Why a replay could not send a response; see [CheckResponse].
var (
	errStatus      = errors.New("status: must be 200 to 599")
	errLines       = fmt.Errorf("headers: must be at most %d lines", maxRecordedLines)
	errHeaderBytes = fmt.Errorf("headers: must be at most %d bytes", maxRecordedHeaderBytes)
	errName        = errors.New("headers: a name that is not a field name in lower case (RFC 9110)")
	errValue       = errors.New("headers: a value with a control character")
	errNotRecorded = errors.New("headers: a line that is never recorded: it belongs to one exchange, one hop or the gateway")
	errBody        = errors.New("body: the status allows none")
)

// CheckResponse says why the filter would take a recorded response for broken, and
// answer response-not-kept instead of replaying it; nil: it would replay it. It is
// all that the host would send without looking: the status, that names and values
// are header text, that nothing is there that belongs to one exchange or hop, and
// that the number of lines is one that the host does not drop. Errors hold nothing
// of the response.
func CheckResponse(r *wire.Response) error {
	switch {
	case r.Status < 200 || r.Status > 599:
		return errStatus
	case len(r.Headers) > maxRecordedLines:
		return errLines
	case bodyless(int(r.Status)) && len(r.Body) > 0:
		return errBody
	}
	size := 0
	for _, l := range r.Headers {
		switch {
		case !validName(l.Name):
			return errName
		case !validValue(l.Value):
			return errValue
		case notRecorded[l.Name] && !describesBody(r, l.Name):
			return errNotRecorded
		}
		size += len(l.Name) + len(l.Value)
	}
	if size > maxRecordedHeaderBytes {
		return errHeaderBytes
	}
	return nil
}

// NotFromOutside reports whether a header line, whose name is in lower case, has no
// place in a response that an operator or a backend hands in for the record: the
// filter would never have recorded it, or only where its rule opts in to it, which
// whoever hands it in does not know.
func NotFromOutside(name string) bool {
	return notRecorded[name] || optIn(name) || ofEnvoy(name) || strings.HasPrefix(name, "idempotency-")
}
