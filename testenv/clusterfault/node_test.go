package clusterfault

import (
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
	r.command(r.master(0), "CONFIG", "SET", "maxmemory", "1")
	plain.hurts(0)
	acked.hurts(0)
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
	plain.stopped()
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
	plain.stopped()
}

// stopped ends a load whose keys a failover may have lost, and says how many.
func (l *load) stopped() {
	l.r.Helper()
	close(l.stop)
	l.all.Wait()
	for region := range regions {
		l.r.Logf("without replicas: region %d: %s answered", region, strconv.FormatInt(l.served[region].Load(), 10))
	}
	l.r.Logf("without replicas: %d of %d keys were granted twice", l.twice(), len(l.keys))
}
