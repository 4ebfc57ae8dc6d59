package shop

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// BenchmarkOrder is the cost of one execution without the network.
func BenchmarkOrder(b *testing.B) {
	for _, g := range []Guards{NoGuards, AllGuards} {
		for _, path := range []string{"/orders", "/checkout/sale"} {
			b.Run(g.String()+path, func(b *testing.B) {
				s := newShop(b, g)
				if err := s.OpenSale(100); err != nil {
					b.Fatal(err)
				}
				var n atomic.Int64
				b.ReportAllocs()
				b.RunParallel(func(pb *testing.PB) {
					for pb.Next() {
						id := n.Add(1)
						r := httptest.NewRequest("POST", path, strings.NewReader(`{"item":7}`))
						r.Header.Set("Idempotency-Key", fmt.Sprintf("k%d", id))
						r.Header.Set("Idempotency-Fence", "1")
						r.Header.Set("X-User-Id", fmt.Sprintf("u%d", id%2000))
						s.ServeHTTP(httptest.NewRecorder(), r)
					}
				})
			})
		}
	}
}

func newShop(t testing.TB, g Guards) *Shop {
	t.Helper()
	s, err := New(Options{Guards: g})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}
