package schedule

import (
	"context"
	"strconv"
	"time"

	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/filter/wire"
	"github.com/oncewall/oncewall/testenv/model/table"
)

// encode writes the fields of a record's hash; decode reads them.
func encode(r *table.Record) map[string]string {
	f := map[string]string{}
	text := func(name, v string) {
		if v != "" {
			f[name] = v
		}
	}
	number := func(name string, v int64) {
		if v != 0 {
			f[name] = strconv.FormatInt(v, 10)
		}
	}
	flag := func(name string, v bool) {
		if v {
			f[name] = "1"
		}
	}
	for letter, s := range states {
		if s == r.State {
			f["st"] = letter
		}
	}
	text("ow", r.Owner)
	text("nw", r.NotedOwner)
	text("id", r.Identity)
	text("cl", r.Caller)
	text("tr", r.Trace)
	fp := r.Fingerprint
	for _, name := range []string{"f1", "f2", "f3"} {
		n := min(len(fp), 64)
		text(name, fp[:n])
		fp = fp[n:]
	}
	if r.HasPolicy {
		f["po"] = policyField(r.Policy)
	}
	number("fe", int64(r.Fence))
	number("ca", r.Claimed)
	number("le", r.LeaseEnd)
	number("at", r.Attempts)
	number("ns", int64(r.NotedStatus))
	number("sc", int64(r.Status))
	number("ex", r.Expires)
	number("kx", r.KeyExpires)
	for i, l := range r.Leavers {
		if l.Owner != "" {
			text("r"+strconv.Itoa(i+1), strconv.FormatInt(l.Until, 10)+":"+l.Owner)
		}
	}
	flag("mb", r.Maybe)
	flag("hd", r.Held)
	return f
}

func policyField(p wire.Policy) string {
	s := ""
	for _, n := range []int64{p.TTLMS, p.TombstoneMS, p.LeaseMS, p.MaxAttempts, int64(p.Recovery)} {
		s += strconv.FormatInt(n, 10) + ":"
	}
	for _, set := range []bool{p.Issued, p.RejectRepeat} {
		if set {
			s += "1:"
		} else {
			s += "0:"
		}
	}
	return s + p.Generation
}

// Write makes r the record of n, whatever it was before.
func (e *Embedded) Write(n store.Name, r table.Record) error {
	p, db := placesOf(n), e.server.DB(0)
	e.server.Del(p.record)
	e.server.Del(p.result)
	_, _ = e.server.ZRem(p.index, p.member) // an error says that there is none
	if r.State != table.Absent {
		for name, v := range encode(&r) {
			db.HSet(p.record, name, v)
		}
		e.server.SetTTL(p.record, time.Duration(r.Left)*time.Microsecond)
	}
	if r.Result != "" {
		if err := e.server.Set(p.result, r.Result); err != nil {
			return err
		}
		e.server.SetTTL(p.result, time.Duration(r.ResultLeft)*time.Microsecond)
	}
	if r.Indexed {
		if _, err := e.server.ZAdd(p.index, float64(r.Due), p.member); err != nil {
			return err
		}
	}
	return nil
}

// Check makes r the record that op names, lets the store carry op out, and
// returns what answer and record have other than the table says.
func Check(ctx context.Context, e *Embedded, r table.Record, op store.Operation) ([]string, error) {
	if err := e.Write(op.Name, r); err != nil {
		return nil, err
	}
	s := run{t: e, fences: map[[2]int]uint64{}}
	return s.step(ctx, Action{Verb: Verb(op.Kind)}, &op)
}
