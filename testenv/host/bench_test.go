package host_test

import (
	"context"
	"testing"

	"github.com/oncewall/oncewall/testenv/host"
)

// BenchmarkRequest is the host's own cost of a request whose filter does
// nothing but read one header: six callbacks and the response.
func BenchmarkRequest(b *testing.B) {
	for _, traced := range []bool{false, true} {
		name := "untraced"
		if traced {
			name = "traced"
		}
		b.Run(name, func(b *testing.B) {
			bin, err := probe()
			if err != nil {
				b.Fatal(err)
			}
			h, err := host.New(context.Background(), host.Options{T: b, Binary: bin,
				Clusters: map[string]*host.Cluster{"upstream": host.Answer(200, "ok")}})
			if err != nil {
				b.Fatal(err)
			}
			if !traced {
				h.Trace().Off()
			}
			b.ReportAllocs()
			for b.Loop() {
				if s := h.Request(host.Request{}); s.Response().Status != 200 {
					b.Fatal(s.Response())
				}
				h.Trace().Reset()
			}
		})
	}
}

// BenchmarkNew is the cost of starting an Envoy with one worker: two VMs.
func BenchmarkNew(b *testing.B) {
	bin, err := probe()
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		h, err := host.New(context.Background(), host.Options{Binary: bin})
		if err != nil {
			b.Fatal(err)
		}
		h.Close()
	}
}
