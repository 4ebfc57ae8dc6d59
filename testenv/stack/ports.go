package stack

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"strconv"
	"sync"
	"time"
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

// given are the ports that this process has been given. None is given twice, so
// that stacks that are started at once do not meet.
var given = struct {
	sync.Mutex
	ports map[int]bool
}{ports: make(map[int]bool)}

// FreePorts returns n ports that nobody listens on, distinct from each other and
// from all that this process was given before.
func FreePorts(n int) ([]int, error) {
	given.Lock()
	defer given.Unlock()
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
		if given.ports[port] {
			continue
		}
		l, err := net.Listen("tcp4", Addr(port))
		if err != nil {
			continue
		}
		// Held until all are found, so that none is found twice.
		held = append(held, l)
		ports = append(ports, port)
	}
	for _, port := range ports {
		given.ports[port] = true
	}
	return ports, nil
}

// giveBack lets ports that FreePorts gave be given again.
func giveBack(ports []int) {
	given.Lock()
	defer given.Unlock()
	for _, port := range ports {
		delete(given.ports, port)
	}
}

// reserve takes ports that stand at fixed distances from own ones, which
// FreePorts gave: all of them or none.
func reserve(ports, own []int) bool {
	given.Lock()
	defer given.Unlock()
	for _, port := range ports {
		if given.ports[port] && !slices.Contains(own, port) {
			return false
		}
	}
	if !allFree(ports) {
		return false
	}
	for _, port := range ports {
		given.ports[port] = true
	}
	return true
}

// distinct reports every port that two parts would listen on. Ports of further parts
// stand at fixed distances from the configured ones, and may meet unseen.
func distinct(parts []*part) error {
	var faults []error
	owner := make(map[int]string)
	for _, p := range parts {
		for _, port := range p.ports {
			if first, taken := owner[port]; taken {
				faults = append(faults, fmt.Errorf("port %d: both %s and %s would listen on it", port, first, p.name))
			}
			owner[port] = p.name
		}
	}
	return errors.Join(faults...)
}

// awaitFree fails where somebody listens on port and goes on to: another process
// that looks for free ports listens on each for a moment.
func awaitFree(port int) error {
	err := checkFree(port)
	for deadline := time.Now().Add(time.Second); err != nil && time.Now().Before(deadline); err = checkFree(port) {
		time.Sleep(pollEvery)
	}
	return err
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
