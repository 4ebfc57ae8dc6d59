// Package story plays what Oncewall is for, through the real Envoy, and counts
// how often the backend really ran.
//
// A scene is a function of a [World], which holds running stacks, and returns a
// [Result]: one row for each thing that happened, with what the clients saw and
// the executions that the shop counted. Every row states what must be; the first
// one that is wrong ends its scene, with the answers that were seen.
//
// Scenes use keys of their own, so that they can be played in any order and more
// than once on one World. `make demo` plays them with the embedded store,
// testenv/e2e plays the same ones on a Redis Cluster.
package story
