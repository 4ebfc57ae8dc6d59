package filter

import (
	"strconv"
	"testing"
	"time"

	"github.com/oncewall/oncewall/filter/rules"
	"github.com/oncewall/oncewall/filter/wire"
)

func recorded(t *testing.T, r *wire.Response) []byte {
	t.Helper()
	b, err := wire.AppendResponse(nil, r)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// What a worker completed is decoded when its first repeat comes, and counted
// again.
func TestCacheDecodesOnce(t *testing.T) {
	c, rule, id := newCache(), &Rule{}, makeRecordID("s", "p", "k")
	b := recorded(t, &wire.Response{Status: 201, Headers: []wire.HeaderLine{{Name: "location", Value: "/1"}}, Body: []byte("body")})
	c.put(&entry{id: id, rule: rule, code: wire.Replayed, record: b})
	if want := entryOverhead + len(b); c.bytes != want {
		t.Errorf("%d bytes, not %d", c.bytes, want)
	}
	for range 2 {
		e := c.get(1, id, rule)
		if e == nil || e.record != nil || string(e.response.Body) != "body" || e.response.Headers[0].Value != "/1" {
			t.Fatalf("%+v", e)
		}
		if want := entryOverhead + lineOverhead + len("location/1body"); c.bytes != want {
			t.Errorf("%d bytes, not %d", c.bytes, want)
		}
	}
	if c.get(int64(cacheLife), id, rule) != nil || c.bytes != 0 || c.order.Len() != 0 {
		t.Errorf("%d bytes in %d entries are left", c.bytes, c.order.Len())
	}
}

// A record that cannot be sent is as good as none: the bridge is asked.
func TestCacheForgetsWhatItCannotRead(t *testing.T) {
	c, rule, id := newCache(), &Rule{}, makeRecordID("s", "p", "k")
	c.put(&entry{id: id, rule: rule, code: wire.Replayed, record: []byte("?")})
	if c.get(1, id, rule) != nil || c.bytes != 0 || len(c.entries) != 0 || c.order.Len() != 0 {
		t.Errorf("%d bytes in %d entries are left", c.bytes, c.order.Len())
	}
}

// The bound holds, whatever is decoded, and what was used last stays.
func TestCacheBound(t *testing.T) {
	c, rule := newCache(), &Rule{}
	r := &wire.Response{Status: 200, Body: make([]byte, 1000)}
	for range 100 {
		r.Headers = append(r.Headers, wire.HeaderLine{Name: "n", Value: "v"})
	}
	b := recorded(t, r)
	const n = 20_000
	name := func(i int) recordID { return makeRecordID("s", "p", strconv.Itoa(i)) }
	for i := range n {
		c.put(&entry{id: name(i), rule: rule, code: wire.Replayed, record: b, at: int64(time.Second)})
		if c.get(int64(time.Second), name(0), rule) == nil {
			t.Fatalf("the one in use is forgotten after %d", i)
		}
	}
	for i := range n {
		c.get(int64(time.Second), name(i), rule)
		if c.bytes > cacheBytes {
			t.Fatalf("%d bytes", c.bytes)
		}
	}
	sum := 0
	for _, e := range c.entries {
		sum += e.size
	}
	if sum != c.bytes || c.order.Len() != len(c.entries) || len(c.entries) < 1000 {
		t.Errorf("%d bytes are counted, %d held by %d entries", c.bytes, sum, len(c.entries))
	}
}

// TestMemoryIsOfOneRule: rules of one scope may answer repeats in different ways.
func TestMemoryIsOfOneRule(t *testing.T) {
	c, id := newCache(), makeRecordID("s", "p", "k")
	one, other := &Rule{Rule: &rules.Rule{Name: "one"}}, &Rule{Rule: &rules.Rule{Name: "other"}}
	c.put(&entry{id: id, rule: one, code: wire.KeyUsed})
	if c.get(1, id, one) == nil {
		t.Fatal("forgotten")
	}
	if c.get(1, id, other) != nil {
		t.Error("remembered for another rule")
	}
}

// TestMemoryTakesNothingHuge: one answer must not push out a thousand others.
func TestMemoryTakesNothingHuge(t *testing.T) {
	c, rule := newCache(), &Rule{}
	fits, huge := makeRecordID("s", "p", "fits"), makeRecordID("s", "p", "huge")
	c.put(&entry{id: fits, rule: rule, record: make([]byte, cacheBytes/8-entryOverhead)})
	c.put(&entry{id: huge, rule: rule, record: make([]byte, cacheBytes/8-entryOverhead+1)})
	if c.entries[fits] == nil || c.entries[huge] != nil || c.bytes != cacheBytes/8 {
		t.Errorf("%d bytes in %d entries", c.bytes, len(c.entries))
	}
}

// TestAgeCountsFromTheClaim: the acknowledgement came later than the completion, and
// this later than the claim.
func TestAgeCountsFromTheClaim(t *testing.T) {
	g := newRig(t, true)
	s := g.open("POST", "/orders", "k", true)
	g.answerAll()
	g.now += int64(3 * time.Second)
	g.respond(s, upstream(201), true)
	g.now += int64(time.Second)
	g.answerAll()
	g.finish(s, Trail{Attempts: 1})
	g.now += int64(1500 * time.Millisecond)
	r := g.repeat("/orders", "k", "")
	if age := r.header(HeaderAge); age != "5" || g.counts[MetricReplayedLocally] != 1 {
		t.Errorf("age %s, from memory %d times", age, g.counts[MetricReplayedLocally])
	}
}
