package redis

import (
	"context"
	_ "embed"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/redis/rueidis"

	"github.com/oncewall/oncewall/bridge/store"
)

var _ store.Reporter = (*Store)(nil)

//go:embed lua/report.lua
var reportLua string

var reportScript = rueidis.NewLuaScript(reportLua)

// reportPrefix begins the keys of reports. They have a hash tag of their own, so
// that one node has all of them.
const reportPrefix = "ow:{report}:"

// reportPage is how many hours are read in one pipeline.
const reportPage = 48

var errTallies = errors.New("redis: report: not a valid addition")

func reportKey(hour int64) string { return reportPrefix + strconv.FormatInt(hour, 10) }

// tallyField is class, ':', length of the namespace, ':', namespace and scope.
func tallyField(t *store.Tally) string {
	return t.Class + ":" + strconv.Itoa(len(t.Namespace)) + ":" + t.Namespace + t.Scope
}

// parseTally reads a field; false: it is none of a count.
func parseTally(field, value string) (t store.Tally, ok bool) {
	class, rest, ok := strings.Cut(field, ":")
	if !ok {
		return t, false
	}
	length, names, ok := strings.Cut(rest, ":")
	n, err := strconv.Atoi(length)
	if !ok || err != nil || n < 0 || n > len(names) || class == "" || class[0] == '!' {
		return t, false
	}
	t = store.Tally{Class: class, Namespace: names[:n], Scope: names[n:]}
	t.N, err = strconv.ParseInt(value, 10, 64)
	return t, err == nil && t.N > 0
}

// AddTallies implements [store.Reporter].
func (s *Store) AddTallies(ctx context.Context, t store.Tallies) error {
	if len(t.List) > store.MaxTallies || t.Writer == "" || t.Number <= 0 || strings.Contains(t.Writer, ":") {
		return errTallies
	}
	c, err := s.connection()
	if err != nil {
		return away(err)
	}
	// An hour that is over is written to for a while: its life counts from the last time.
	life := (store.ReportHours + 1) * time.Hour
	args := []string{strconv.Itoa(store.MaxTallied), millis(life), t.Writer, strconv.FormatInt(t.Number, 10)}
	for i := range t.List {
		if t.List[i].Class == "" || strings.Contains(t.List[i].Class, ":") {
			return errTallies
		}
		args = append(args, tallyField(&t.List[i]), strconv.FormatInt(t.List[i].N, 10), tallyField(&store.Tally{Class: t.List[i].Class}))
	}
	s.commands.Add(1)
	if err := reportScript.Exec(ctx, c, []string{reportKey(t.Hour)}, args).Error(); err != nil {
		return away(err)
	}
	return nil
}

// Tallies implements [store.Reporter].
func (s *Store) Tallies(ctx context.Context, from, to int64) ([]store.Tally, error) {
	c, err := s.connection()
	if err != nil {
		return nil, away(err)
	}
	type name struct{ class, namespace, scope string }
	at := map[name]int{}
	var sum []store.Tally
	for hour := max(from, to-store.ReportHours); hour <= to; hour += reportPage {
		var commands rueidis.Commands
		for h := hour; h <= min(hour+reportPage-1, to); h++ {
			commands = append(commands, c.B().Hgetall().Key(reportKey(h)).Build())
		}
		s.commands.Add(uint64(len(commands)))
		for _, res := range c.DoMulti(ctx, commands...) {
			fields, err := res.AsStrMap()
			if err != nil {
				return nil, away(err)
			}
			for field, value := range fields {
				t, ok := parseTally(field, value)
				if !ok {
					continue
				}
				n := name{t.Class, t.Namespace, t.Scope}
				i, known := at[n]
				if !known {
					i = len(sum)
					at[n] = i
					sum = append(sum, store.Tally{Class: t.Class, Namespace: t.Namespace, Scope: t.Scope})
				}
				sum[i].N += t.N
			}
		}
	}
	return sum, nil
}
