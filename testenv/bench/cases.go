package bench

import "fmt"

// The names of the cases, in the order of the report.
const (
	Bare       = "bare"
	NotCovered = "not covered"
	First      = "first request"
	Duplicate  = "duplicate"
)

// testCase is one kind of request and what must come of it.
type testCase struct {
	name string
	what string // for the reader of the report
	bare bool   // sent to the listener without the filter
	path string
	// repeat: every connection has one key for the whole slot, and its first
	// request is answered before the slot begins. Otherwise each request has a
	// key of its own.
	repeat bool
	status int
	marker string // Idempotency-Status of the answer; empty: there is none
	// executions and callouts of one request, as far as they are certain.
	executions int
	callouts   bool
}

// cases are measured in each round. All requests are alike but for path and
// key, and carry the same header lines: only what the filter does differs.
var cases = []testCase{
	{name: Bare, what: "the same listener without the filter", bare: true, path: "/orders", status: 201, executions: 1},
	{name: NotCovered, what: "no rule has this path", path: "/catalog", status: 201, executions: 1},
	{name: First, what: "a new key: claimed, forwarded, recorded before the reply", path: "/orders", status: 201,
		marker: "created", executions: 1, callouts: true},
	{name: Duplicate, what: "a finished key, answered from the worker's memory", path: "/orders", repeat: true, status: 201,
		marker: "replayed"},
}

// body is that of every request: an order as JSON, 89 bytes.
const body = `{"item":"4006381333931","quantity":2,"currency":"EUR","amount":"49.80","note":"no rush"}` + "\n"

// keyDigits is the width of the number that ends a key, so that a request's
// length never changes and its key can be written in place.
const keyDigits = 10

// request returns the bytes of a request and where the digits of its key stand.
// series tells the keys of one slot and connection from all others.
func (c *testCase) request(series string) (b []byte, digits int) {
	head := fmt.Sprintf("POST %s HTTP/1.1\r\nhost: shop.example\r\nuser-agent: bench\r\naccept: application/json\r\n"+
		"content-type: application/json\r\ncontent-length: %d\r\nx-user-id: ada\r\nidempotency-key: %s-", c.path, len(body), series)
	digits = len(head)
	return fmt.Appendf(nil, "%s%0*d\r\n\r\n%s", head, keyDigits, 0, body), digits
}

// putNumber writes n into the digits of a key.
func putNumber(digits []byte, n uint64) {
	for i := len(digits) - 1; i >= 0; i-- {
		digits[i] = byte('0' + n%10)
		n /= 10
	}
}
