package wire

// DoubleClickMS is how long after the first request a repeat still counts as a
// double click, in milliseconds.
const DoubleClickMS = 2000

// ClassOf says what a claim that was answered with c looks like; 0: it is no repeat.
// retried is Operation.Retried, ageMS how old the record was.
func ClassOf(c Code, retried bool, ageMS int64) Class {
	switch c {
	case KeyReused:
		return Reused
	case Replayed, InFlight, KeyUsed, ResponseNotKept, OutcomeUnknown:
	default:
		return 0
	}
	switch {
	case retried:
		return GatewayRetry
	case c == InFlight || ageMS <= DoubleClickMS:
		return DoubleClick
	}
	return ClientRetry
}

// String returns the name under which lines and reports have the class; "": none.
func (c Class) String() string {
	switch c {
	case DoubleClick:
		return "double-click"
	case ClientRetry:
		return "client-retry"
	case GatewayRetry:
		return "gateway-retry"
	case Reused:
		return "key-reused"
	case SuspectedNew:
		return "suspected-new-key"
	}
	return ""
}
