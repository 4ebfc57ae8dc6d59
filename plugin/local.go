//go:build wasip1

package main

import (
	"strconv"
	"time"

	"github.com/tetratelabs/proxy-wasm-go-sdk/proxywasm"
	"github.com/tetratelabs/proxy-wasm-go-sdk/proxywasm/wasip1"

	"github.com/oncewall/oncewall/filter"
	"github.com/oncewall/oncewall/filter/rules"
)

// localTable is the memory that the workers of this Envoy share, under names of
// one namespace.
type localTable struct{ prefix string }

var _ filter.Shared = localTable{}

func (t localTable) name(slot int) string { return t.prefix + strconv.Itoa(slot) }

func (t localTable) Get(slot int) ([]byte, uint32, bool) {
	v, cas, err := proxywasm.GetSharedData(t.name(slot))
	return v, cas, err == nil
}

func (t localTable) Set(slot int, value []byte, cas uint32) bool {
	return proxywasm.SetSharedData(t.name(slot), value, cas) == nil
}

func (localTable) Clock() int64 { return time.Now().UnixNano() }

// localLayout begins the names of the slots. Another number or size of slots needs
// another one, since a new version of the plugin may find those of an old one.
const localLayout = "oncewall.2."

// shareLocal makes the table where a rule needs one. Envoy starts each plugin on
// its main thread first, so that the slots are there before any worker runs.
func (p *plugin) shareLocal(cfg *rules.Config, w *filter.Worker) {
	for _, r := range cfg.Rules {
		if r.Unavailable == rules.UnavailableLocal {
			t := localTable{prefix: localLayout + cfg.Namespace + "."}
			var salt [16]byte
			if p.worker == nil && wasip1.Random(salt[:]) {
				filter.PrepareLocal(t, salt)
			}
			w.UseLocal(t)
			return
		}
	}
}
