package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/oncewall/oncewall/testenv/host"
)

// run serves until ctx ends.
func run(ctx context.Context, args []string, env func(string) (string, bool), stdout, stderr io.Writer) int {
	out := &lines{w: stderr}
	s, err := parse(args, env, stderr)
	switch {
	case err != nil:
		for _, e := range flatten(err) {
			out.printf("oncewall-host: %v", e)
		}
		return exitUsage
	case s.showUsage:
		return exitOK
	case s.showVersion:
		fmt.Fprintln(stdout, "oncewall-host", versionText())
		return exitOK
	}
	if err := serve(ctx, s, stdout, out); err != nil {
		for _, e := range flatten(err) {
			out.printf("oncewall-host: %v", e)
		}
		return exitFailed
	}
	return exitOK
}

// flatten gives the faults that were joined.
func flatten(err error) []error {
	if j, ok := err.(interface{ Unwrap() []error }); ok {
		return j.Unwrap()
	}
	return []error{err}
}

// lines writes whole lines from several goroutines.
type lines struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(b)
}

func (l *lines) printf(format string, args ...any) { fmt.Fprintf(l, format+"\n", args...) }

// serve starts what the settings ask for, serves until ctx ends, and lets
// requests end.
func serve(ctx context.Context, s *settings, stdout io.Writer, out *lines) (err error) {
	// What can be refused at no cost comes first.
	wasm, err := readFilter(s.filter)
	if err != nil {
		return err
	}
	config, err := readOptional("--config", s.config)
	if err != nil {
		return err
	}
	vmConfig, err := readOptional("--vm-config", s.vmConfig)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", s.listen)
	if err != nil {
		return fmt.Errorf("--listen: %w", err)
	}
	defer func() { _ = listener.Close() }()
	var adminListener net.Listener
	if s.admin != "" {
		if adminListener, err = net.Listen("tcp", s.admin); err != nil {
			return fmt.Errorf("--admin: %w", err)
		}
		defer func() { _ = adminListener.Close() }()
	}
	traceTo, closeTrace, err := openTrace(s.trace, out)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeTrace()) }()

	binary, err := compile(ctx, s.filter, wasm, host.CompileOptions{CacheDir: s.cacheDir})
	if err != nil {
		return err
	}
	defer func() { _ = binary.Close(context.Background()) }()

	began := time.Now()
	keep := s.keep
	if adminListener == nil {
		keep = 0
	}
	t := newTracer(traceTo, keep, began)
	l := newLoop(began)
	o := s.options(binary, config, vmConfig, listener.Addr(), began)
	o.Logged = func(line host.LogLine) {
		out.printf("%s %s: %s", line.VM, line.Level, line.Text)
	}
	o.Fail = func(err error) { out.printf("oncewall-host: the filter is at fault: %v", err) }
	if traceTo != nil || keep > 0 {
		o.Traced = t.line
	}
	report := func(format string, args ...any) {
		if s.logLevel <= host.LogWarn {
			out.printf("oncewall-host: "+format, args...)
		}
	}
	for name, to := range s.clusters {
		u := newUpstream(l, name, to, s.bufferLimit, report)
		defer u.close()
		o.Clusters[name] = &host.Cluster{Live: u, HTTP2: to.http2, BufferLimit: s.bufferLimit}
	}
	// Not ctx: a signal must not end a callback in its middle.
	h, err := host.New(context.Background(), o)
	t.flush()
	if err != nil {
		return fmt.Errorf("the filter does not start: %w", err)
	}
	defer h.Close()
	if o.Traced == nil {
		h.Trace().Off()
	}
	l.h, l.idle = h, t.flush

	loopCtx, endLoop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { l.run(loopCtx) })
	defer func() { endLoop(); running.Wait(); t.flush() }()

	f := &front{l: l, workers: s.workers, limit: s.bufferLimit, idle: s.streamIdle}
	servers := []*http.Server{f.server()}
	listeners := []net.Listener{listener}
	fmt.Fprintf(stdout, "serving http://%s by %s\n", listener.Addr(), s.clusters[routeCluster])
	if adminListener != nil {
		servers, listeners = append(servers, admin(l, t)), append(listeners, adminListener)
		fmt.Fprintf(stdout, "admin http://%s\n", adminListener.Addr())
	}
	err = serveAll(ctx, servers, listeners, s.drainTimeout, out)
	l.call(h.Shutdown)
	return err
}

// serveAll serves until ctx ends or a listener fails; then requests get the
// drain time to end.
func serveAll(ctx context.Context, servers []*http.Server, listeners []net.Listener, drain time.Duration, out *lines) error {
	failed := make(chan error, len(servers))
	for i, s := range servers {
		go func() { failed <- s.Serve(listeners[i]) }()
	}
	var fault error
	left := len(servers)
	select {
	case <-ctx.Done():
		out.printf("oncewall-host: draining, at most %s", drain)
	case fault = <-failed:
		left--
	}
	end, cancel := context.WithTimeout(context.Background(), drain)
	defer cancel()
	for _, s := range servers {
		if err := s.Shutdown(end); err != nil {
			out.printf("oncewall-host: requests were cut after %s", drain)
			_ = s.Close()
		}
	}
	for range left {
		<-failed
	}
	return fault
}

// options are what the settings mean for the host.
func (s *settings) options(b *host.Binary, config, vmConfig []byte, at net.Addr, began time.Time) host.Options {
	o := host.Options{
		Binary: b, Workers: s.workers, Name: s.name, RootID: s.rootID, VMID: s.vmID,
		PluginConfig: config, VMConfig: vmConfig, Env: s.env, Seed: uint64(began.UnixNano()), Start: began,
		LogLevel: &s.logLevel, AllowOnHeadersStopIteration: s.flags[flagStopIteration],
		UseRemoteAddress: s.flags[flagRemoteAddress], BufferLimit: s.bufferLimit, FailurePolicy: s.failure,
		StreamIdleTimeout: orNone(s.streamIdle), Clusters: map[string]*host.Cluster{}, Properties: s.properties,
		Route: host.Route{Cluster: routeCluster, Timeout: orNone(s.routeTimeout)},
	}
	if _, ok := o.Properties["destination"]; !ok {
		tcp, _ := at.(*net.TCPAddr)
		o.Properties["destination"] = map[string]any{"address": at.String(), "port": int64(tcp.Port)}
	}
	return o
}

// orNone makes the host's "none" of 0.
func orNone(d time.Duration) time.Duration {
	if d == 0 {
		return host.None
	}
	return d
}

// readOptional reads the file of a flag that may be left out.
func readOptional(name, file string) ([]byte, error) {
	if file == "" {
		return nil, nil
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return b, nil
}

// openTrace opens where the trace goes: nowhere, stderr or a file.
func openTrace(t traceFlag, stderr io.Writer) (io.Writer, func() error, error) {
	nothing := func() error { return nil }
	switch {
	case !t.on:
		return nil, nothing, nil
	case t.file == "":
		return stderr, nothing, nil
	}
	f, err := os.Create(t.file)
	if err != nil {
		return nil, nothing, fmt.Errorf("--trace %s: %w", strconv.Quote(t.file), err)
	}
	return f, f.Close, nil
}
