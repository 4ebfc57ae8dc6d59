package table

import "fmt"

// Broken lists what must hold of any record that a store keeps, and does not hold
// of r: nothing of a record outlives its reason, and nothing is kept for ever.
// What a fault took away on purpose is not looked at (a lost index entry, a
// result whose record was lost).
func (r *Record) Broken() (broken []string) {
	must := func(holds bool, what string) {
		if !holds {
			broken = append(broken, fmt.Sprintf("%s: %s", r.State, what))
		}
	}
	if r.State == Absent {
		return nil
	}
	must(r.Left > 0, "a record has a life")
	must(r.Result == "" || r.ResultLeft > 0, "a result has a life")
	erased := r.Final() && r.Fingerprint+r.Result+r.Caller+r.Trace+r.Identity == "" && r.LeaseEnd == 0
	must(r.Owner != "" || r.State == Issued || erased, "a record has an owner, unless its key was never used or it was erased")
	must(r.HasPolicy || r.State == Released, "a policy stays with the record")
	must(r.Unresolved() || !r.Maybe && !r.Held && r.Attempts == 0 && r.NotedOwner == "",
		"maybe, held, attempts and notes end with the claim")
	must(!r.Unresolved() || r.Attempts > 0 || r.State == Unknown && r.LeaseEnd == 0,
		"a claim counts as an attempt until it is given back")
	seen, none := map[string]bool{}, false
	for _, l := range r.Leavers {
		must(l.Owner == "" || !r.Final(), "a final word needs no leavers")
		must(l.Owner == "" || !none, "leavers stand without a gap")
		must(!seen[l.Owner] || l.Owner == "", "an owner leaves once")
		must((l.Owner == "") == (l.Until == 0), "a leaver is one for a while")
		none, seen[l.Owner] = none || l.Owner == "", true
	}
	must(r.NotedOwner == "" || r.State == Processing, "only a live claim is noted on")
	must((r.NotedOwner == "") == (r.NotedStatus == 0), "a note has owner and status")
	must(!r.Held || r.State == Unknown && r.Policy.Issued, "only a lost issued key's record is held")
	must(r.Identity == "" || r.Unresolved(), "what names a caller is kept until the final word")
	must(r.Final() == (r.Status != 0), "a status is an answer's")
	must(r.Final() == (r.Expires != 0), "an answer has a life")
	must(r.State != Completed || r.LeaseEnd == 0, "no lease is left when the answer is kept")
	must(!r.Final() || r.LeaseEnd <= r.Expires, "a body comes within the life of its answer")
	return broken
}

// BrokenAfter lists what one operation must not do to a record, and did on the
// way from before to r.
func (r *Record) BrokenAfter(before *Record, now int64) (broken []string) {
	must := func(holds bool, what string) {
		if !holds {
			broken = append(broken, fmt.Sprintf("%s to %s: %s", before.State, r.State, what))
		}
	}
	if before.State == Absent {
		return nil
	}
	must(r.State != Absent, "no operation removes a record")
	must(r.Fence >= before.Fence, "a fence never decreases")
	if before.Final() && !before.Past(now) {
		must(r.Final() && r.Owner == before.Owner, "no way back from a final word")
		must(before.State == Executed || r.State == Completed && r.Status == before.Status && r.Result == before.Result,
			"a kept answer stays as it is")
	}
	must(r.Result == "" || r.State == Completed || before.Result == r.Result, "a result comes with COMPLETED")
	must(before.NotedOwner == "" || r.State != Unknown && r.State != Released && r.State != Issued,
		"a key whose operation is known to have run is not free")
	if r.Unresolved() {
		must(r.Indexed && r.Due == r.LeaseEnd, "an unresolved record is indexed for the end of its lease")
	} else {
		must(!r.Indexed || before.Indexed && !before.Unresolved(), "nothing else is indexed")
	}
	return broken
}
