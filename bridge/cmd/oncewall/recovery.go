package main

import (
	"context"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/oncewall/oncewall/bridge/config"
	"github.com/oncewall/oncewall/bridge/reconcile"
	"github.com/oncewall/oncewall/bridge/seal"
	"github.com/oncewall/oncewall/bridge/store"
)

// asked says of which scopes records must carry what a backend is asked by; nil:
// of none.
func asked(cfg *config.Config) func(namespace, scope string) bool {
	if len(cfg.Recovery.Scopes) == 0 {
		return nil
	}
	return reconcile.Asked(cfg.Recovery.Scopes)
}

// startRecovery starts the reconciler. stop ends it, waits for the questions under
// way, and gives its work back; the store may be closed after it.
func startRecovery(cfg *config.Config, st store.Store, sealer *seal.Sealer, log *slog.Logger, registry *prometheus.Registry) (stop func(), err error) {
	recoverer, ok := st.(store.Recoverer)
	if !ok {
		return func() {}, nil
	}
	r, err := reconcile.New(reconcile.Config{
		Store:         recoverer,
		Sealer:        sealer,
		WriteUnsealed: cfg.Unsealed == config.WriteUnsealed,
		Scopes:        cfg.Recovery.Scopes,
		Interval:      cfg.Recovery.Interval,
		StuckAfter:    cfg.Recovery.StuckAfter,
		Log:           log,
		Registry:      registry,
	})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		r.Run(ctx, cfg.DrainTimeout)
	}()
	return func() {
		cancel()
		<-ended
	}, nil
}
