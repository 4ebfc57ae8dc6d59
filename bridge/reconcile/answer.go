package reconcile

import (
	"encoding/base64"
	"errors"
	"strings"

	"github.com/oncewall/oncewall/bridge/strict"
	"github.com/oncewall/oncewall/filter"
	"github.com/oncewall/oncewall/filter/wire"
)

// outcome is what a backend says became of a request.
type outcome uint8

const (
	unknown     outcome = iota // it does not know, or its answer cannot be used
	running                    // it may still come to an end
	notExecuted                // nothing was executed
	final                      // it ran
)

// answer is a backend's answer.
type answer struct {
	outcome outcome
	// refusedUpTo comes with notExecuted: no request of this key with this fence or
	// a lower one will be executed any more. 0: nothing is promised.
	refusedUpTo uint64
	// status and response come with final; response is nil where the result itself
	// is not to be had.
	status   uint16
	response *wire.Response
}

// answerJSON is the form of an answer; see docs/backend.md.
type answerJSON struct {
	Outcome     string     `json:"outcome"`
	RefusedUpTo *uint64    `json:"refused_up_to"`
	Status      *int       `json:"status"`
	Headers     [][]string `json:"headers"`
	Body        *string    `json:"body"`
	BodyBase64  *string    `json:"body_base64"`
}

// parseAnswer reads an answer strictly: what is not understood whole is no
// answer. Errors say what is wrong and hold nothing of it.
func parseAnswer(b []byte) (a answer, err error) {
	var in answerJSON
	switch err := strict.Decode(b, &in); {
	case errors.Is(err, strict.ErrMember), errors.Is(err, strict.ErrDuplicate), errors.Is(err, strict.ErrText):
		return a, err
	case err != nil:
		return a, errors.New("not the JSON object that is expected")
	}
	result := in.Status != nil || in.Headers != nil || in.Body != nil || in.BodyBase64 != nil
	switch {
	case result && in.Outcome != "final":
		return a, errors.New("a result without outcome final")
	case in.RefusedUpTo != nil && in.Outcome != "not-executed":
		return a, errors.New("refused_up_to without outcome not-executed")
	}
	switch in.Outcome {
	case "final":
		return in.result()
	case "not-executed":
		a.outcome = notExecuted
		if in.RefusedUpTo != nil {
			a.refusedUpTo = *in.RefusedUpTo
		}
	case "running":
		a.outcome = running
	case "unknown":
	default:
		return a, errors.New("outcome is none of final, not-executed, running, unknown")
	}
	return a, nil
}

func (in *answerJSON) result() (a answer, err error) {
	if in.Status == nil || *in.Status < 200 || *in.Status > 999 {
		return a, errors.New("status: must be 200 to 999")
	}
	a.outcome, a.status = final, uint16(*in.Status)
	if in.Body == nil && in.BodyBase64 == nil {
		if in.Headers != nil {
			return answer{}, errors.New("headers without a body")
		}
		return a, nil
	}
	r := &wire.Response{Status: a.status}
	switch {
	case in.Body != nil && in.BodyBase64 != nil:
		return answer{}, errors.New("body and body_base64")
	case in.Body != nil:
		r.Body = []byte(*in.Body)
	default:
		if r.Body, err = base64.StdEncoding.DecodeString(*in.BodyBase64); err != nil {
			return answer{}, errors.New("body_base64: not base64")
		}
	}
	for _, h := range in.Headers {
		if len(h) != 2 {
			return answer{}, errors.New("headers: a line that is no pair of name and value")
		}
		name := strings.ToLower(h[0])
		if !filter.NotFromOutside(name) {
			r.Headers = append(r.Headers, wire.HeaderLine{Name: name, Value: strings.Trim(h[1], " \t")})
		}
	}
	if err := filter.CheckResponse(r); err != nil {
		return answer{}, err
	}
	a.response = r
	return a, nil
}
