package clusterfault

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/oncewall/oncewall/bridge/store/redis"
	"github.com/oncewall/oncewall/filter/wire"
)

func lines(s string) []string { return strings.Split(s, "\n") }

// Lost index members cost no claim, and come back with the next touch.
func indexDeleted(r *rig) {
	plain := r.load(0)
	name, owner := newName(r.bucket(1)), newOwner()
	if reply := r.one(r.claim(name, owner, policyOf(0), time.Second)); reply.Code != wire.Created {
		r.Fatalf("claim: %+v", reply)
	}
	for region := range regions {
		n := r.master(region)
		for b := range redis.Buckets {
			if regionOf[b] == region {
				r.command(n, "DEL", tag(b)+"idx")
			}
		}
	}
	if reply := r.one(r.claim(name, newOwner(), policyOf(0), time.Second)); reply.Code != wire.InFlight {
		r.Errorf("claim after the index was lost: %+v, want in-flight", reply)
	}
	member := strings.TrimPrefix(record(name), tag(bucketOf(name)))
	if score := r.command(r.master(1), "ZSCORE", tag(bucketOf(name))+"idx", member); score == "" {
		r.Error("the touch did not index the record again")
	}
	plain.flowsEverywhere()
	plain.end()
}

// A master that is full takes no new claim, and every final word.
func memoryFull(r *rig) {
	name, owner := newName(r.bucket(0)), newOwner()
	op := r.claim(name, owner, policyOf(1), time.Second)
	if reply := r.one(op); reply.Code != wire.Created {
		r.Fatalf("claim: %+v", reply)
	}
	plain, acked := r.load(0), r.load(1)
	met := r.meets("OOM")
	r.command(r.master(0), "CONFIG", "SET", "maxmemory", "1")
	plain.hurts(0)
	acked.hurts(0)
	met()
	op.Kind, op.Status, op.Result, op.Deadline = wire.Complete, 201, []byte("result"), time.Now().Add(time.Second)
	if reply := r.one(op); reply.Code != wire.OK {
		r.Errorf("complete while memory is full: %+v, want ok", reply)
	}
	plain.flows(1)
	plain.flows(2)
	r.command(r.master(0), "CONFIG", "SET", "maxmemory", "0")
	plain.flowsEverywhere()
	acked.flowsEverywhere()
	plain.end(0)
	acked.end(0)
}

// A master that comes back with its data before it is failed over, as a
// supervisor brings it.
func masterRestarted(r *rig) {
	plain, acked := r.load(0), r.load(1)
	n := r.master(0)
	n.Kill()
	plain.hurts(0)
	if err := n.Restart(r.Context()); err != nil {
		r.Fatal(err)
	}
	plain.flowsEverywhere()
	acked.flowsEverywhere()
	plain.end(0)
	acked.end(0)
}

// A master that comes back with its data and reads for a while answers LOADING.
func masterLoading(r *rig) {
	n := r.master(0)
	// Its data as one snapshot, and a pause after each key, a second in all.
	r.command(n, "CONFIG", "SET", "rdbcompression", "no")
	for i := range 100 {
		r.command(n, "SET", fmt.Sprintf("%s%d", fillerIn(0), i), strings.Repeat("x", 4096), "PX", "60000")
	}
	r.command(n, "BGREWRITEAOF")
	r.eventually("its data are one snapshot", func() bool {
		info := r.command(n, "INFO", "persistence")
		return strings.Contains(info, "aof_rewrite_in_progress:0") && strings.Contains(info, "aof_rewrite_scheduled:0")
	})
	keys, err := strconv.Atoi(r.command(n, "DBSIZE"))
	if err != nil {
		r.Fatal(err)
	}
	plain, acked := r.load(0), r.load(1)
	met := r.meets("LOADING")
	n.Kill()
	if err := n.Restart(r.Context(), "--key-load-delay", strconv.Itoa(1_000_000/keys), "--loading-process-events-interval-bytes", "1024"); err != nil {
		r.Fatal(err)
	}
	met()
	plain.flowsEverywhere()
	acked.flowsEverywhere()
	plain.end(0)
	acked.end(0)
}

// fillerIn is the start of keys that lie in a region and are no record's.
func fillerIn(region int) string { return tag(bucketsOf[region][0]) + "filler" }

// CLUSTER FAILOVER loses nothing: the replica takes over when it has all.
func manualFailover(r *rig) {
	plain, acked := r.load(0), r.load(1)
	old := r.master(0)
	next := r.replica(old)
	// Redis gives a manual failover up without a word after 5s.
	var asked time.Time
	r.eventually("the replica is master", func() bool {
		if time.Since(asked) > 6*time.Second && r.master(0) == old {
			r.command(next, "CLUSTER", "FAILOVER")
			asked = time.Now()
		}
		return r.master(0) == next
	})
	plain.flowsEverywhere()
	acked.flowsEverywhere()
	plain.end(0)
	acked.end(0)
}

// CLUSTER FAILOVER FORCE asks nobody: the replica takes over with what it has.
// What the old master acknowledged last may be lost to callers that asked for no
// replica.
func forcedFailover(r *rig) {
	plain, acked := r.load(0), r.load(1)
	old := r.master(1)
	next := r.replica(old)
	plain.flows(1)
	acked.flows(1)
	var asked time.Time
	r.eventually("the replica is master", func() bool {
		if time.Since(asked) > 6*time.Second && r.master(1) == old {
			r.command(next, "CLUSTER", "FAILOVER", "FORCE")
			asked = time.Now()
		}
		return r.master(1) == next
	})
	plain.flowsEverywhere()
	acked.flowsEverywhere()
	acked.end(1)
	plain.lossy()
}

// A master that is set to stop writing when its replica is silent does so, and
// for its own keys alone.
func tooFewToWrite(r *rig) {
	n := r.master(0)
	replica := r.replica(n)
	set := func(few string) {
		r.command(n, "CONFIG", "SET", "min-replicas-to-write", few, "min-replicas-max-lag", "1")
	}
	set("1")
	defer set("0")
	plain, acked := r.load(0), r.load(1)
	met := r.meets("NOREPLICAS")
	if err := replica.Pause(); err != nil {
		r.Fatal(err)
	}
	defer replica.Resume()
	plain.hurts(0)
	met()
	for region := 1; region < regions; region++ {
		plain.flows(region)
		acked.flows(region)
	}
	if err := replica.Resume(); err != nil {
		r.Fatal(err)
	}
	plain.flowsEverywhere()
	acked.flowsEverywhere()
	plain.end(0)
	acked.end(0)
}

// One of three masters hangs. Its keys are unavailable within their budget until
// its replica takes over; nobody else notices.
func masterStopped(r *rig) {
	plain, acked := r.load(0), r.load(1)
	n := r.master(1)
	if err := n.Pause(); err != nil {
		r.Fatal(err)
	}
	defer n.Resume()
	plain.hurts(1)
	acked.hurts(1)
	plain.flows(0)
	plain.flows(2)
	acked.flows(0)
	acked.flows(2)
	r.eventually("the replica has taken over", func() bool {
		reply := r.one(r.claim(newName(r.bucket(1)), newOwner(), policyOf(0), time.Second))
		return reply.Err == nil
	})
	if err := n.Resume(); err != nil {
		r.Fatal(err)
	}
	plain.flowsEverywhere()
	acked.flowsEverywhere()
	// What the old master acknowledged in its last moment may be lost to callers
	// that asked for no replica: they are not counted here.
	acked.end(1)
	plain.lossy()
}

// A replica that hangs takes from its master those rules alone that wait for it.
func replicaStopped(r *rig) {
	n := r.replica(r.master(2))
	if err := n.Pause(); err != nil {
		r.Fatal(err)
	}
	defer n.Resume()
	plain, acked := r.load(0), r.load(1)
	acked.hurts(2)
	plain.flowsEverywhere()
	acked.flows(0)
	acked.flows(1)
	if reply := r.one(r.claim(newName(r.bucket(2)), newOwner(), policyOf(1), budget)); reply.Err == nil {
		r.Errorf("claim that wants a replica: %+v, want unavailable", reply)
	}
	if err := n.Resume(); err != nil {
		r.Fatal(err)
	}
	acked.flowsEverywhere()
	plain.end()
	acked.end(2)
}

// A master dies and its replica takes over. What a replica acknowledged is
// there.
func masterKilled(r *rig) {
	plain, acked := r.load(0), r.load(1)
	n := r.master(2)
	acked.flows(2)
	n.Kill()
	plain.hurts(2)
	acked.hurts(2)
	r.eventually("the replica has taken over", func() bool {
		return r.one(r.claim(newName(r.bucket(2)), newOwner(), policyOf(0), time.Second)).Err == nil
	})
	if err := n.Restart(r.Context()); err != nil {
		r.Fatal(err)
	}
	acked.flowsEverywhere()
	acked.end(2)
	plain.lossy()
}
