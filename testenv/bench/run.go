package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/oncewall/oncewall/testenv/stack"
)

// warmUp is how long each case runs, uncounted, before the first round: V8
// compiles what is used often again, and better.
const warmUp = 500 * time.Millisecond

// Slot is what one case did in one round.
type Slot struct {
	Case       string        `json:"case"`
	Round      int           `json:"round"` // from 1
	Requests   int           `json:"requests"`
	Took       time.Duration `json:"took_ns"`
	Executions int           `json:"executions"` // as the shop counts them
	EnvoyCPU   time.Duration `json:"envoy_cpu_ns"`
	BridgeCPU  time.Duration `json:"bridge_cpu_ns"`
	RedisCPU   time.Duration `json:"redis_cpu_ns"` // of all nodes
	Callouts   int           `json:"callouts"`
	Batches    int           `json:"batches"` // as the bridge counts callouts
	Operations int           `json:"operations"`
	Scripts    int           `json:"redis_scripts"`
	Commands   int           `json:"redis_commands"`
}

// Run starts a stack, measures it and ends it. A report comes with the error
// where a run was finished and something in it was not as it must be.
func Run(ctx context.Context, o Options) (_ *Report, err error) {
	o, err = o.withDefaults()
	if err != nil {
		return nil, err
	}
	report := &Report{Store: o.Store, Connections: o.Connections, Slot: o.Slot, LoadBefore: loadAverage()}
	s, err := stack.Start(ctx, stack.Options{Root: o.Root, Envoy: o.Envoy, Store: o.Store,
		Concurrency: 1, Bare: true,
		// The cheapest answer that the shop has: no transaction and no unique key.
		ShopEnv: []string{"SHOP_GUARDS=none"}})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()

	r, err := newReader(s, o.Store)
	if err != nil {
		return nil, err
	}
	b := &bencher{o: o, s: s, r: r, report: report}
	if err := b.rounds(ctx); err != nil {
		return nil, err
	}
	report.LoadAfter = loadAverage()
	return report, report.check()
}

// bencher is one run.
type bencher struct {
	o      Options
	s      *stack.Stack
	r      *reader
	series int
	report *Report
}

// rounds lets the cases take turns. Each round begins with another case, so that
// none always follows the same one.
func (b *bencher) rounds(ctx context.Context) error {
	for i := range cases {
		if _, err := b.slot(ctx, &cases[i], min(warmUp, b.o.Slot)); err != nil {
			return err
		}
	}
	for round := range b.o.Rounds {
		for i := range cases {
			c := &cases[(i+round)%len(cases)]
			slot, err := b.slot(ctx, c, b.o.Slot)
			if err != nil {
				return err
			}
			slot.Round = round + 1
			b.report.Slots = append(b.report.Slots, slot)
			b.o.Progress("round %d of %d: %-13s %6d requests, Envoy %.1f us each", round+1, b.o.Rounds, c.name, slot.Requests, perRequest(slot.EnvoyCPU, slot.Requests))
		}
	}
	return nil
}

// slot measures one case for d. An unexpected answer is an error.
func (b *bencher) slot(ctx context.Context, c *testCase, d time.Duration) (Slot, error) {
	addr := b.s.Gateway(0)
	if c.bare {
		addr = b.s.Bare()
	}
	b.series++
	slot := Slot{Case: c.name}
	err := b.measure(ctx, c, addr, d, &slot)
	if err != nil {
		return slot, fmt.Errorf("bench: %s: %w", c.name, err)
	}
	return slot, nil
}

func (b *bencher) measure(ctx context.Context, c *testCase, addr string, d time.Duration, slot *Slot) error {
	if err := b.r.forget(ctx); err != nil {
		return err
	}
	l, err := newLoad(ctx, c, addr, fmt.Sprintf("bench-%04d", b.series), b.o.Connections)
	if err != nil {
		return err
	}
	defer l.close()
	var before, after counters
	serial, err := b.r.executions(ctx)
	if err != nil {
		return err
	}
	if err := errors.Join(b.r.counts(ctx, &before), b.r.cpu(&before)); err != nil {
		return err
	}
	slot.Requests, slot.Took, err = l.run(ctx, d)
	if err != nil {
		return err
	}
	if err := errors.Join(b.r.cpu(&after), b.r.counts(ctx, &after)); err != nil {
		return err
	}
	last, err := b.r.executions(ctx)
	if err != nil {
		return err
	}
	used := after.sub(before)
	slot.Executions = last - serial - 1
	slot.EnvoyCPU, slot.BridgeCPU, slot.RedisCPU = used.envoy, used.bridge, used.redis
	slot.Callouts, slot.Batches, slot.Operations = used.callouts, used.batches, used.operations
	slot.Scripts, slot.Commands = used.scripts, used.commands
	return nil
}
