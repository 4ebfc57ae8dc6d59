package rediscluster

import (
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
)

// Free ports are drawn from a range that lies, with the buses 10000 above it,
// below the ports that Linux gives to outgoing connections and to listeners on
// port 0 (32768 and up): between finding a port and using it, nobody is handed
// it by accident.
const (
	lowestPort  = 12000
	highestPort = 22000
)

var (
	drawnMu sync.Mutex
	drawn   = map[int]bool{} // by this process, ever
)

// freePorts finds n ports that are free together with their cluster buses'.
func freePorts(n int) ([]int, error) {
	drawnMu.Lock()
	defer drawnMu.Unlock()
	var ports []int
	for range 1000 {
		if len(ports) == n {
			return ports, nil
		}
		port := lowestPort + rand.IntN(highestPort-lowestPort)
		if !drawn[port] && isFree(port) && isFree(port+busOffset) {
			drawn[port] = true
			ports = append(ports, port)
		}
	}
	return nil, fmt.Errorf("rediscluster: ports: found %d of %d between %d and %d that are free with port+%d",
		len(ports), n, lowestPort, highestPort, busOffset)
}

func isFree(port int) bool {
	l, err := net.Listen("tcp", address(port))
	if err != nil {
		return false
	}
	l.Close()
	return true
}
