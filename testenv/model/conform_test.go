package model

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/filter/wire"
	"github.com/oncewall/oncewall/testenv/model/schedule"
	"github.com/oncewall/oncewall/testenv/model/table"
)

// conforming are runs whose records are tried: client keys, attempts, issued keys,
// lost data, ends of lives.
var conforming = []string{
	"H before/reacquire crash",
	"H before/reacquire flush+crash, WAIT",
	"H before/hold crash",
	"P issued before/reacquire crash",
	"S max_attempts 2/reacquire crash 3req",
	"R renew/reacquire crash",
	"Q issued: restored UNKNOWN is held/hold flush+crash 3req",
	"G ttl/reacquire",
}

// Every record that the model reaches, with every word that a request could say
// of it: the model's steps are the table's, and the scripts' are the table's too.
func TestSteps(t *testing.T) {
	target, err := schedule.NewEmbedded(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(target.Close)
	now, err := target.Now()
	if err != nil {
		t.Fatal(err)
	}
	tried := map[trial]bool{}
	for _, name := range conforming {
		c := named(t, name)
		t.Run(name, func(t *testing.T) {
			s := conformance{t, c, target, now, tried}
			records := reached(c)
			for r := range records {
				s.claims(r)
				for owner := uint8(1); owner <= 3; owner++ {
					for _, fence := range []uint8{0, r.fence - min(r.fence, 1), r.fence, r.fence + 1} {
						for _, w := range []word{
							{message: complete}, {message: complete, success: true}, {message: tellExecuted},
							{message: tellExecuted, success: true}, {message: tellUnknown}, {message: release},
						} {
							w.owner, w.fence = owner, fence
							s.word(r, w)
						}
					}
				}
			}
			t.Logf("%d records", len(records))
		})
	}
}

func named(t *testing.T, name string) *Config {
	t.Helper()
	for _, c := range Runs() {
		if c.Name == name {
			c.off, c.RenewOver = 0, false // the table has every rule on
			return &c
		}
	}
	t.Fatalf("no run %q", name)
	return nil
}

// reached are the different records of Redis in the first states of a run.
func reached(c *Config) map[record]bool {
	e := newExplorer(c)
	e.run(60_000)
	out := map[record]bool{}
	for i := range e.worlds {
		out[e.worlds[i].redis] = true
	}
	return out
}

type conformance struct {
	*testing.T
	c      *Config
	target *schedule.Embedded
	now    int64
	tried  map[trial]bool
}

// A trial is one step of the scripts; runs have many in common.
type trial struct {
	record table.Record
	kind   wire.Kind
	owner  string
	fence  uint64
	status uint16
	policy wire.Policy
}

const lease = 30_000 // ms

// concrete is r as a store would keep it.
func (s *conformance) concrete(r record) table.Record {
	if r.state == absent {
		return table.Record{}
	}
	us := int64(1000 * lease)
	out := table.Record{
		State: [...]table.State{
			table.Absent, table.Processing, table.Unknown, table.Completed, table.Released, table.Completed, table.Issued, table.Executed,
		}[r.state],
		Owner: owner(r.owner), Fence: uint64(r.fence), Left: 100 * us,
		Policy: *s.policy(), HasPolicy: r.state != released,
	}
	n := 0
	for o := uint8(1); o <= maxRequests; o++ {
		if r.hasLeft(o) {
			out.Leavers[n] = table.Leaver{Owner: owner(o), Until: s.now + us}
			n++
		}
	}
	if !out.HasPolicy {
		out.Policy = wire.Policy{}
	}
	if r.state == issued {
		out.KeyExpires = s.now + us
	}
	if r.unresolved() {
		out.Attempts = int64(r.attempts)
		if s.c.Attempts == 0 {
			out.Attempts = 1
		}
		out.Maybe, out.Held = r.maybe, r.held
		if r.noted != 0 {
			out.NotedOwner, out.NotedStatus = owner(r.noted), 200+uint16(r.noted)
		}
		if out.Indexed = r.indexed; r.indexed {
			out.Due = s.leaseEnd(r)
		}
	}
	if r.unresolved() || r.state == executed {
		out.Claimed, out.LeaseEnd = s.now-us, s.leaseEnd(r)
	}
	if r.final() {
		out.Status, out.Expires = 200+uint16(r.result), s.now+2*us
	}
	switch r.state {
	case completed:
		out.Result, out.ResultLeft = result(r.result), 2*us
	case tombstone:
		out.Status, out.Expires = 200, s.now-us
	}
	return out
}

func (s *conformance) leaseEnd(r record) int64 {
	if r.over {
		return s.now - 1
	}
	return s.now + 1000*lease/2
}

func (s *conformance) policy() *wire.Policy {
	return &wire.Policy{
		TTLMS: 2 * lease, TombstoneMS: lease, LeaseMS: lease, MaxAttempts: int64(s.c.Attempts), Issued: s.c.Issued,
		Recovery: [...]wire.Recovery{wire.Reacquire, wire.Probe, wire.Hold}[s.c.Recovery],
	}
}

func owner(n uint8) string {
	if n == 0 {
		return ""
	}
	return strings.Repeat("o", wire.OwnerBytes-1) + string('0'+rune(n))
}

func result(n uint8) string { return fmt.Sprintf("result of %d", n) }

// abstract is what the model would see of a store's record.
func (s *conformance) abstract(r table.Record) record {
	number := func(o string) uint8 {
		if o == "" {
			return 0
		}
		return o[len(o)-1] - '0'
	}
	out := record{
		state: [...]state{absent, issued, released, processing, unknown, executed, completed}[r.State],
		owner: number(r.Owner), fence: uint8(min(r.Fence, newFence)), noted: number(r.NotedOwner), held: r.Held,
		indexed: r.Indexed, maybe: r.Maybe && r.State == table.Processing,
	}
	if s.c.Attempts > 0 && !r.Held {
		out.attempts = uint8(r.Attempts)
	}
	for _, l := range r.Leavers {
		if l.Owner != "" {
			out.leavers |= 1 << number(l.Owner)
		}
	}
	if r.Past(s.now) {
		out.state = tombstone
	}
	if out.final() && r.Status > 200 {
		out.result = uint8(r.Status - 200)
	}
	if r.Unresolved() || r.State == table.Executed {
		out.over = r.Over(s.now)
	}
	return out
}

func (s *conformance) operation(kind wire.Kind, me, fence uint8) store.Operation {
	return store.Operation{
		Kind: kind, Name: store.Name{1}, Owner: []byte(owner(me)), Fence: uint64(fence), Policy: s.policy(),
		Deadline: time.Now().Add(time.Minute),
	}
}

// both carries op out by the table, and lets the scripts do the same.
func (s *conformance) both(r record, op store.Operation) (table.Record, store.Reply) {
	s.Helper()
	before := s.concrete(r)
	after, reply, _ := table.Step(before, &op, s.now, s.target.Limits())
	once := trial{before, op.Kind, string(op.Owner), op.Fence, op.Status, *op.Policy}
	if s.tried[once] {
		return after, reply
	}
	s.tried[once] = true
	lines, err := schedule.Check(s.Context(), s.target, before, op)
	if err != nil {
		s.Fatal(err)
	}
	if len(lines) > 0 {
		s.Fatalf("%s: operation %d of o%s, fence %d, on the real store:\n%s", r, op.Kind, op.Owner[len(op.Owner)-1:], op.Fence,
			strings.Join(lines, "\n"))
	}
	return after, reply
}

func (s *conformance) claims(r record) {
	codes := [...]wire.Code{
		0, wire.Created, wire.InFlight, wire.OutcomeUnknown, wire.Replayed, wire.KeyExpired, wire.Stale, 0, wire.Lapsed,
		wire.ResponseNotKept, wire.InFlight,
	}
	for me := uint8(1); me <= 4; me++ {
		want, clock := r, r.fence+1
		v := s.c.claim(&want, me, &clock, inRedis)
		after, reply := s.both(r, s.operation(wire.Claim, me, 0))
		told := uint8(0)
		if v.result != 0 && v.answer != bodyComing {
			told = uint8(reply.Status - 200)
		}
		if codes[v.answer] != reply.Code || v.answer != bodyComing && v.result != told || (v.kind == reacquired) != (v.kind != 0 && reply.Takeover) {
			s.Errorf("%s: claim of o%d: the model answers %s of o%d, the table %d of o%d", r, me, v.answer, v.result, reply.Code, told)
		}
		s.same(r, fmt.Sprintf("claim of o%d", me), want, s.abstract(after))
	}
}

func (s *conformance) word(r record, w word) {
	final := w.message == complete || w.message == tellExecuted
	switch {
	case w.message == release && r.state == absent && s.c.Issued:
		return // the model leaves a marker; either way nobody is granted the key
	case final && w.fence == r.fence && w.owner != r.owner && !w.success && r.state != absent:
		return // two owners of one fence: no backend refuses a fence that is not older
	}
	kind := map[message]wire.Kind{
		complete: wire.Complete, tellExecuted: wire.Executed, tellUnknown: wire.Unknown, release: wire.Release,
	}[w.message]
	op := s.operation(kind, w.owner, w.fence)
	op.Status = 200 + uint16(w.owner)
	if !w.success {
		// The model's results have no status: one that is no success is told apart by
		// its last digit only.
		op.Status += 300
	}
	if kind == wire.Complete {
		op.Result = []byte(result(w.owner))
	}
	want := r
	heard := s.c.apply(&want, w)
	after, reply := s.both(r, op)
	if after.Status >= 500 {
		after.Status -= 300
	}
	if heard != (reply.Code == wire.OK) {
		s.Errorf("%s: %s of o%d, fence %d: the model hears it: %t, the table answers %d", r, w.message, w.owner, w.fence, heard, reply.Code)
	}
	s.same(r, fmt.Sprintf("%s of o%d, fence %d", w.message, w.owner, w.fence), want, s.abstract(after))
}

// newFence stands for every fence that a store's clock made.
const newFence = 255

// same compares the model's record with the table's.
func (s *conformance) same(r record, what string, model, table record) {
	s.Helper()
	if table.fence == newFence && model.fence > r.fence {
		model.fence = newFence
	}
	if model.unresolved() {
		model.indexed = true // the model heals the index where somebody claims, the table always
		table.indexed = table.indexed || !r.indexed
	}
	if model.state == unknown {
		model.maybe = false
	}
	if model != table {
		s.Errorf("%s: %s:\nmodel %s\ntable %s", r, what, model, table)
	}
}
