package redis

import (
	"testing"
	"time"
)

func TestBreaker(t *testing.T) {
	var told []bool
	tell := func(open bool) { told = append(told, open) }
	long := func() time.Time { return time.Now().Add(-2 * minSilence) }
	var r breaker
	for i := 1; i < openAfter; i++ {
		if r.silence(long(), tell) || !r.allows() {
			t.Fatalf("open after %d pipelines", i)
		}
	}
	r.answer(tell)
	if r.silence(long(), tell) {
		t.Fatal("an answer did not end the row")
	}
	for range openAfter {
		r.silence(time.Now(), tell) // a deadline that was hardly one
	}
	if !r.allows() {
		t.Fatal("open after waits that were too short to tell")
	}
	r = breaker{}
	old := long()
	r.answer(tell)
	for range openAfter {
		r.silence(old, tell) // the node has answered since
	}
	if !r.allows() {
		t.Fatal("open although the node has answered since")
	}
	r = breaker{}
	opened := 0
	for range 2 * openAfter {
		if r.silence(long(), tell) {
			opened++
		}
	}
	if r.allows() || opened != 1 {
		t.Fatalf("opened %d times, want once", opened)
	}
	if r.answer(tell); !r.allows() {
		t.Fatal("still open after an answer")
	}
	if len(told) != 2 || !told[0] || told[1] {
		t.Errorf("told %v, want open, closed", told)
	}
}

// A node that has moved is another: what was learnt of the old address is forgotten.
func TestBehind(t *testing.T) {
	l := oneNode()
	b := &l.nodes[0].load.acked.breaker
	if l.behind(b) != l.nodes[0] {
		t.Error("not found")
	}
	if oneNode().behind(b) != nil {
		t.Error("found in a layout that has it no more")
	}
}
