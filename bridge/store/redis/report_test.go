package redis_test

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/rueidis"

	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/bridge/store/redis"
	"github.com/oncewall/oncewall/testenv/rediscluster"
)

func TestReportEmbedded(t *testing.T) {
	s, err := redis.Embedded(redis.EmbeddedConfig{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	testReport(t, s.Store, s.Client())
}

func TestReportCluster(t *testing.T) {
	t.Parallel()
	s := open(t, start(t, rediscluster.Start), redis.Config{})
	testReport(t, s, s.Client())
}

// testReport: counts of an hour add up over writers, are made once however often they
// are sent, are summed over hours, are bounded, and die.
func testReport(t *testing.T, s *redis.Store, c rueidis.Client) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	add := func(hour int64, writer string, number int64, list ...store.Tally) {
		t.Helper()
		if err := s.AddTallies(ctx, store.Tallies{Hour: hour, Writer: writer, Number: number, List: list}); err != nil {
			t.Fatal(err)
		}
	}
	want := func(from, to int64, list ...store.Tally) {
		t.Helper()
		got, err := s.Tallies(ctx, from, to)
		if err != nil {
			t.Fatal(err)
		}
		slices.SortFunc(got, func(a, b store.Tally) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		slices.SortFunc(list, func(a, b store.Tally) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		if !reflect.DeepEqual(got, list) && len(got)+len(list) > 0 {
			t.Errorf("%d to %d: got %+v, want %+v", from, to, got, list)
		}
	}
	// The same letters in other places are other names.
	orders := store.Tally{Namespace: "edge", Scope: "orders", Class: "first", N: 2}
	like := store.Tally{Namespace: "edgeo", Scope: "rders", Class: "first", N: 1}
	twice := store.Tally{Namespace: "edge", Scope: "orders", Class: "first", N: 4}
	add(1000, "a", 1, orders, like)
	add(1000, "a", 1, orders, like) // its answer was lost
	add(1000, "b", 1, orders)
	add(1001, "a", 2, store.Tally{Namespace: "edge", Scope: "a:b", Class: "key-reused", N: 1 << 40})
	want(1000, 1000, twice, like)
	want(1001, 1001, store.Tally{Namespace: "edge", Scope: "a:b", Class: "key-reused", N: 1 << 40})
	want(990, 999)
	add(1060, "a", 3, orders)
	want(900, 1100, store.Tally{Namespace: "edge", Scope: "orders", Class: "first", N: 6}, like,
		store.Tally{Namespace: "edge", Scope: "a:b", Class: "key-reused", N: 1 << 40})

	life, err := c.Do(ctx, c.B().Pttl().Key("ow:{report}:1000").Build()).AsInt64()
	if low := (35 * 24 * time.Hour).Milliseconds(); err != nil || life < low || life > low+2*time.Hour.Milliseconds() {
		t.Errorf("an hour's counts live %dms: %v", life, err)
	}

	// More names than there is room for.
	number := int64(0)
	for i := 0; i < store.MaxTallied+100; i += store.MaxTallies {
		var list []store.Tally
		for n := range store.MaxTallies {
			list = append(list, store.Tally{Namespace: "edge", Scope: fmt.Sprint(i + n), Class: "first", N: 1})
		}
		number++
		add(2000, "c", number, list...)
	}
	got, err := s.Tallies(ctx, 2000, 2000)
	if err != nil {
		t.Fatal(err)
	}
	total, rest := int64(0), int64(0)
	for _, tally := range got {
		total += tally.N
		if tally.Namespace == "" && tally.Scope == "" {
			rest = tally.N
		}
	}
	if total != number*store.MaxTallies || rest != total-store.MaxTallied || len(got) != store.MaxTallied+1 {
		t.Errorf("%d counts in %d names, %d of them without one", total, len(got), rest)
	}
	if err := s.AddTallies(ctx, store.Tallies{Hour: 1, Writer: "a", Number: 9, List: make([]store.Tally, store.MaxTallies+1)}); err == nil {
		t.Error("an addition beyond its bound")
	}
}
