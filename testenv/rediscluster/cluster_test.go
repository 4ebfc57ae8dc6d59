package rediscluster_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/oncewall/oncewall/testenv/rediscluster"
)

func TestStart(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c, err := rediscluster.Start(ctx, rediscluster.Config{Dir: t.TempDir(), MaxMemory: 64 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	roles := map[string]int{}
	for _, n := range c.Nodes {
		info, err := n.Do(ctx, "INFO", "replication")
		if err != nil {
			t.Fatal(err)
		}
		for _, role := range []string{"role:master", "role:slave"} {
			if strings.Contains(info, role) {
				roles[role]++
			}
		}
		policy, err := n.Do(ctx, "CONFIG", "GET", "maxmemory-policy")
		if err != nil || policy != "maxmemory-policy\nnoeviction" {
			t.Errorf("policy %q, %v", policy, err)
		}
	}
	if roles["role:master"] != 3 || roles["role:slave"] != 3 {
		t.Errorf("roles %v, want 3 of each", roles)
	}
	c.Close()
	for _, n := range c.Nodes {
		if err := syscall.Kill(n.PID(), 0); !errors.Is(err, syscall.ESRCH) {
			t.Errorf("%s still runs after Close: %v", n.Address(), err)
		}
	}
}

func TestStartSingle(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	dir := t.TempDir()
	c, err := rediscluster.StartSingle(ctx, rediscluster.Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Nodes[0].Do(ctx, "SET", "a", "1"); err != nil {
		t.Fatal(err)
	}
	if v, err := c.Nodes[0].Do(ctx, "GET", "a"); err != nil || v != "1" {
		t.Fatalf("got %q, %v", v, err)
	}
}

// A port that is taken must end in an error that names the log, not in a wait.
func TestTakenPort(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c, err := rediscluster.StartSingle(ctx, rediscluster.Config{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, err = rediscluster.StartSingle(ctx, rediscluster.Config{Dir: t.TempDir(), Ports: []int{c.Nodes[0].Port}})
	if err == nil || !strings.Contains(err.Error(), "redis.log") {
		t.Fatalf("error %v, want one that names the log", err)
	}
}

func TestNoServer(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := rediscluster.StartSingle(context.Background(), rediscluster.Config{Dir: os.TempDir()})
	if !errors.Is(err, rediscluster.ErrNoServer) {
		t.Fatalf("error %v, want ErrNoServer", err)
	}
}
