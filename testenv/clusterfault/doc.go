// Package clusterfault tests the store on a real Redis Cluster while something
// is wrong with it. Each test is named after its fault. While the fault lasts,
// callers claim, finish and repeat keys on every master, and four things are
// checked: only the rule's unavailable ever reaches a caller in place of an
// answer; only keys of the master concerned get it; keys elsewhere are answered
// in time; and no key is ever granted to two owners.
//
// `go test ./testenv/clusterfault` meets each fault once; with -args -long each
// is met several times under longer load, and what large results cost small
// claims is measured (make faults).
package clusterfault
