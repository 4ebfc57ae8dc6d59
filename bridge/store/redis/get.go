package redis

import (
	"context"
	_ "embed"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/rueidis"

	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/filter/wire"
)

var _ store.Inspector = (*Store)(nil)

//go:embed lua/get.lua
var getLua string

var getScript = newScript(getLua)

// states maps the field st to a state.
var states = map[string]store.State{
	"I": store.Issued, "R": store.Released, "P": store.Processing,
	"U": store.Unknown, "E": store.Executed, "C": store.Completed, "M": store.Elsewhere,
}

// Get reads a record; see [store.Inspector].
func (s *Store) Get(ctx context.Context, name store.Name, withResult bool) (store.Record, error) {
	c, err := s.connection()
	if err != nil {
		return store.Record{}, away(err)
	}
	records, err := s.get(ctx, c, []store.Name{name}, withResult)
	if err != nil {
		return store.Record{}, err
	}
	return records[0], nil
}

// get reads several records in one pipeline.
func (s *Store) get(ctx context.Context, c rueidis.Client, names []store.Name, withResult bool) ([]store.Record, error) {
	flag := "0"
	if withResult {
		flag = "1"
	}
	list := make([]request, len(names))
	for i, n := range names {
		list[i] = request{script: getScript, args: []string{flag}}
		list[i].record, list[i].result, list[i].index = keys(n)
	}
	records := make([]store.Record, len(names))
	for i, res := range s.read(ctx, c, list) {
		items, err := res.ToArray()
		if err != nil {
			return nil, away(err)
		}
		if records[i], err = decodeRecord(items); err != nil {
			return nil, away(err)
		}
	}
	return records, nil
}

// read sends requests that change nothing and returns their results in order.
// Those whose script a node does not know are sent once more with its text.
func (s *Store) read(ctx context.Context, c rueidis.Client, list []request) []rueidis.RedisResult {
	commands := make(rueidis.Commands, len(list))
	for i := range list {
		commands[i] = list[i].command(c, false)
	}
	s.commands.Add(uint64(len(commands)))
	results := c.DoMulti(ctx, commands...)
	var again rueidis.Commands
	var at []int
	for i, res := range results {
		if noScript(res) {
			again, at = append(again, list[i].command(c, true)), append(at, i)
		}
	}
	if len(again) > 0 {
		s.commands.Add(uint64(len(again)))
		for i, res := range c.DoMulti(ctx, again...) {
			results[at[i]] = res
		}
	}
	return results
}

func away(err error) error { return fmt.Errorf("%w: %w", store.ErrUnavailable, err) }

// decodeRecord reads the tuple that get.lua describes.
func decodeRecord(items []rueidis.RedisMessage) (store.Record, error) {
	if len(items) == laterItems {
		return store.Record{State: store.Later}, nil
	}
	a := answer{items: items}
	now := a.int(0)
	r := store.Record{Kept: a.int(1) == 1, Result: a.bytes(2)}
	if len(r.Result) == 0 {
		r.Result = nil
	}
	f := make(map[string]string, len(items)/2)
	for i := 3; i+1 < len(items); i += 2 {
		f[string(a.bytes(i))] = string(a.bytes(i + 1))
	}
	if len(f) == 0 {
		r.Kept, r.Result = false, nil
		return r, badAnswer(a.bad)
	}
	number := func(name string) int64 {
		if f[name] == "" {
			return 0
		}
		n, err := strconv.ParseInt(f[name], 10, 64)
		a.bad = a.bad || err != nil
		return n
	}
	until := func(us int64) time.Duration { return time.Duration(us-now) * time.Microsecond }
	var known bool
	r.State, known = states[f["st"]]
	a.bad = a.bad || !known
	r.Fence, r.Attempts = uint64(number("fe")), uint32(number("at"))
	r.Status, r.NotedStatus = uint16(number("sc")), uint16(number("ns"))
	r.Maybe, r.Noted, r.Held = f["mb"] == "1", f["nw"] != "", f["hd"] == "1"
	r.Identity, r.Caller, r.Owner = present(f["id"]), present(f["cl"]), present(f["ow"])
	if claimed := number("ca"); claimed > 0 {
		r.Age = max(-until(claimed), 0)
	}
	end := number("le")
	r.LeaseOver = now >= end
	if end > 0 {
		r.Lease = until(end)
	}
	switch r.State {
	case store.Executed, store.Completed:
		r.Remaining = until(number("ex"))
		if r.Erased = len(r.Owner) == 0; r.Erased {
			r.Status = 0
		}
	case store.Issued:
		r.Remaining = until(number("kx"))
	}
	if text := f["po"]; text != "" {
		var err error
		if r.Policy, err = unpack(text); err != nil {
			a.bad = true
		}
	}
	return r, badAnswer(a.bad)
}

func badAnswer(bad bool) error {
	if bad {
		return errAnswer
	}
	return nil
}

// unpack reads a policy as pack writes it.
func unpack(text string) (wire.Policy, error) {
	var p wire.Policy
	var recovery int64
	var issued, reject string
	rest := text
	part := func() string {
		i := 0
		for i < len(rest) && rest[i] != ':' {
			i++
		}
		v := rest[:i]
		rest = rest[min(i+1, len(rest)):]
		return v
	}
	for _, n := range []*int64{&p.TTLMS, &p.TombstoneMS, &p.LeaseMS, &p.MaxAttempts, &recovery} {
		v, err := strconv.ParseInt(part(), 10, 64)
		if err != nil {
			return p, errAnswer
		}
		*n = v
	}
	issued, reject = part(), part()
	if len(issued) != 1 || len(reject) < 1 || len(reject) > 2 {
		return p, errAnswer
	}
	if len(reject) == 2 {
		p.Replicas = int64(reject[1] - '0')
	}
	p.Recovery, p.Issued, p.RejectRepeat, p.Generation = wire.Recovery(recovery), issued == "1", reject[0] == '1', rest
	return p, nil
}

// present is a field's value; nil: it is not there.
func present(v string) []byte {
	if v == "" {
		return nil
	}
	return []byte(v)
}
