// Package conformance compares the host of testenv/host with the real Envoy.
//
// A [Scenario] is one text that plays on two stages: the host, on its virtual
// clock, and an Envoy process with the same probe filter, over real sockets. It
// speaks to the stage as a client, an upstream and a callout's server, one event
// after the other, and waits for what an event must bring before it goes on: the
// order of events is then the same on both stages.
//
// Either stage writes a [Record]: the probe's own trace (every callback with its
// arguments, every host call with its status and its result), what each client
// received, what each upstream was sent, and the access log. Each line of it is
// a fact. [Compare] aligns two records and gives the facts that agree and the
// [Difference]s; those that are known have a reason in [Known], and
// docs/conformance.md lists them.
//
// What may vary between two runs is made equal first; see normal.go and the
// document for the list.
package conformance
