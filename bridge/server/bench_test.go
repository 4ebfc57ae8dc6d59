package server

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/filter/wire"
)

// discard is a ResponseWriter that keeps nothing.
type discard struct{ h http.Header }

func (d *discard) Header() http.Header         { return d.h }
func (d *discard) Write(b []byte) (int, error) { return len(b), nil }
func (d *discard) WriteHeader(int)             {}

// BenchmarkBatch measures the handler without HTTP and store.
func BenchmarkBatch(b *testing.B) {
	for _, n := range []int{1, 8, 64} {
		b.Run(fmt.Sprintf("claims=%d", n), func(b *testing.B) {
			s, err := New(Config{Keys: testRing(b), Store: answering(store.Reply{Code: wire.Created, Fence: 1, Attempt: 1})})
			if err != nil {
				b.Fatal(err)
			}
			batch := &wire.Batch{Namespace: "edge", Policies: []wire.Policy{testPolicy()}}
			for range n {
				batch.Ops = append(batch.Ops, testOp(wire.Claim, 1))
			}
			body := bytes.NewReader(encode(b, batch))
			h := s.DataHandler()
			r := httptest.NewRequest(http.MethodPost, wire.BatchPath, nil)
			r.Header.Set("Content-Type", wire.ContentType)
			r.ContentLength = body.Size()
			w := &discard{h: http.Header{}}
			b.ReportAllocs()
			for b.Loop() {
				body.Seek(0, io.SeekStart)
				r.Body = io.NopCloser(body)
				h.ServeHTTP(w, r)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/claim")
		})
	}
}
