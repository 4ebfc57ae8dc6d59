package redis

import (
	"fmt"
	"testing"

	"github.com/oncewall/oncewall/bridge/store"
)

func TestKeys(t *testing.T) {
	n := store.Name{0: 0xff, 1: 0xc0, 31: 0x0a}
	record, result, index := keys(n)
	want := "ow:{b1023}:ffc0" + fmt.Sprintf("%056d", 0) + "000a"
	if record != want || result != want+":r" || index != "ow:{b1023}:idx" {
		t.Errorf("keys %q, %q, %q", record, result, index)
	}
	if b := bucket(store.Name{0: 0x01, 1: 0x7f}); b != 5 {
		t.Errorf("bucket %d, want 5", b)
	}
}

// Values by CLUSTER KEYSLOT of Redis 7.0.15.
func TestSlot(t *testing.T) {
	for b, want := range map[int]int{0: 6939, 1: 2874, 1023: 10080} {
		if got := slot(b); got != want {
			t.Errorf("slot of bucket %d: %d, want %d", b, got, want)
		}
	}
}
