package main

import (
	"context"
	"log/slog"
	"time"

	"github.com/oncewall/oncewall/bridge/config"
	"github.com/oncewall/oncewall/bridge/server"
	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/bridge/store/redis"
)

// openWait bounds how long start-up waits for Redis. After it the bridge serves
// all the same, answers unavailable, and is not ready.
const openWait = 2 * time.Second

// openStore opens the configured store, or the embedded one where none is; the
// configuration allows that with --dev alone.
func openStore(ctx context.Context, cfg *config.Config, log *slog.Logger) (store.Store, error) {
	if cfg.Redis == nil {
		log.Warn("embedded store: every record is lost when this process ends; nothing is replicated, so durability.replicas counts as satisfied")
		return redis.Embedded(redis.EmbeddedConfig{
			ClockOffset:  cfg.ClockOffset,
			ClockSkew:    cfg.ClockSkew,
			ClaimTimeout: server.MaxBudget,
		})
	}
	mode, err := redis.ParseMode(string(cfg.Redis.Mode))
	if err != nil {
		return nil, err
	}
	tlsConfig, err := cfg.Redis.TLS.Client()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, openWait)
	defer cancel()
	return redis.Open(ctx, redis.Config{
		Addresses:        cfg.Redis.Addresses,
		Mode:             mode,
		SentinelMaster:   cfg.Redis.SentinelMaster,
		SentinelUsername: cfg.Redis.SentinelUsername,
		SentinelPassword: cfg.Redis.SentinelPassword,
		Username:         cfg.Redis.Username,
		Password:         cfg.Redis.Password,
		TLS:              tlsConfig,
		DialTimeout:      cfg.Redis.DialTimeout,
		ClockSkew:        cfg.ClockSkew,
		ClaimTimeout:     server.MaxBudget,
		Via:              cfg.Redis.Via,
	})
}
