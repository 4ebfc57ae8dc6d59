package main

import (
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/oncewall/oncewall/bridge/admin"
	"github.com/oncewall/oncewall/bridge/config"
	"github.com/oncewall/oncewall/bridge/reconcile"
	"github.com/oncewall/oncewall/bridge/server"
	clientapi "github.com/oncewall/oncewall/client/api"
)

// mountAPI adds the JSON API to a server, for the roles that somebody has.
func mountAPI(srv *server.Server, recovery *reconcile.Reconciler, cfg *config.Config, log *slog.Logger, registry *prometheus.Registry) error {
	if len(cfg.API) == 0 {
		return nil
	}
	callers := make([]admin.Caller, len(cfg.API))
	for i, s := range cfg.API {
		callers[i] = admin.Caller{ID: s.ID, Operator: s.Role == config.Operator, Secret: s.Secret}
		for _, p := range s.Allow {
			callers[i].Allow = append(callers[i].Allow, admin.Place(p))
		}
	}
	c := admin.Config{
		Server: srv, Callers: callers, MaxBodyBytes: cfg.Limits.MaxBatchBytes, MaxLease: cfg.Limits.MaxLease,
		Log: log, Registry: registry,
	}
	if recovery != nil {
		c.Why = recovery.Why
	}
	api, err := admin.New(c)
	if err != nil {
		return err
	}
	if h := api.Consumers(); h != nil {
		srv.MountData(admin.ConsumerPrefix, h)
	}
	if h := api.Operators(); h != nil {
		srv.MountAdmin(admin.OperatorPrefix, h)
		srv.MountAdmin(clientapi.PathReport, h)
	}
	return nil
}
