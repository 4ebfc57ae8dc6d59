package server

// SpareBytes is how much a bridge allocates between two rounds of Go's collector
// at least. What it keeps is little, so that by itself the collector would begin
// one for every few large results, and a round takes a processor from claims.
const SpareBytes = 64 << 20

// spare is never written, so that it is address space and no memory.
var spare []byte

// SpareCollector makes rounds of the collector rare: the process may use up to
// 2 * SpareBytes more than what it keeps. It is for programs, once at their start;
// GOGC and GOMEMLIMIT keep their meaning. Once more, it changes nothing.
func SpareCollector() {
	if spare == nil {
		spare = make([]byte, SpareBytes)
	}
}
