package main

import (
	"context"
	"log/slog"
	"time"

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

// newRecovery returns a reconciler over st; nil where st cannot have one.
func newRecovery(cfg *config.Config, st store.Store, sealer *seal.Sealer, log *slog.Logger, registry *prometheus.Registry) (*reconcile.Reconciler, error) {
	recoverer, ok := st.(store.Recoverer)
	if !ok {
		return nil, nil
	}
	return reconcile.New(reconcile.Config{
		Store:         recoverer,
		Sealer:        sealer,
		WriteUnsealed: cfg.Unsealed == config.WriteUnsealed,
		Scopes:        cfg.Recovery.Scopes,
		Interval:      cfg.Recovery.Interval,
		StuckAfter:    cfg.Recovery.StuckAfter,
		Log:           log,
		Registry:      registry,
	})
}

// runRecovery starts r. stop ends it, waits for the questions under way, for grace
// at most, and gives its work back; the store may be closed after it.
func runRecovery(r *reconcile.Reconciler, grace time.Duration) (stop func()) {
	if r == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		r.Run(ctx, grace)
	}()
	return func() {
		cancel()
		<-ended
	}
}
