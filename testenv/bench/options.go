package bench

import (
	"errors"
	"fmt"
	"time"

	"github.com/oncewall/oncewall/testenv/stack"
)

// maxSlot bounds a slot: a worker remembers a finished key for 30 s, and keys
// are finished before the slot begins.
const maxSlot = 20 * time.Second

// Options say what is measured. The zero value is the full run.
type Options struct {
	Root        string        // the checkout; default: the one that holds the working directory
	Envoy       string        // binary; default: what build/envoy.sh finds
	Store       string        // stack.Cluster (default) or stack.Embedded
	Rounds      int           // 1 to 100, default 5
	Slot        time.Duration // 100ms to 20s for each case of a round, default 3s
	Connections int           // 1 to 512, default 32
	// Progress is told of every slot; nil: nobody is.
	Progress func(format string, args ...any)
}

// Short is a run of a few seconds, for tests: it counts, and its times mean
// nothing.
func Short(o Options) Options {
	o.Rounds, o.Slot = 1, 300*time.Millisecond
	return o
}

// withDefaults fills in what is not set and returns every fault of what is.
func (o Options) withDefaults() (Options, error) {
	if o.Store == "" {
		o.Store = stack.Cluster
	}
	if o.Rounds == 0 {
		o.Rounds = 5
	}
	if o.Slot == 0 {
		o.Slot = 3 * time.Second
	}
	if o.Connections == 0 {
		o.Connections = 32
	}
	if o.Progress == nil {
		o.Progress = func(string, ...any) {}
	}
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if o.Store != stack.Cluster && o.Store != stack.Embedded {
		fault("store %q must be %s or %s", o.Store, stack.Cluster, stack.Embedded)
	}
	if o.Rounds < 1 || o.Rounds > 100 {
		fault("rounds %d must be 1 to 100", o.Rounds)
	}
	if o.Slot < 100*time.Millisecond || o.Slot > maxSlot {
		fault("slot %s must be 100ms to %s", o.Slot, maxSlot)
	}
	if o.Connections < 1 || o.Connections > 512 {
		fault("connections %d must be 1 to 512", o.Connections)
	}
	return o, errors.Join(faults...)
}
