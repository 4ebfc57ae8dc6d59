//go:build wasip1 && go1.24 && !tinygo

package wasip1

import _ "unsafe" // for linkname

// mainMain is the program's own main, which the host never calls: a c-shared
// module only has its packages initialised.
//
//go:linkname mainMain main.main
func mainMain()

var started bool

// start runs main before the first callback, once, so that a filter written as
// the SDK's documentation shows (SetVMContext called in main) works as it is.
func start() {
	if !started {
		started = true
		mainMain()
	}
}
