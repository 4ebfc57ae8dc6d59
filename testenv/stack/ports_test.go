package stack

import (
	"sync"
	"testing"
)

// Stacks that are started at once must not be given a port twice.
func TestPortsAreGivenOnce(t *testing.T) {
	o := Options{Gateways: 2, Store: Cluster, Bridges: 2}
	picked := make([]Ports, 40)
	var done sync.WaitGroup
	for i := range picked {
		done.Go(func() {
			var err error
			if picked[i], err = pickFree(o); err != nil {
				t.Error(err)
			}
		})
	}
	done.Wait()
	seen := map[int]bool{}
	for _, p := range picked {
		for _, port := range append(p.all(), p.derived(o)...) {
			if seen[port] {
				t.Errorf("port %d was given twice", port)
			}
			seen[port] = true
		}
	}
}
