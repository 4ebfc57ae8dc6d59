// Package health says how the parts of a bridge are, one by one, so that whoever
// asks whether batches should be sent to it learns which part says no.
//
// A part may be well, degraded or failed. A bridge is ready while none of the
// parts that it needs has failed: a degraded part costs some requests, and a
// bridge that is taken out of service for it would cost all of them.
package health

import (
	"context"
	"fmt"
	"sync"
)

// State is how a part is.
type State uint8

// The states, from good to bad.
const (
	OK State = iota
	Degraded
	Failed
)

func (s State) String() string { return [...]string{"ok", "degraded", "failed"}[s] }

// MarshalText writes a state as JSON has it.
func (s State) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Report is how one part was when it was asked. Its texts are fixed strings,
// addresses and counts: never a key, a header value or a body.
type Report struct {
	State   State    `json:"status"`
	Detail  string   `json:"detail,omitempty"`
	Members []Member `json:"members,omitempty"`
}

// Member is one of several things that a part consists of, a node say.
type Member struct {
	Name   string `json:"name"`
	Role   string `json:"role,omitempty"`
	State  State  `json:"status"`
	Detail string `json:"detail,omitempty"`
}

// Part is something whose health is asked for by name.
type Part struct {
	// Name is lower case, as it stands in the answer and in /readyz/{name}.
	Name string
	// Optional says that batches are served without this part: where it has failed,
	// the whole is degraded and still ready.
	Optional bool
	// Check reports how the part is; it returns at ctx's end. It is called by many
	// at once. Nil is a part that is always well.
	Check func(ctx context.Context) Report
}

// Summary is how the whole is.
type Summary struct {
	State State             `json:"status"`
	Ready bool              `json:"ready"`
	Parts map[string]Report `json:"parts"`
}

// Check asks all parts at once and waits for the slowest of them, or for ctx: a
// part that has not answered by then has failed.
func Check(ctx context.Context, parts []Part) Summary {
	reports := make([]Report, len(parts))
	var all sync.WaitGroup
	for i := range parts {
		all.Go(func() { reports[i] = ask(ctx, &parts[i]) })
	}
	all.Wait()
	sum := Summary{Parts: make(map[string]Report, len(parts))}
	for i, r := range reports {
		sum.Parts[parts[i].Name] = r
		if r.State == Failed && parts[i].Optional {
			r.State = Degraded
		}
		sum.State = max(sum.State, r.State)
	}
	sum.Ready = sum.State != Failed
	return sum
}

// ask is a part's Check that holds its promises: it answers in time, and does not
// panic.
func ask(ctx context.Context, p *Part) Report {
	if p.Check == nil {
		return Report{}
	}
	answer := make(chan Report, 1)
	go func() {
		defer func() {
			if v := recover(); v != nil {
				answer <- Report{State: Failed, Detail: fmt.Sprintf("the check panicked: %v", v)}
			}
		}()
		answer <- p.Check(ctx)
	}()
	select {
	case r := <-answer:
		return r
	case <-ctx.Done():
		// What was answered in this very moment counts.
		select {
		case r := <-answer:
			return r
		default:
			return Report{State: Failed, Detail: "no answer in time"}
		}
	}
}
