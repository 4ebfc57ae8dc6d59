package conformance

import (
	"errors"
	"strconv"
	"time"

	"github.com/oncewall/oncewall/testenv/host"
)

// real is the stage of one scenario in a fleet.
type real struct {
	f    *fleet
	sc   *Scenario
	l    *lab
	from int
}

func newReal(f *fleet, sc *Scenario) *real {
	r := &real{f: f, sc: sc, l: f.labs[sc.Name]}
	if !sc.Startup {
		r.from = len(f.tracesOf(sc.Name))
	}
	return r
}

func (r *real) connect(_ int, q host.Request) wire {
	addr := "127.0.0.1:" + strconv.Itoa(r.f.ports[r.sc.Name])
	var w wire
	var err error
	if q.HTTP2 {
		w, err = dialH2(r.l, addr, q)
	} else {
		w, err = dialH1(r.l, addr, q)
	}
	if err != nil {
		panic(stuck{err.Error()})
	}
	return w
}

func (r *real) exchanges(cluster string) []wire {
	r.l.mu.Lock()
	defer r.l.mu.Unlock()
	return r.l.seen[cluster]
}

func (r *real) trace() []line { return r.f.tracesOf(r.sc.Name)[r.from:] }

func (r *real) until(cond func() bool) bool { return r.l.until(stepLimit, cond) }

func (r *real) pass(d time.Duration) { r.l.until(d, func() bool { return false }) }

// poll waits for what no event tells of.
func (r *real) poll(cond func() bool) bool {
	deadline := time.Now().Add(stepLimit)
	for !cond() {
		if time.Now().After(deadline) {
			return false
		}
		r.pass(20 * time.Millisecond)
	}
	return true
}

func (r *real) reconfigure(config string) error {
	count := func(stat string) int {
		n, _ := strconv.Atoi(r.f.stat("listener_manager.lds." + stat))
		return n
	}
	done, refused := count("update_success"), count("update_rejected")
	old := r.f.configs[r.sc.Name]
	r.f.configs[r.sc.Name] = config
	if err := r.f.writeWatched(); err != nil {
		return err
	}
	ok := false
	if !r.poll(func() bool { ok = count("update_success") > done; return ok || count("update_rejected") > refused }) {
		panic(stuck{"the configuration's update"})
	}
	if !ok {
		r.f.configs[r.sc.Name] = old
		return errors.New("rejected")
	}
	if !r.poll(func() bool { return r.f.stat("listener_manager.total_listeners_warming") == "0" }) {
		panic(stuck{"the listener's warming"})
	}
	return nil
}

func (r *real) drained() {
	if !r.poll(func() bool { return r.f.stat("listener_manager.total_listeners_draining") == "0" }) {
		panic(stuck{"the listener's draining"})
	}
}

func (r *real) metric(_, name string) string {
	return r.f.stat("wasmcustom." + name)
}

func (r *real) access(id int) (string, bool) {
	key := strconv.Itoa(id)
	ok := false
	r.poll(func() bool {
		r.f.readAccess()
		r.f.mu.Lock()
		defer r.f.mu.Unlock()
		_, ok = r.f.access[r.sc.Name][key]
		return ok
	})
	r.f.mu.Lock()
	defer r.f.mu.Unlock()
	return r.f.access[r.sc.Name][key], ok
}

// settle waits until the log has been silent for a while: the last callback's
// operations follow it there.
func (r *real) settle() {
	n := -1
	r.poll(func() bool {
		before := n
		n = len(r.trace())
		return n == before
	})
}

func (r *real) finish() { r.l.close() }
