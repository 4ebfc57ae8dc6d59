// Package schedule drives a store's real scripts with random schedules and
// compares every step with the table (package table).
//
// A schedule is a list of actions: operations of a few owners on a few keys, with
// every kind of fence and several policies, and faults: time passes or is set
// back, a record, a result, an index entry, everything or the scripts are lost,
// an answer is lost and its operation repeated. Before and after each action the
// record is read back field by field. The difference of a step is what answer or
// record have other than the table says, or an invariant that does not hold.
//
// A seed names a schedule. One that differs is minimised: actions are dropped
// while it still differs.
package schedule
