package stack

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// helperEnv makes the test binary play a part of its own instead of testing. Its
// value is one of the helper's roles.
const helperEnv = "STACK_TEST_HELPER"

func TestMain(m *testing.M) {
	if role := os.Getenv(helperEnv); role != "" {
		os.Exit(helper(role, os.Args[1:]))
	}
	os.Exit(m.Run())
}

func helper(role string, args []string) int {
	switch role {
	case "fail": // a part that refuses its configuration
		fmt.Println("first fault")
		fmt.Println("second fault")
		return 1
	case "listen": // a part that serves, at the port of args[0]
		l, err := net.Listen("tcp4", "127.0.0.1:"+args[0])
		if err != nil {
			return 1
		}
		defer func() { _ = l.Close() }()
	case "deaf": // a part that does not end when it is asked to
		signal.Ignore(syscall.SIGTERM)
	case "parent": // starts a child for good and tells its process id
		p, err := launch(helperCommand("listen", os.DevNull, args[0]))
		if err != nil {
			return 1
		}
		fmt.Println(p.pid)
	case "up": // make up, with the environment's ports, into the folder of args[0]
		o, err := FromEnv(os.Getenv)
		if err == nil {
			o.Dir, o.Detached = args[0], true
			_, err = Start(context.Background(), o)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return 0
	}
	_, _ = fmt.Println("ready")
	// Ends with the test binary, whatever happens to it.
	for parent := os.Getppid(); os.Getppid() == parent; time.Sleep(50 * time.Millisecond) {
	}
	return 0
}

func helperCommand(role, log string, args ...string) command {
	exe, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return command{argv: append([]string{exe}, args...), env: []string{helperEnv + "=" + role}, log: log}
}

// startHelper launches a helper and returns when it is ready.
func startHelper(t *testing.T, role string, args ...string) process {
	t.Helper()
	log := t.TempDir() + "/log"
	p, err := launch(helperCommand(role, log, args...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.stop(0) })
	eventually(t, role+" ready", func() bool {
		b, err := os.ReadFile(log)
		return err == nil && len(b) > 0
	})
	return p
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !ok(); time.Sleep(pollEvery) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within 30s", what)
		}
	}
}

func freePort(t *testing.T) int {
	t.Helper()
	ports, err := FreePorts(1)
	if err != nil {
		t.Fatal(err)
	}
	return ports[0]
}

// runHelper runs a helper to its end and returns what it wrote.
func runHelper(role string, env []string, args ...string) (string, error) {
	c := helperCommand(role, os.DevNull, args...)
	cmd := exec.Command(c.argv[0], c.argv[1:]...)
	cmd.Env = append(append(os.Environ(), env...), c.env...)
	b, err := cmd.CombinedOutput()
	return string(b), err
}

func portEnv(p Ports) []string {
	set := func(name string, port int) string { return name + "=" + strconv.Itoa(port) }
	return []string{
		set("GATEWAY_PORT", p.Gateway), set("ENVOY_ADMIN_PORT", p.EnvoyAdmin), set("BRIDGE_PORT", p.Bridge),
		set("BRIDGE_ADMIN_PORT", p.BridgeAdmin), set("SHOP_PORT", p.Shop),
		fmt.Sprintf("REDIS_PORTS=%d-%d", p.Redis[0], p.Redis[5]),
	}
}
