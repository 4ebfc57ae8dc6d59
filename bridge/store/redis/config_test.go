package redis_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/oncewall/oncewall/bridge/store/redis"
)

func TestConfigFaults(t *testing.T) {
	_, err := redis.Open(context.Background(), redis.Config{
		Mode: redis.Single, SentinelMaster: "m", DialTimeout: time.Hour, ClockSkew: -1,
	})
	for _, want := range []string{
		"addresses: none, want at least 1",
		"sentinel_master: set, want mode sentinel or auto",
		"dial_timeout: 1h0m0s, want 10ms to 1m0s",
		"clock_skew: -1ns, want 1ms to 1m0s",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v lacks %q", err, want)
		}
	}
}

func TestParseMode(t *testing.T) {
	for s, want := range map[string]redis.Mode{"": redis.Auto, "auto": redis.Auto, "single": redis.Single, "sentinel": redis.Sentinel, "cluster": redis.Cluster} {
		if m, err := redis.ParseMode(s); m != want || err != nil {
			t.Errorf("%q: %d, %v", s, m, err)
		}
	}
	if _, err := redis.ParseMode("Cluster"); err == nil {
		t.Error("Cluster: no error")
	}
}
