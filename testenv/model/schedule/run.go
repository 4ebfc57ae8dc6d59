package schedule

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"time"

	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/filter/wire"
	"github.com/oncewall/oncewall/testenv/model/table"
)

// patience bounds one operation.
const patience = 10 * time.Second

// A Difference is where a store and the table part.
type Difference struct {
	At    int      // the action
	Lines []string // what differs: want, got
	Trace []string // every action up to there, with what it met and was answered
}

func (d *Difference) String() string {
	return strings.Join(append(append([]string(nil), d.Trace...), d.Lines...), "\n")
}

// A Runner runs schedules on one target, one after the other.
type Runner struct {
	Target Target
	// Hits counts how often each row of the table was met; nil: nobody asks.
	Hits map[string]int
}

// run is one schedule under way.
type run struct {
	t      Target
	hits   map[string]int
	names  []store.Name
	owners [][]byte
	fences map[[2]int]uint64 // key, owner: of its last grant
	last   *store.Operation
	trace  []string
}

const maxKeys, maxOwners = 4, 12

// Run runs the actions on fresh records, up to the first difference. An error is
// of the target, not of the store.
func (r *Runner) Run(ctx context.Context, actions []Action) (*Difference, error) {
	s := run{t: r.Target, hits: r.Hits, fences: map[[2]int]uint64{}}
	if err := s.t.Lose(LoseAll, store.Name{}); err != nil {
		return nil, err
	}
	for range maxKeys {
		var n store.Name
		rand.Read(n[:])
		s.names = append(s.names, n)
	}
	for i := range maxOwners {
		// Bytes that text would not survive; alike but for one.
		o := []byte(strings.Repeat("\x00\xff'\n", wire.OwnerBytes/4))
		o[len(o)-1] = byte(i)
		s.owners = append(s.owners, o)
	}
	for i, a := range actions {
		lines, err := s.act(ctx, a)
		if err != nil {
			return nil, fmt.Errorf("action %d, %s: %w", i, a, err)
		}
		if len(lines) > 0 {
			return &Difference{i, lines, s.trace}, nil
		}
	}
	return nil, nil
}

func (s *run) act(ctx context.Context, a Action) ([]string, error) {
	name := s.names[a.Key]
	switch a.Verb {
	case Pass, SetBack:
		s.note("%s", a)
		d := a.Time
		if a.Verb == SetBack {
			d = -d
		}
		return nil, s.t.Pass(d, s.names)
	case LoseAll, LoseRecord, LoseResult, LoseIndex, LoseScripts:
		s.note("%s", a)
		return nil, s.t.Lose(a.Verb, name)
	case Repeat:
		if s.last == nil {
			return nil, nil
		}
		op := *s.last
		return s.step(ctx, a, &op)
	}
	before, err := s.t.Read(name)
	if err != nil {
		return []string{err.Error()}, nil
	}
	if a.decision() {
		return s.decide(ctx, a, name, before.Fence)
	}
	if a.finding() {
		return s.find(ctx, a, name, &before)
	}
	if a.tending() {
		return s.tend(ctx, a, name)
	}
	if a.Verb == Look {
		return s.look(ctx, a, name)
	}
	op := s.operation(a, name, before.Fence)
	s.last = &op
	return s.step(ctx, a, &op)
}

// operation is a, as the run makes it.
func (s *run) operation(a Action, name store.Name, fence uint64) store.Operation {
	p := a.Policy
	op := store.Operation{Kind: wire.Kind(a.Verb), Name: name, Policy: &p, Fingerprint: fingerprint(a.Print)}
	switch op.Kind {
	case wire.Issue:
		op.Life, op.Fingerprint = a.Time, nil
		return op
	case wire.Complete:
		op.Result = []byte(a.Body)
	case wire.Executed:
		op.NoResult = a.NoResult
	}
	op.Owner, op.Status, op.Unprotected = s.owners[a.Owner], a.Status, a.Unprotected
	if a.Asks {
		op.Identity, op.Caller = []byte(strings.Repeat("\x00sealed\xff", 12)), []byte(fmt.Sprintf("caller\x00%d", a.Owner))
		op.Trace = fmt.Sprintf("00-%032d-%016d-01", a.Owner+1, a.Owner+1)
	}
	if op.Kind == wire.Executed || op.Kind == wire.Complete {
		op.TTL = a.Word
	}
	if op.Kind == wire.Claim {
		return op
	}
	op.Fence = s.fence(a, fence)
	return op
}

// fence is the one that a means, where the record's is of.
func (s *run) fence(a Action, of uint64) uint64 {
	switch a.Fence {
	case OwnFence:
		return s.fences[[2]int{a.Key, a.Owner}]
	case RecordFence:
		return of
	case OlderFence:
		return max(of, 1) - 1
	case NewerFence:
		return of + 5
	}
	return 0
}

// fingerprint is one that fills all three fields of the record.
func fingerprint(letter byte) []byte {
	if letter == 0 {
		return nil
	}
	return []byte(strings.Repeat("\x00"+string(letter)+"\xfe", 43))
}

// A doing is one step as it was done, and as the table does it.
type doing struct {
	what  string
	blind bool // it looks at the index alone, and does not mend it
	do    func() (got store.Reply, answer string)
	table func(r table.Record, now int64) (table.Record, store.Reply, *table.Row)
}

// step carries op out and compares.
func (s *run) step(ctx context.Context, a Action, op *store.Operation) ([]string, error) {
	return s.compared(op.Name, doing{
		what: fmt.Sprintf("%s, fence %d", a, op.Fence),
		do: func() (store.Reply, string) {
			op.Deadline = time.Now().Add(patience)
			got := s.t.Store().Do(ctx, []store.Operation{*op})[0]
			if got.Code == wire.Created {
				s.remember(op, got.Fence)
			}
			return got, fmt.Sprintf("code %d fence %d err %v", got.Code, got.Fence, got.Err)
		},
		table: func(r table.Record, now int64) (table.Record, store.Reply, *table.Row) {
			return table.Step(r, op, now, s.t.Limits())
		},
	})
}

// decide carries an operator's decision out and compares. A verdict stands in for
// the code of an answer.
func (s *run) decide(ctx context.Context, a Action, name store.Name, fence uint64) ([]string, error) {
	d := store.Resolution{
		Name: name, Fence: s.fence(a, fence), Action: store.Action(a.Verb - DecideComplete + 1), Owner: s.owners[a.Owner],
		Status: a.Status, Result: []byte(a.Body), By: a.Time, Deadline: time.Now().Add(patience),
	}
	return s.compared(name, doing{
		what: fmt.Sprintf("%s, fence %d", a, d.Fence),
		do: func() (store.Reply, string) {
			v, err := s.t.Inspector().Resolve(ctx, d)
			return store.Reply{Code: wire.Code(v), Err: err}, fmt.Sprintf("verdict %d err %v", v, err)
		},
		table: func(r table.Record, now int64) (table.Record, store.Reply, *table.Row) {
			after, v, row := table.Resolve(r, &d, now, s.t.Limits())
			return after, store.Reply{Code: wire.Code(v)}, row
		},
	})
}

// remember keeps the fence of a grant for its owner's later words.
func (s *run) remember(op *store.Operation, fence uint64) {
	for k, n := range s.names {
		for o, owner := range s.owners {
			if n == op.Name && string(owner) == string(op.Owner) {
				s.fences[[2]int{k, o}] = fence
			}
		}
	}
}

// compared does d between two looks at the record, and those between two at the
// clock.
func (s *run) compared(name store.Name, d doing) ([]string, error) {
	t0, err := s.t.Now()
	if err != nil {
		return nil, err
	}
	before, err := s.t.Read(name)
	if err != nil {
		return []string{err.Error()}, nil
	}
	got, answer := d.do()
	after, err := s.t.Read(name)
	if err != nil {
		return []string{err.Error()}, nil
	}
	t1, err := s.t.Now()
	if err != nil {
		return nil, err
	}
	s.note("%s\n      %s\n      -> %s\n      %s", d.what, show(&before), answer, show(&after))
	if !s.t.Exact() && (onBrink(before.Left) || onBrink(before.ResultLeft)) {
		return nil, nil
	}
	lines := s.differs(before, after, got, d, t0, t1-t0)
	if len(lines) > 0 && !s.t.Exact() {
		// The clock ran meanwhile, maybe over the end of a lease or a life.
		if again := s.differs(before, after, got, d, t1, t1-t0); len(again) == 0 {
			lines = nil
		}
	}
	lines = append(lines, after.Broken()...)
	if d.blind {
		return lines, nil
	}
	return append(lines, after.BrokenAfter(&before, t1)...), nil
}

// differs says what differs from the table, were the step taken at now. Moments
// may differ by as much as the clock ran meanwhile.
func (s *run) differs(before, after table.Record, got store.Reply, d doing, now, slack int64) []string {
	want, reply, row := d.table(before, now)
	if row == nil {
		return []string{"the table has no row"}
	}
	if s.hits != nil {
		s.hits[row.Name]++
	}
	lines := compareReplies(reply, got, slack)
	lines = append(lines, compareRecords(want, after, slack)...)
	if len(lines) > 0 {
		lines = append([]string{"row " + row.Name}, lines...)
	}
	return lines
}

// brink is the life below which a server whose clock runs may drop a key at any
// moment of a step (us).
const brink = 100_000

func onBrink(left int64) bool { return left > 0 && left <= brink }

func (s *run) note(format string, args ...any) {
	s.trace = append(s.trace, fmt.Sprintf("%3d. ", len(s.trace)+1)+fmt.Sprintf(format, args...))
}
