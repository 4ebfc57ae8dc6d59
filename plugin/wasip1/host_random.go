//go:build wasip1 && go1.24 && !tinygo

package wasip1

import "unsafe"

// Random fills b, of at most 64 KiB, from the host's source of randomness, which
// is fit for secrets; false: the host refused.
//
// It stands in for crypto/rand, whose first use arms a timer that is to warn of
// a slow source. A timer makes Go's runtime ask for its network poller at every
// garbage collection, and Envoy 1.36 does not implement poll_oneoff: the second
// collection is then a fatal error.
func Random(b []byte) bool {
	return len(b) == 0 || randomGet(unsafe.Pointer(&b[0]), uint32(len(b))) == 0
}

//go:wasmimport wasi_snapshot_preview1 random_get
//go:noescape
func randomGet(buf unsafe.Pointer, size uint32) (errno uint32)
