package rediscluster

import (
	"fmt"
	"net"
)

// freePorts finds n ports that are free together with their cluster buses'.
// Between finding and using one, another process may take it; start then fails
// and says so.
func freePorts(n int) ([]int, error) {
	var ports []int
	var held []net.Listener
	defer func() {
		for _, l := range held {
			l.Close()
		}
	}()
	for tries := 0; len(ports) < n; tries++ {
		if tries == 1000 {
			return nil, fmt.Errorf("rediscluster: ports: found %d of %d that are free with port+%d", len(ports), n, busOffset)
		}
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, fmt.Errorf("rediscluster: ports: %w", err)
		}
		held = append(held, l)
		port := l.Addr().(*net.TCPAddr).Port
		if port+busOffset > 65535 {
			// The kernel prefers its own range, which may lie above: take one below.
			port -= busOffset
			if l, err = net.Listen("tcp", address(port)); err != nil {
				continue
			}
			held = append(held, l)
		}
		bus, err := net.Listen("tcp", address(port+busOffset))
		if err != nil {
			// The first listener may be that very port.
			if own := held[len(held)-2]; own.Addr().(*net.TCPAddr).Port != port+busOffset {
				continue
			}
		} else {
			held = append(held, bus)
		}
		ports = append(ports, port)
	}
	return ports, nil
}
