package e2e

import (
	"net"
	"testing"
)

// listen serves each connection to a free port of loopback in a goroutine of its
// own, until the test is over.
func listen(t *testing.T, serve func(*net.TCPConn)) (port int) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go serve(conn.(*net.TCPConn))
		}
	}()
	return l.Addr().(*net.TCPAddr).Port
}
