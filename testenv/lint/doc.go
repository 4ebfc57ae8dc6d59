// Package lint holds rules about this repository's own text that no compiler
// checks: who may import whom, links in documents, file sizes, test habits. They
// are tests, so that a violation is reported as a failing test with file and
// line; each rule has a test of its own that shows it failing.
package lint
