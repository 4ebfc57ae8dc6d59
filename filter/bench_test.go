package filter

import (
	"bytes"
	"strconv"
	"testing"
	"time"

	"github.com/oncewall/oncewall/filter/wire"
)

// bencher drives a worker with as little of its own as it can.
type bencher struct {
	b     *testing.B
	w     *Worker
	now   int64
	id    uint32
	calls []CallEffect
}

func newBencher(b *testing.B) *bencher {
	return &bencher{b: b, w: NewWorker(parseConfig(b, true), [16]byte{1}), now: int64(time.Hour)}
}

// benchBody and the headers below are those of the requests of make bench.
var benchBody = []byte(`{"item":"book","quantity":1,"price":{"amount":"12.50","currency":"EUR"},"note":"as before"}`)

func benchHeaders(key string) headers {
	return headers{lines: []wire.HeaderLine{
		{Name: ":authority", Value: "127.0.0.1:10000"}, {Name: ":path", Value: "/orders"}, {Name: ":method", Value: "POST"}, {Name: ":scheme", Value: "http"},
		{Name: "user-agent", Value: "Go-http-client/1.1"}, {Name: "content-length", Value: strconv.Itoa(len(benchBody))}, {Name: "content-type", Value: "application/json"},
		{Name: "idempotency-key", Value: key}, {Name: "x-user-id", Value: "ann"}, {Name: "accept-encoding", Value: "gzip"},
		{Name: "x-forwarded-proto", Value: "http"}, {Name: "x-request-id", Value: "0f0b5d0e-5bd2-4dd5-9d5a-2f6b3a1f2b11"},
	}}
}

var benchAnswer = upstream(201, wire.HeaderLine{Name: "content-type", Value: "application/json"}, wire.HeaderLine{Name: "content-length", Value: "120"},
	wire.HeaderLine{Name: "date", Value: "Tue, 01 Dec 2026 00:00:00 GMT"}, wire.HeaderLine{Name: "location", Value: "/orders/1"},
	wire.HeaderLine{Name: "x-envoy-upstream-service-time", Value: "1"}, wire.HeaderLine{Name: "server", Value: "envoy"})

var benchAnswerBody = make([]byte, 120)

func (x *bencher) perform() {
	for es := x.w.Effects(); es != nil; es = x.w.Effects() {
		for i := range es {
			if es[i].Kind == Call {
				c := es[i].Call
				c.Body = bytes.Clone(c.Body)
				x.calls = append(x.calls, c)
			}
		}
	}
}

func (x *bencher) open(key string) *Stream {
	x.id++
	h := benchHeaders(key)
	s := x.w.Open(x.id, x.w.Select("POST", "/orders", h), "POST", "/orders")
	s.RequestHeaders(x.now, h, false)
	x.perform()
	s.RequestBody(x.now, len(benchBody), true, func() []byte { return bytes.Clone(benchBody) })
	x.perform()
	return s
}

// answer gives the one operation under way its result.
func (x *bencher) answer(r wire.Result) {
	if len(x.calls) != 1 {
		x.b.Fatalf("%d calls under way", len(x.calls))
	}
	out, err := wire.AppendAnswer(nil, &wire.Answer{Results: []wire.Result{r}})
	if err != nil {
		x.b.Fatal(err)
	}
	id := x.calls[0].ID
	x.calls = x.calls[:0]
	x.w.CallAnswered(x.now, id, out)
	x.perform()
}

// first plays a first request to its end.
func (x *bencher) first(key string, fence uint64) {
	s := x.open(key)
	x.answer(wire.Result{Code: wire.Created, Fence: fence, Attempt: 1, LeaseMS: 10_000})
	s.ResponseHeaders(x.now, benchAnswer, false)
	x.perform()
	s.ResponseBody(x.now, len(benchAnswerBody), true, func() []byte { return bytes.Clone(benchAnswerBody) })
	x.perform()
	x.answer(wire.Result{Code: wire.OK})
	s.Done(x.now, func() Trail { return Trail{Attempts: 1} })
	x.perform()
	if x.w.Pending() != 0 || s.response.code != CodeCreated {
		x.b.Fatalf("%s, %d operations pending", s.response.code, x.w.Pending())
	}
}

func BenchmarkFirstRequest(b *testing.B) {
	x := newBencher(b)
	b.ReportAllocs()
	for n := uint64(1); b.Loop(); n++ {
		x.now += int64(100 * time.Microsecond)
		x.first("key-"+strconv.FormatUint(n, 10), n)
	}
}

// BenchmarkDuplicate is a repeat that is answered from memory.
func BenchmarkDuplicate(b *testing.B) {
	x := newBencher(b)
	x.first("key", 1)
	b.ReportAllocs()
	for b.Loop() {
		s := x.open("key")
		if !s.Answered() {
			b.Fatal("not answered")
		}
		s.Done(x.now, func() Trail { return Trail{} })
		x.perform()
	}
}
