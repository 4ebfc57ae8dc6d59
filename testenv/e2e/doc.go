// Package e2e tests Oncewall from outside: real Envoys with the plugin, real
// bridges on a real Redis Cluster, the shop behind them, and clients that see
// nothing but HTTP. It has no code of its own beside its tests.
//
// All tests share one story.World, started by the first that needs it: two
// Envoy workers, six Redis nodes for each of its two stacks. Tests that need
// another configuration start a stack of their own with the embedded store.
// Nothing is skipped: what is missing fails. ONCEWALL_E2E=long runs the long
// form of the tests that repeat something.
package e2e
