package story

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Answer is what a client got.
type Answer struct {
	Status int // 0: none came
	Header http.Header
	Body   []byte
	Proto  string
	Took   time.Duration
	Err    error // the connection broke before the answer was whole
}

// Lost is the kind of an answer that did not come, or not to its end.
const Lost = "connection lost"

// Kind names an answer by its status and the code that the gateway marked it
// with: "201 created", "409 in-flight", "201 unmarked".
func (a Answer) Kind() string {
	if a.Err != nil {
		return Lost
	}
	return fmt.Sprintf("%d %s", a.Status, cmp.Or(a.Header.Get("Idempotency-Status"), "unmarked"))
}

// Problem is the problem document of a refusal.
type Problem struct {
	Type           string   `json:"type"`
	Title          string   `json:"title"`
	Status         int      `json:"status"`
	Detail         string   `json:"detail"`
	Code           string   `json:"code"`
	Retryable      *bool    `json:"retryable"`
	Parts          []string `json:"parts"`
	OriginalStatus int      `json:"original_status"`
}

// Problem reads the answer's problem document; the zero value if it has none.
func (a Answer) Problem() (p Problem) {
	if a.Header.Get("Content-Type") == "application/problem+json" {
		_ = json.Unmarshal(a.Body, &p)
	}
	return p
}

// shown bounds what is shown of a body.
const shown = 300

// String is the whole answer for a reader, as evidence.
func (a Answer) String() string {
	if a.Status == 0 {
		return fmt.Sprintf("no answer after %s: %v", a.Took.Round(time.Millisecond), a.Err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d after %s", a.Status, a.Took.Round(time.Millisecond))
	for _, name := range slices.Sorted(mapKeys(a.Header)) {
		if name = strings.ToLower(name); strings.HasPrefix(name, "idempo") || name == "retry-after" || name == "content-type" {
			fmt.Fprintf(&b, "; %s: %s", name, strings.Join(a.Header.Values(name), " | "))
		}
	}
	body := a.Body
	if len(body) > shown {
		body = body[:shown]
	}
	fmt.Fprintf(&b, "; %q", body)
	if a.Err != nil {
		fmt.Fprintf(&b, " and then: %v", a.Err)
	}
	return b.String()
}

func mapKeys(h http.Header) func(func(string) bool) {
	return func(yield func(string) bool) {
		for name := range h {
			if !yield(name) {
				return
			}
		}
	}
}

// Tally counts answers by kind.
type Tally map[string]int

// Count makes the tally of answers.
func Count(answers ...Answer) Tally {
	t := Tally{}
	for _, a := range answers {
		t[a.Kind()]++
	}
	return t
}

// String is the tally in one line, in the order of statuses.
func (t Tally) String() string {
	kinds := make([]string, 0, len(t))
	for k := range t {
		kinds = append(kinds, k)
	}
	slices.Sort(kinds)
	for i, k := range kinds {
		kinds[i] = fmt.Sprintf("%d x %s", t[k], k)
	}
	if len(kinds) == 0 {
		return "nothing"
	}
	return strings.Join(kinds, ", ")
}

// Expected says which answers are right: some kinds in exact numbers, and of
// what is left every one of some other kinds.
type Expected struct {
	exact Tally
	rest  []string
}

// Exactly wants n answers of a kind.
func Exactly(n int, kind string) Expected { return Expected{exact: Tally{kind: n}} }

// And wants n answers of a further kind.
func (e Expected) And(n int, kind string) Expected {
	t := Tally{kind: n}
	for k, v := range e.exact {
		t[k] = v
	}
	e.exact = t
	return e
}

// Rest allows any number of answers of these kinds besides.
func (e Expected) Rest(kinds ...string) Expected {
	e.rest = kinds
	return e
}

// Met reports whether a tally is right.
func (e Expected) Met(t Tally) bool {
	for k, n := range e.exact {
		if t[k] != n {
			return false
		}
	}
	for k := range t {
		if _, ok := e.exact[k]; !ok && !slices.Contains(e.rest, k) {
			return false
		}
	}
	return true
}

func (e Expected) String() string {
	s := e.exact.String()
	if len(e.rest) > 0 {
		s += ", the rest " + strings.Join(e.rest, " or ")
	}
	return s
}
