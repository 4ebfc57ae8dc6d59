// Package mixed tests that two versions work together: the plugin of this version
// with the bridge of the previous one, that of the previous one with the bridge of
// this, and both while the bridges are replaced under load. The previous version is
// built out of the repository's history (testenv/previous).
//
// Each test has a stack of its own, with the real Envoy; they run side by side.
package mixed
