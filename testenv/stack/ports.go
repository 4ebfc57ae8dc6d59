package stack

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
)

// Free ports are taken from below the kernel's ephemeral range (32768 upwards by
// default): a port from within it could become the local end of somebody's
// outgoing connection between the moment it is picked and the moment it is bound.
const (
	freePortMin = 20000
	freePortMax = 32000
)

// loopback is the one address that anything here listens on.
const loopback = "127.0.0.1"

// Addr returns port's address on loopback.
func Addr(port int) string {
	return net.JoinHostPort(loopback, strconv.Itoa(port))
}

// FreePorts returns n ports that nobody listens on, distinct from each other.
func FreePorts(n int) ([]int, error) {
	ports := make([]int, 0, n)
	held := make([]net.Listener, 0, n)
	defer func() {
		for _, l := range held {
			_ = l.Close()
		}
	}()
	for try := 0; len(ports) < n; try++ {
		if try == 1000 {
			return nil, fmt.Errorf("ports: %d of %d wanted are free between %d and %d", len(ports), n, freePortMin, freePortMax)
		}
		port := freePortMin + rand.IntN(freePortMax-freePortMin)
		l, err := net.Listen("tcp4", Addr(port))
		if err != nil {
			continue
		}
		// Held until all are found, so that none is found twice.
		held = append(held, l)
		ports = append(ports, port)
	}
	return ports, nil
}

// checkFree fails where somebody listens on port.
func checkFree(port int) error {
	l, err := net.Listen("tcp4", Addr(port))
	if err != nil {
		return fmt.Errorf("port %d: already in use%s", port, describeListeners(port))
	}
	return l.Close()
}

func describeListeners(port int) string {
	s := ""
	for _, pid := range listeners(port) {
		s += fmt.Sprintf(" by process %d (%s)", pid, processName(pid))
	}
	return s
}
