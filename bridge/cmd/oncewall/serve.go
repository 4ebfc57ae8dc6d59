package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"syscall"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/oncewall/oncewall/bridge/config"
	"github.com/oncewall/oncewall/bridge/naming"
	"github.com/oncewall/oncewall/bridge/seal"
	"github.com/oncewall/oncewall/bridge/server"
)

// serve runs the bridge until SIGTERM or SIGINT.
func serve(args, environ []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("serve", flag.ContinueOnError)
	flags.SetOutput(stderr)
	file := flags.String("config", "", "YAML `file`; without it defaults and environment alone")
	dev := flags.Bool("dev", false, "loopback only; without a configured store, an embedded one that forgets everything at exit")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return exitOK
		}
		return exitUsage
	}
	if flags.NArg() > 0 {
		fmt.Fprintf(stderr, "oncewall serve: unexpected argument %q\n", flags.Arg(0))
		return exitUsage
	}
	cfg, err := loadConfig(*file, *dev, environ)
	if err != nil {
		fmt.Fprintln(stderr, err)
		return exitUsage
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	log := slog.New(slog.NewJSONHandler(stderr, &slog.HandlerOptions{Level: cfg.Log.Level.Slog()}))
	server.SpareCollector()
	if err := serveConfig(ctx, cfg, log); err != nil {
		log.Error("bridge failed", "error", err)
		return exitFailed
	}
	return exitOK
}

func loadConfig(file string, dev bool, environ []string) (*config.Config, error) {
	options := config.Options{Environ: environ, Dev: dev}
	if file != "" {
		var err error
		if options.YAML, err = os.ReadFile(file); err != nil {
			return nil, fmt.Errorf("config: %w", err)
		}
	}
	cfg, err := config.Load(options)
	if err != nil {
		return nil, err
	}
	return cfg, cfg.ReadFiles()
}

func serveConfig(ctx context.Context, cfg *config.Config, log *slog.Logger) error {
	return serveWith(ctx, cfg, log, prometheus.NewRegistry())
}

// serveWith is serveConfig with every metric in registry.
func serveWith(ctx context.Context, cfg *config.Config, log *slog.Logger, registry *prometheus.Registry) error {
	for _, w := range cfg.Warnings {
		log.Warn("configuration", "remark", w)
	}
	keys, err := naming.NewRing(cfg.Naming...)
	if err != nil {
		return err
	}
	var sealer *seal.Sealer
	if len(cfg.Sealing) > 0 {
		if sealer, err = seal.New(cfg.Sealing...); err != nil {
			return err
		}
	}
	dataTLS, err := cfg.TLS.Server()
	if err != nil {
		return err
	}
	// The listeners come first: a port that is taken must not cost a store.
	data, err := net.Listen("tcp", cfg.Listen)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	defer data.Close()
	admin, err := net.Listen("tcp", cfg.AdminListen)
	if err != nil {
		return fmt.Errorf("admin_listen: %w", err)
	}
	defer admin.Close()
	st, err := openStore(ctx, cfg, log)
	if err != nil {
		return err
	}
	tracer, parts, stopTracing, err := startTracing(cfg, log, registry)
	if err != nil {
		return err
	}
	defer stopTracing()
	srv, err := server.New(server.Config{
		Store:          st,
		Keys:           keys,
		Secrets:        cfg.Secrets,
		Sealer:         sealer,
		WriteUnsealed:  cfg.Unsealed == config.WriteUnsealed,
		RefuseUnsealed: cfg.Unsealed == config.RefuseUnsealed,
		MaxBatchBytes:  cfg.Limits.MaxBatchBytes,
		MaxInFlight:    cfg.Limits.MaxInFlight,
		MaxWaiters:     cfg.Limits.MaxWaiters,
		MaxKeyWaiters:  cfg.Limits.MaxKeyWaiters,
		MaxLease:       cfg.Limits.MaxLease,
		MaxTTL:         cfg.Limits.MaxTTL,
		MaxTombstone:   cfg.Limits.MaxTombstone,
		Quotas:         quotas(cfg.Quotas),
		Asked:          asked(cfg),
		IssueLife:      cfg.IssueLife,
		DrainTimeout:   cfg.DrainTimeout,
		Delay:          cfg.Delay,
		ClockOffset:    cfg.ClockOffset,
		Tracer:         tracer,
		LogPerSecond:   linesPerSecond(cfg),
		Log:            log,
		Registry:       registry,
		Version:        version,
	})
	if err != nil {
		return err
	}
	for _, p := range parts {
		srv.AddPart(p)
	}
	recovery, err := newRecovery(cfg, st, sealer, log, registry)
	if err != nil {
		return err
	}
	if recovery != nil {
		srv.AddPart(recovery.Part())
	}
	if err := mountAPI(srv, recovery, cfg, log, registry); err != nil {
		return err
	}
	stopRecovery := runRecovery(recovery, cfg.DrainTimeout)
	settled, err := srv.Run(ctx, data, admin, dataTLS)
	stopRecovery()
	if settled {
		st.Close()
	}
	return err
}

func quotas(list []config.Quota) []server.Quota {
	var quotas []server.Quota
	for _, q := range list {
		quotas = append(quotas, server.Quota(q))
	}
	return quotas
}
