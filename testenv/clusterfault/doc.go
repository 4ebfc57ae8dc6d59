// Package clusterfault tests the bridge's store on a real Redis Cluster while
// something is wrong with it. Each test is named after its fault. While the fault
// lasts, callers send batches to the real server: they claim, finish and repeat
// keys on every master, alone and mixed. Five things are checked: the servers have
// told the error that the fault is named after; only the rule's unavailable ever
// reaches a caller in place of an answer; only keys concerned get it; keys
// elsewhere are answered in time; and no key is executed twice, except where a
// failover loses what it acknowledged to a rule without replicas: how many is
// printed then.
//
// `go test ./testenv/clusterfault` meets each fault once; with -args -long each
// is met several times, each of a user's permissions is taken away in turn, and
// what large results cost small claims is measured (make faults).
package clusterfault
