package clusterfault

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/bridge/store/redis"
	"github.com/oncewall/oncewall/filter/wire"
	"github.com/oncewall/oncewall/testenv/rediscluster"
)

// The permissions that docs/redis.md names are enough for whatever a bridge asks
// of its store: nothing is denied, not even to a script.
func TestACL(t *testing.T) {
	t.Parallel()
	r := start(t, rediscluster.Config{})
	r.healthy()
	if faults := r.exerciseAs("oncewall", permissions(t)); len(faults) > 0 {
		t.Errorf("%v", faults)
	}
	if denied := r.denied("oncewall"); len(denied) > 0 {
		t.Errorf("docs/redis.md lacks what was denied: %v", denied)
	}
	wrong := r.open(redis.Config{Addresses: r.Addresses(), Username: "oncewall", Password: "wrong"})
	if err := wrong.Ready(t.Context()); err == nil {
		t.Error("a wrong password is ready")
	}
	if reply := do(wrong, r.claim(newName(1), newOwner(), policyOf(0), budget)); !errors.Is(reply.Err, store.ErrUnavailable) {
		t.Errorf("claim with a wrong password: %+v, want unavailable", reply)
	}
	if *long {
		r.leastPermissions(permissions(t))
	}
}

// leastPermissions takes each permission away in turn and wants it to be missed.
func (r *rig) leastPermissions(list []string) {
	r.Helper()
	// Some belong to what is not exercised: redirections, waiting requests, records
	// that moved, connections that are checked, other versions of Redis.
	spared := []string{"+asking", "+pttl", "+ssubscribe", "+sunsubscribe", "+spublish", "+pubsub|shardnumsub",
		"+ping", "+client|setname", "+cluster|shards", "+cluster|slots", "+hello", "+auth"}
	for i, p := range list {
		if !strings.HasPrefix(p, "+") || slices.Contains(spared, p) {
			continue
		}
		user := "without" + strings.NewReplacer("+", "-", "|", "-").Replace(p)
		faults := r.exerciseAs(user, slices.Delete(slices.Clone(list), i, i+1))
		if len(faults) == 0 && len(r.denied(user)) == 0 {
			r.Errorf("docs/redis.md: %s: nothing needs it", p)
		}
	}
}

// exerciseAs creates a user and asks everything of a store that is its.
func (r *rig) exerciseAs(user string, permissions []string) (faults []error) {
	r.Helper()
	for _, n := range r.Nodes {
		r.command(n, append([]string{"ACL", "SETUSER", user, "on", ">secret"}, permissions...)...)
	}
	s := r.open(redis.Config{Addresses: r.Addresses(), Username: user, Password: "secret"})
	note := func(err error) {
		if err != nil {
			faults = append(faults, err)
		}
	}
	ctx := r.Context()
	note(s.Ready(ctx))
	note(r.story(s, 0))
	note(r.story(s, 1))

	// A result of a size of its own, and a key that is issued.
	name, owner := newName(7), newOwner()
	note(do(s, r.claim(name, owner, policyOf(0), time.Second)).Err)
	op := r.claim(name, owner, policyOf(0), time.Second)
	op.Kind, op.Status, op.Result = wire.Complete, 201, bytes.Repeat([]byte{'x'}, 100<<10)
	note(do(s, op).Err)
	reply := do(s, r.claim(name, newOwner(), policyOf(0), time.Second))
	note(reply.Err)
	if len(reply.Result) != len(op.Result) {
		note(errors.New("the long result was not replayed"))
	}
	issued := policyOf(0)
	issued.Issued = true
	note(do(s, store.Operation{Kind: wire.Issue, Name: newName(7), Policy: issued, Life: time.Minute, Deadline: time.Now().Add(time.Second)}).Err)

	// What operators and reconcilers do.
	overdue := policyOf(0)
	overdue.LeaseMS = 1
	late := newName(7)
	note(do(s, r.claim(late, newOwner(), overdue, time.Second)).Err)
	record, err := s.Get(ctx, late, true)
	note(err)
	_, _, err = s.Overdue(ctx, "", 10)
	note(err)
	_, err = s.Resolve(ctx, store.Resolution{Name: late, Fence: record.Fence, Action: store.Execute, Status: 201,
		Owner: newOwner(), Audit: []byte("audit"), Deadline: time.Now().Add(time.Second)})
	note(err)
	_, err = s.Audit(ctx, late)
	note(err)
	_, err = s.Hold(ctx, 0, user, time.Minute)
	note(err)
	_, err = s.Due(ctx, 0, 10)
	note(err)
	_, err = s.Tidy(ctx, 0)
	note(err)
	note(s.Yield(ctx, 0, user))
	_, err = s.Reindex(ctx, time.Millisecond)
	note(err)
	_, err = s.Sweep(ctx, 7)
	note(err)
	_, err = s.Incarnation(ctx)
	note(err)
	_, err = s.Find(ctx, [][]byte{make([]byte, 16)}, "", 10, 1000)
	note(err)
	_, err = s.Nodes(ctx)
	note(err)
	return faults
}

// denied lists what the nodes have denied a user.
func (r *rig) denied(user string) (what []string) {
	r.Helper()
	for _, n := range r.Nodes {
		entries := strings.Split(r.command(n, "ACL", "LOG"), "count\n")
		for _, e := range entries {
			if !strings.Contains(e, "username\n"+user+"\n") || strings.Contains(e, "reason\nauth\n") {
				continue
			}
			_, object, _ := strings.Cut(e, "object\n")
			object, _, _ = strings.Cut(object, "\n")
			what = append(what, object)
		}
	}
	return what
}

// permissions reads the user that docs/redis.md tells operators to create.
func permissions(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("../../docs/redis.md")
	if err != nil {
		t.Fatal(err)
	}
	const begin = "ACL SETUSER oncewall on >password "
	_, rest, found := strings.Cut(string(text), begin)
	list, _, ends := strings.Cut(rest, "```")
	if !found || !ends {
		t.Fatalf("docs/redis.md: no %q", begin)
	}
	return strings.Fields(list)
}
