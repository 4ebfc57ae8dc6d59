package stack

import (
	"fmt"
	"strings"
	"sync"
	"testing"
)

// Stacks that are started at once must not be given a port twice.
func TestPortsAreGivenOnce(t *testing.T) {
	o := Options{Gateways: 2, Store: Cluster, Bridges: 2}
	picked := make([]Ports, 24)
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

// Parts that would meet on a port are named before any of them is started.
func TestPartsHavePortsOfTheirOwn(t *testing.T) {
	bridge, shop := &part{name: BridgePart(0), ports: []int{1, 2}}, &part{name: ShopPart, ports: []int{3}}
	if err := distinct([]*part{bridge, shop}); err != nil {
		t.Error(err)
	}
	second := &part{name: BridgePart(1), ports: []int{3, 2}}
	err := distinct([]*part{bridge, shop, second})
	if err == nil {
		t.Fatal("two parts would listen on one port")
	}
	want := "port 3: both shop and bridge-2 would listen on it\nport 2: both bridge and bridge-2 would listen on it"
	if err.Error() != want {
		t.Errorf("got %q, want %q", err, want)
	}
}

// A stack whose ports meet is refused as a whole.
func TestStartRefusesPortsThatMeet(t *testing.T) {
	// Nothing listens on them: it does not come to that.
	ports := Ports{Gateway: 21001, EnvoyAdmin: 21002, Bridge: 21003, BridgeAdmin: 21004, Shop: 21004}
	s, err := Start(t.Context(), Options{Ports: &ports, Dir: t.TempDir()})
	if err == nil {
		_ = s.Close()
		t.Fatal("started")
	}
	if want := fmt.Sprintf("port %d: both bridge and shop", ports.Shop); !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
}
