package model

import "fmt"

// A step leads to another world.
type step struct {
	to     world
	label  string
	broken *promise
	// fault: it need not ever happen, so a world with no other step is quiet.
	fault bool
}

// A stepper collects the steps that lead out of one world. The functions that
// add to it read from and never change it.
type stepper struct {
	c      *Config
	from   world
	out    []step
	labels bool // wanted; they cost more than the step
}

func (s *stepper) add(to *world, broken *promise, format string, args ...any) {
	s.put(to, false, broken, format, args)
}

func (s *stepper) fault(to *world, broken *promise, format string, args ...any) {
	s.put(to, true, broken, format, args)
}

func (s *stepper) put(to *world, fault bool, broken *promise, format string, args []any) {
	label := ""
	if s.labels {
		label = fmt.Sprintf(format, args...)
	}
	s.out = append(s.out, step{*to, label, broken, fault})
	s.out[len(s.out)-1].to.normal()
}

// steps fills s.out with every step out of w.
func (s *stepper) steps(w *world) {
	s.from, s.out = *w, s.out[:0]
	for i := range s.c.Requests {
		s.gatewayStarts(i)
		s.claimArrives(i)
		s.bridgeGoesOn(i)
		s.replyArrives(i)
		s.upstream(i)
		s.stream(i)
		s.executedArrives(i)
		s.wordArrives(i)
		s.crash(i)
	}
	s.leasesEnd()
	s.storesFail()
	s.livesEnd()
	s.reconcile()
}
