package redis_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/bridge/store/redis"
	"github.com/oncewall/oncewall/filter/wire"
	"github.com/oncewall/oncewall/testenv/rediscluster"
)

// A long result is staged under a key of its own. Whatever becomes of the
// completion, nothing stays there, and only the record's own is replayed.
func TestStagedResult(t *testing.T) {
	t.Parallel()
	c := start(t, rediscluster.StartSingle)
	s := open(t, c, redis.Config{})
	long := func(fill byte) []byte { return bytes.Repeat([]byte{fill}, 200<<10) }
	do := func(kind wire.Kind, n int, owner string, result []byte) store.Reply {
		op := claim(name(5, n), 10*time.Second)
		op.Kind, op.Owner, op.Result = kind, []byte(owner), result
		if kind == wire.Complete {
			op.Status = 201
		}
		return s.Do(t.Context(), []store.Operation{op})[0]
	}
	want := func(r store.Reply, code wire.Code) store.Reply {
		t.Helper()
		if r.Err != nil || r.Code != code {
			t.Fatalf("code %d, %v, want %d", r.Code, r.Err, code)
		}
		return r
	}
	ask := func(args ...string) string {
		t.Helper()
		answer, err := c.Nodes[0].Do(t.Context(), args...)
		if err != nil {
			t.Fatal(err)
		}
		return answer
	}
	clean := func() {
		t.Helper()
		keys := ask("KEYS", "*:r:*")
		if keys != "" {
			t.Errorf("left behind: %s", keys)
		}
	}
	for i, owned := range []string{"first", "another's"} {
		want(do(wire.Claim, i, owned, nil), wire.Created)
		want(do(wire.Complete, i, owned, long('a')), wire.OK)
		want(do(wire.Complete, i, owned, long('a')), wire.OK) // its answer was lost
		want(do(wire.Complete, i, "late", long('b')), wire.Stale)
		if r := want(do(wire.Claim, i, "reader", nil), wire.Replayed); !bytes.Equal(r.Result, long('a')) || r.Status != 201 || r.Remaining <= 0 || r.Fence != 0 {
			t.Errorf("replayed %d bytes of %q, status %d, remaining %v", len(r.Result), r.Result[:1], r.Status, r.Remaining)
		}
		clean()
	}
	if life := ask("PTTL", record(name(5, 0))+":r"); len(life) < 7 {
		t.Errorf("the result lives for %sms, want the policy's hour", life)
	}

	// A user who may not rename keeps results all the same.
	ask("ACL", "SETUSER", "old", "on", ">secret", "~*", "&*", "+@all", "-rename")
	s = open(t, c, redis.Config{Username: "old", Password: "secret"})
	want(do(wire.Claim, 6, "first", nil), wire.Created)
	want(do(wire.Complete, 6, "first", long('c')), wire.OK)
	if r := want(do(wire.Claim, 6, "reader", nil), wire.Replayed); !bytes.Equal(r.Result, long('c')) {
		t.Errorf("replayed %d bytes", len(r.Result))
	}
	clean()

	// A node that is full keeps the word and not the result.
	want(do(wire.Claim, 7, "first", nil), wire.Created)
	ask("CONFIG", "SET", "maxmemory", "1")
	want(do(wire.Complete, 7, "first", long('a')), wire.OK)
	ask("CONFIG", "SET", "maxmemory", "0")
	if r := want(do(wire.Claim, 7, "reader", nil), wire.ResponseNotKept); r.Status != 201 {
		t.Errorf("status %d, want 201", r.Status)
	}
	clean()

	// No script carries the bytes.
	ask("CONFIG", "SET", "slowlog-log-slower-than", "0")
	want(do(wire.Claim, 8, "first", nil), wire.Created)
	want(do(wire.Complete, 8, "first", long('q')), wire.OK)
	want(do(wire.Claim, 8, "reader", nil), wire.Replayed)
	log := ask("SLOWLOG", "GET", "50")
	for _, entry := range strings.Split(log, "EVAL")[1:] {
		if arguments, _, _ := strings.Cut(entry, "127.0.0.1"); strings.Contains(arguments, "qqqq") {
			t.Error("a script was sent the result")
		}
	}
}
