package clusterfault

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/oncewall/oncewall/testenv/rediscluster"
)

// The faults of a cluster, one after the other on the same one.
func TestCluster(t *testing.T) {
	r := start(t, rediscluster.Config{})
	for _, f := range []struct {
		name string
		test func(*rig)
	}{
		{"no fault", noFault},
		{"NOSCRIPT after SCRIPT FLUSH", scriptFlush},
		{"MOVED: slots migrated under load", moved},
		{"ASK and TRYAGAIN: a slot half migrated", halfMigrated},
		{"index deleted", indexDeleted},
		{"memory full", memoryFull},
		{"a master restarted", masterRestarted},
		{"LOADING: a master that reads its data", masterLoading},
		{"manual failover", manualFailover},
		{"forced failover", forcedFailover},
		{"NOREPLICAS: min-replicas-to-write", tooFewToWrite},
		{"a master stopped", masterStopped},
		{"a replica stopped", replicaStopped},
		{"a master killed", masterKilled},
		{"CLUSTERDOWN: a slot without a master", slotDown},
	} {
		if !t.Run(f.name, func(t *testing.T) {
			s := r.sub(t)
			for range rounds() {
				s.healthy()
				f.test(s)
			}
		}) {
			t.Fatal("the cluster may not be whole any more")
		}
	}
}

func noFault(r *rig) {
	plain, acked := r.load(0), r.load(1)
	plain.flowsEverywhere()
	acked.flowsEverywhere()
	plain.end()
	acked.end()
}

func scriptFlush(r *rig) {
	plain, acked := r.load(0), r.load(1)
	met := r.meets("NOSCRIPT")
	for range 5 {
		for _, n := range r.Nodes {
			r.command(n, "SCRIPT", "FLUSH")
		}
		plain.flowsEverywhere()
		acked.flowsEverywhere()
	}
	met()
	plain.end()
	acked.end()
}

// migrate makes slot's keys move from one master to another; done ends it. In
// between the slot is half here, half there.
func (r *rig) migrate(slot string, from, to *rediscluster.Node) (done func()) {
	r.Helper()
	source, target := r.command(from, "CLUSTER", "MYID"), r.command(to, "CLUSTER", "MYID")
	r.command(to, "CLUSTER", "SETSLOT", slot, "IMPORTING", source)
	r.command(from, "CLUSTER", "SETSLOT", slot, "MIGRATING", target)
	return func() {
		r.Helper()
		for {
			keys := r.command(from, "CLUSTER", "GETKEYSINSLOT", slot, "100")
			if keys == "" {
				break
			}
			args := []string{"MIGRATE", "127.0.0.1", strconv.Itoa(to.Port), "", "0", "5000", "KEYS"}
			r.command(from, append(args, lines(keys)...)...)
		}
		r.command(to, "CLUSTER", "SETSLOT", slot, "NODE", target)
		r.command(from, "CLUSTER", "SETSLOT", slot, "NODE", target)
	}
}

// slotsOf are some slots of a region that hold buckets.
func slotsOf(region, count int) (out []string) {
	for b, of := range regionOf {
		slot := strconv.Itoa(rediscluster.Slot(tag(b)))
		if of == region && !slices.Contains(out, slot) && len(out) < count {
			out = append(out, slot)
		}
	}
	return out
}

func moved(r *rig) {
	plain, acked := r.load(0), r.load(1)
	from, to := r.master(0), r.master(1)
	met := r.meets("MOVED")
	slots := slotsOf(0, 20)
	for _, slot := range slots {
		r.migrate(slot, from, to)()
	}
	plain.flowsEverywhere()
	acked.flowsEverywhere()
	for _, slot := range slots {
		r.migrate(slot, to, from)()
	}
	plain.flowsEverywhere()
	acked.flowsEverywhere()
	met()
	plain.endIn(0, slots)
	acked.endIn(0, slots)
}

// A script names three keys, and a slot that is half migrated refuses whatever
// is not wholly on one side. Its keys are unavailable until the migration goes
// on; all others are served.
func halfMigrated(r *rig) {
	plain, acked := r.load(0), r.load(1)
	from, to := r.master(2), r.master(0)
	ask, again := r.meets("ASK"), r.meets("TRYAGAIN")
	var ends []func()
	slots := slotsOf(2, 4)
	for _, slot := range slots {
		ends = append(ends, r.migrate(slot, from, to))
	}
	plain.hurts(2)
	acked.hurts(2)
	ask()
	again()
	plain.flowsEverywhere()
	acked.flowsEverywhere()
	for _, end := range ends {
		end()
	}
	plain.flowsEverywhere()
	acked.flowsEverywhere()
	for _, slot := range slots {
		r.migrate(slot, to, from)()
	}
	plain.endIn(2, slots)
	acked.endIn(2, slots)
}

func slotDown(r *rig) {
	plain, acked := r.load(0), r.load(1)
	master := r.master(1)
	slots := slotsOf(1, 4)
	met := r.meets("CLUSTERDOWN")
	for _, n := range r.Nodes {
		for _, slot := range slots {
			// Another may have told this node already.
			if _, err := n.Do(r.Context(), "CLUSTER", "DELSLOTS", slot); err != nil && !strings.Contains(err.Error(), "already unassigned") {
				r.Fatalf("%s: slot %s: %v", n.Address(), slot, err)
			}
		}
	}
	plain.hurts(1)
	acked.hurts(1)
	met()
	plain.flowsEverywhere()
	r.command(master, append([]string{"CLUSTER", "ADDSLOTS"}, slots...)...)
	r.command(master, "CLUSTER", "BUMPEPOCH")
	plain.flowsEverywhere()
	acked.flowsEverywhere()
	plain.endIn(1, slots)
	acked.endIn(1, slots)
}
