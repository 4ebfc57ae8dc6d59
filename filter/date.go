package filter

import "time"

// httpDate is the form of dates in headers (RFC 9110, section 5.6.7).
const httpDate = "Mon, 02 Jan 2006 15:04:05 GMT"

// SetClock says what time it is: unix nanoseconds at the event time now. Dates in
// answers follow it, and nothing else does. Without it they are left out.
func (w *Worker) SetClock(now, unix int64) { w.epoch = unix - now }

// date is the HTTP date of an event time, its second begun; "": not known.
func (w *Worker) date(at int64) string {
	if w.epoch == 0 {
		return ""
	}
	return time.Unix(0, w.epoch+at).UTC().Format(httpDate)
}

// untilLease is what a refusal adds that holds until a lease ends in ms; 0: not
// known when.
func (w *Worker) untilLease(now, ms int64) extra {
	x := extra{retryAfterMS: ms}
	if ms > 0 {
		// The second in which it has ended, as Retry-After is rounded.
		x.until = w.date(now + ms*int64(time.Millisecond) + int64(time.Second) - 1)
	}
	return x
}
