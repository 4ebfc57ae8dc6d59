package table_test

import (
	"flag"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/filter/wire"
	"github.com/oncewall/oncewall/testenv/model/table"
)

var update = flag.Bool("update", false, "write the table into the document")

const document = "../../../docs/protocol.md"

// The document's table and this one are the same, row by row.
func TestDocument(t *testing.T) {
	old, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	text, err := table.Put(string(old), []table.Section{{Name: "transitions", Text: table.Served()}, {Name: "later", Text: table.Later()}})
	if err != nil {
		t.Fatal(err)
	}
	if text == string(old) {
		return
	}
	if *update {
		if err := os.WriteFile(document, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	has, wants := strings.Split(string(old), "\n"), strings.Split(text, "\n")
	for _, line := range wants {
		if !slices.Contains(has, line) {
			t.Errorf("docs/protocol.md lacks %s", line)
		}
	}
	for _, line := range has {
		if !slices.Contains(wants, line) {
			t.Errorf("docs/protocol.md has, and the table has not, %s", line)
		}
	}
	t.Error("docs/protocol.md: the rows differ, or their order; -update writes them")
}

func TestNames(t *testing.T) {
	seen := map[string]bool{}
	for i := range table.Rows {
		r := &table.Rows[i]
		if r.Name == "" || seen[r.Name] {
			t.Errorf("row %d: name %q is empty or not unique", i, r.Name)
		}
		seen[r.Name] = true
		for _, column := range []string{r.State, r.Condition, r.Becomes, r.Answer} {
			if column == "" || strings.Contains(column, "|") {
				t.Errorf("row %s: column %q", r.Name, column)
			}
		}
	}
}

// Every operation on every record has a row, and every row is some case's.
// Records and operations are enumerated over every field that a condition reads.
func TestTotal(t *testing.T) {
	met := map[string]bool{}
	for _, r := range records() {
		for _, op := range operations() {
			after, reply, row := table.Step(r, &op, now, limits)
			if row == nil {
				t.Fatalf("operation %d on %+v: no row", op.Kind, r)
			}
			met[row.Name] = true
			if reply.Code == 0 {
				t.Fatalf("row %s: no answer", row.Name)
			}
			unchanged(t, row, r, after)
		}
	}
	for _, r := range records() {
		for _, d := range resolutions() {
			after, verdict, row := table.Resolve(r, &d, now, limits)
			if row == nil || verdict == 0 {
				t.Fatalf("decision %d on %+v: no row or no verdict", d.Action, r)
			}
			met[row.Name] = true
			unchanged(t, row, r, after)
		}
	}
	for _, r := range records() {
		for _, f := range foundThings() {
			after, verdict, row := table.Reconcile(r, &f, now, limits)
			if row == nil || verdict == 0 {
				t.Fatalf("finding %d on %+v: no row or no verdict", f.Outcome, r)
			}
			met[row.Name] = true
			unchanged(t, row, r, after)
		}
		for _, indexed := range []bool{false, true} {
			r.Indexed = indexed
			tidied, tidy := table.Tidy(r, now)
			walked, walk := table.Walk(r, now)
			if tidied.Indexed != (indexed && r.Unresolved()) || walked.Indexed != (indexed || r.Unresolved()) {
				t.Fatalf("%s, indexed %v: %v after a sweep, %v after a scan", r.State, indexed, tidied.Indexed, walked.Indexed)
			}
			met[tidy.Name], met[walk.Name] = true, true
			unchanged(t, tidy, r, tidied)
			unchanged(t, walk, r, walked)
		}
	}
	for i := range table.Rows {
		if r := &table.Rows[i]; r.Needs == "" && !met[r.Name] {
			t.Errorf("row %s: no record and operation meet it", r.Name)
		}
	}
}

// unchanged checks that nothing changes where the columns say so, and that no
// fence decreases. Being indexed again is said beside the table.
func unchanged(t *testing.T, row *table.Row, before, after table.Record) {
	t.Helper()
	if after.Fence < before.Fence {
		t.Fatalf("row %s: fence %d after %d", row.Name, after.Fence, before.Fence)
	}
	if after.Indexed, after.Due = before.Indexed, before.Due; row.Becomes == "–" && after != before {
		t.Fatalf("row %s changes\n%+v to\n%+v", row.Name, before, after)
	}
}

func resolutions() (out []store.Resolution) {
	for action := store.Complete; action <= store.Extend; action++ {
		for _, fence := range []uint64{0, 4, 5} {
			for _, owner := range []string{"o1", "operator"} {
				out = append(out, store.Resolution{
					Action: action, Fence: fence, Owner: []byte(owner), Status: 200, Result: []byte("r"), By: time.Second,
				})
			}
		}
	}
	return out
}

func foundThings() (out []store.Finding) {
	for outcome := store.FoundResult; outcome <= store.FoundNothing; outcome++ {
		for _, fence := range []uint64{0, 4, 5} {
			for _, owner := range []string{"o1", "o2"} {
				out = append(out, store.Finding{Outcome: outcome, Fence: fence, Owner: []byte(owner), Status: 200, Result: []byte("r")})
			}
		}
	}
	return out
}

const now = 1_000_000_000

var limits = table.Limits{Skew: time.Millisecond, Marker: time.Minute}

func records() (out []table.Record) {
	policies := []wire.Policy{
		{TTLMS: 1000, LeaseMS: 1000, Recovery: wire.Reacquire, MaxAttempts: 2},
		{TTLMS: 1000, LeaseMS: 1000, Recovery: wire.Hold, TombstoneMS: 5, Issued: true, RejectRepeat: true},
	}
	for state := table.Absent; state <= table.Completed; state++ {
		for _, p := range policies {
			for bits := range 64 {
				set := func(bit int) bool { return bits>>bit&1 == 1 }
				r := table.Record{State: state, Left: 1000}
				end := int64(now - 1)
				if set(0) {
					end = now + 1
				}
				switch {
				case state == table.Absent:
					r = table.Record{}
				default:
					r.Owner, r.Fence, r.Fingerprint, r.Policy, r.HasPolicy = "o1", 5, "a", p, true
					r.LeaseEnd, r.KeyExpires = end, end
				}
				if r.Unresolved() {
					r.Attempts, r.Maybe, r.Held = 1, set(1), set(2)
					if set(3) {
						r.Attempts = 2
					}
					if set(4) {
						r.NotedOwner, r.NotedStatus = "o3", 201
					}
				}
				if state != table.Absent && !r.Final() && set(5) {
					r.Leavers[0] = table.Leaver{Owner: "o2", Until: now + 1}
				}
				if r.Final() {
					r.Status, r.Expires = 200, now-1
					if set(1) {
						r.Expires = now + 1
					}
					if set(2) {
						r.Result = "r"
					}
				}
				out = append(out, r)
			}
		}
	}
	return out
}

func operations() (out []store.Operation) {
	policies := []*wire.Policy{
		{TTLMS: 1000, LeaseMS: 1000, Recovery: wire.Reacquire},
		{TTLMS: 1000, LeaseMS: 1000, Recovery: wire.Reacquire, Issued: true},
	}
	for kind := wire.Issue; kind <= wire.Renew; kind++ {
		for _, p := range policies {
			for _, fence := range []uint64{0, 4, 5, 6} {
				for _, status := range []uint16{200, 404} {
					for _, owner := range []string{"o1", "o2"} {
						for _, fp := range []string{"", "a", "b"} {
							for _, noResult := range []bool{false, true} {
								out = append(out, store.Operation{
									Kind: kind, Policy: p, Fence: fence, Status: status, Owner: []byte(owner),
									Fingerprint: []byte(fp), NoResult: noResult, Life: time.Second,
								})
							}
						}
					}
				}
			}
		}
	}
	return out
}
