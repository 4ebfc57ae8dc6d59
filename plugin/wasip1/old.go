//go:build wasip1 && !go1.24 && !tinygo

package wasip1

// Exports need Go 1.24; a build without them would make a filter that the host
// loads and never calls.
var _ = this_package_needs_go_1_24_or_later
