package schedule

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/oncewall/oncewall/filter/wire"
	"github.com/oncewall/oncewall/testenv/model/table"
)

var states = map[string]table.State{
	"I": table.Issued, "R": table.Released, "P": table.Processing, "U": table.Unknown, "E": table.Executed, "C": table.Completed,
}

// decode reads the fields of a record's hash, as docs/protocol.md lists them. A
// field that it does not know is an error: the table would not know it either.
func decode(fields map[string]string) (table.Record, error) {
	var r table.Record
	// A marker says that the record has another name: under this one is none.
	if len(fields) == 0 || fields["st"] == "M" {
		return r, nil
	}
	var fault error
	number := func(s string) int64 {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			fault = fmt.Errorf("record: %q is no number", s)
		}
		return n
	}
	for name, v := range fields {
		switch name {
		case "st":
			r.State = states[v]
		case "ow":
			r.Owner = v
		case "fe":
			r.Fence = uint64(number(v))
		case "po":
			r.Policy, fault = policyOf(v, fault)
			r.HasPolicy = true
		case "f1", "f2", "f3": // joined below, in their order
		case "ca":
			r.Claimed = number(v)
		case "le":
			r.LeaseEnd = number(v)
		case "at":
			r.Attempts = number(v)
		case "mb":
			r.Maybe = v == "1"
		case "nw":
			r.NotedOwner = v
		case "ns":
			r.NotedStatus = uint16(number(v))
		case "hd":
			r.Held = v == "1"
		case "sc":
			r.Status = uint16(number(v))
		case "ex":
			r.Expires = number(v)
		case "kx":
			r.KeyExpires = number(v)
		case "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8": // in their order, below
		case "un": // where replicas are awaited, which the table has none of
		case "id":
			r.Identity = v
		case "cl":
			r.Caller = v
		case "tr":
			r.Trace = v
		case "cm": // what a reconciler has called: no row looks at it
		default:
			fault = fmt.Errorf("record: field %q is not known", name)
		}
	}
	for i := range r.Leavers {
		v, ok := fields["r"+strconv.Itoa(i+1)]
		if !ok {
			break
		}
		until, owner, _ := strings.Cut(v, ":")
		r.Leavers[i] = table.Leaver{Owner: owner, Until: number(until)}
	}
	r.Fingerprint = fields["f1"] + fields["f2"] + fields["f3"]
	if r.State == table.Absent {
		fault = fmt.Errorf("record: state %q is not known", fields["st"])
	}
	return r, fault
}

// policyOf reads ttl:tombstone:lease:attempts:recovery:issued:reject[replicas]:generation.
func policyOf(s string, fault error) (wire.Policy, error) {
	parts := strings.SplitN(s, ":", 8)
	if len(parts) != 8 || len(parts[6]) < 1 || len(parts[6]) > 2 {
		return wire.Policy{}, fmt.Errorf("record: policy %q", s)
	}
	var n [7]int64
	for i := range 6 {
		v, err := strconv.ParseInt(parts[i], 10, 64)
		if err != nil {
			return wire.Policy{}, fmt.Errorf("record: policy %q: %w", s, err)
		}
		n[i] = v
	}
	if replicas := parts[6][1:]; replicas != "" {
		n[6] = int64(replicas[0] - '0')
	}
	return wire.Policy{
		TTLMS: n[0], TombstoneMS: n[1], LeaseMS: n[2], MaxAttempts: n[3], Recovery: wire.Recovery(n[4]),
		Issued: n[5] == 1, RejectRepeat: parts[6][0] == '1', Replicas: n[6], Generation: parts[7],
	}, fault
}
