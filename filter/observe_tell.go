package filter

// give ends an observation that has no claim of its own.
func (o *observation) give(s *Stream, code Code) {
	o.phase = observeOver
	s.dropBody()
	s.dropCapture()
	o.tell(s, code)
}

// tell tells, once, what an enforcing rule would have done.
func (o *observation) tell(s *Stream, code Code) {
	if o.told {
		return
	}
	o.told = true
	d := Decision{Rule: s.ruleName(), Code: observedCode(code), Observed: true}
	e := Effect{Kind: Decide, Stream: s, Decision: d}
	if s.state == stateDone {
		e.Stream = nil
	}
	s.w.emit(e)
}

// observedCodes are the codes of decisions about requests that are only observed:
// that of the decision that an enforcing rule would have made, behind "would-".
var observedCodes = func() map[Code]Code {
	m := map[Code]Code{}
	for _, c := range [...]Code{CodeCreated, CodeReplayed, CodeInFlight, CodeKeyReused, CodeKeyMissing, CodeKeyInvalid,
		CodePrincipalMissing, CodeKeyNotIssued, CodeKeyForeign, CodeKeyExpired, CodeKeyUsed, CodeOutcomeUnknown,
		CodeResponseNotKept, CodeTooLarge, CodeUnavailable, CodeOverQuota, CodeMisconfigured, CodeReleased, CodeGone} {
		m[c] = "would-" + c
	}
	return m
}()

// observedCode is the code of a decision about a request that is only observed.
func observedCode(c Code) Code {
	if c == CodeNoKey {
		return c // nothing would have become of it
	}
	return observedCodes[c]
}
