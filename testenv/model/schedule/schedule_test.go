package schedule_test

import (
	"context"
	"flag"
	"testing"
	"time"

	"github.com/oncewall/oncewall/testenv/model/schedule"
	"github.com/oncewall/oncewall/testenv/model/table"
	"github.com/oncewall/oncewall/testenv/rediscluster"
)

var (
	seedFlag  = flag.Uint64("seed", 0, "run the schedule of this seed alone")
	countFlag = flag.Int("schedules", 400, "run this many schedules in the process, and a fifth of them on a real server")
	freshFlag = flag.Bool("fresh", false, "begin with a new seed, instead of 1")
)

func TestEmbedded(t *testing.T) {
	target := embedded(t)
	hits := map[string]int{}
	run(t, &schedule.Runner{Target: target, Hits: hits}, *countFlag, 0)
	if *seedFlag != 0 || *freshFlag {
		return
	}
	for i := range table.Rows {
		if row := &table.Rows[i]; row.Needs == "" && hits[row.Name] == 0 {
			t.Errorf("no schedule met row %s", row.Name)
		}
	}
}

func embedded(t *testing.T) *schedule.Embedded {
	t.Helper()
	target, err := schedule.NewEmbedded(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(target.Close)
	return target
}

func TestServer(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	c, err := rediscluster.StartSingle(ctx, rediscluster.Config{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	target, err := schedule.NewServer(ctx, c.Addresses()[0])
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(target.Close)
	run(t, &schedule.Runner{Target: target}, max(*countFlag/5, 1), time.Second)
}

// run runs n schedules, or the one that -seed names.
func run(t *testing.T, r *schedule.Runner, n int, shortest time.Duration) {
	t.Helper()
	first := uint64(1)
	if *freshFlag {
		first = uint64(time.Now().UnixNano())
	}
	if *seedFlag != 0 {
		first, n = *seedFlag, 1
	}
	for seed := first; seed < first+uint64(n); seed++ {
		actions := schedule.Generate(seed, shortest)
		d, err := r.Run(t.Context(), actions)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if d == nil {
			continue
		}
		actions, d, err = r.Minimise(t.Context(), actions, d)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		t.Fatalf("%d actions of seed %d differ, rerun with -seed=%d:\n%s", len(actions), seed, seed, d)
	}
}
