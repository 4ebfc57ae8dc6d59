package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/oncewall/oncewall/testenv/host"
)

// routeCluster is the name of the cluster behind --upstream.
const routeCluster = "upstream"

// settings are the command line of run.
type settings struct {
	filter                 string
	config, vmConfig       string
	name, rootID, vmID     string
	listen, admin          string
	allowRemote            bool
	clusters               map[string]target
	env                    map[string]string
	flags                  map[string]bool
	workers                int
	bufferLimit            int
	routeTimeout           time.Duration
	streamIdle             time.Duration
	drainTimeout           time.Duration
	failure                host.FailurePolicy
	properties             map[string]any
	logLevel               host.LogLevel
	trace                  traceFlag
	keep                   int
	cacheDir               string
	showVersion, showUsage bool
}

// target is where a cluster's requests go.
type target struct {
	addr  string
	http2 bool
}

// Envoy's own settings of the filter and its listener that --flag switches.
const (
	flagStopIteration = "allow_on_headers_stop_iteration"
	flagRemoteAddress = "use_remote_address"
)

var failurePolicies = map[string]host.FailurePolicy{
	"fail_closed": host.FailClosed, "fail_open": host.FailOpen, "fail_reload": host.FailReload,
}

var logLevels = map[string]host.LogLevel{
	"trace": host.LogTrace, "debug": host.LogDebug, "info": host.LogInfo,
	"warn": host.LogWarn, "error": host.LogError, "critical": host.LogCritical,
}

// parse reads the command line of run; every fault of it is told at once.
func parse(args []string, env func(string) (string, bool), out io.Writer) (*settings, error) {
	s := &settings{
		clusters: map[string]target{}, env: map[string]string{}, flags: map[string]bool{}, properties: map[string]any{},
		bufferLimit: host.DefaultBufferLimit, logLevel: host.LogInfo,
	}
	f := flag.NewFlagSet("run", flag.ContinueOnError)
	f.SetOutput(out)
	f.Usage = func() {
		fmt.Fprintf(out, "usage: oncewall-host run FILTER.wasm [flags]\n\n")
		f.PrintDefaults()
	}
	f.StringVar(&s.config, "config", "", "`file` of the plugin's configuration, given to the filter as it is")
	f.StringVar(&s.vmConfig, "vm-config", "", "`file` of the VM's configuration, given to the filter as it is")
	f.StringVar(&s.name, "name", "", "the plugin's `name`")
	f.StringVar(&s.rootID, "root-id", "", "the plugin's root `id`")
	f.StringVar(&s.vmID, "vm-id", "", "the VM's `id`")
	f.StringVar(&s.listen, "listen", "127.0.0.1:9000", "`address` for HTTP/1.1 and HTTP/2 without TLS; port 0 takes a free one")
	f.StringVar(&s.admin, "admin", "", "`address` of /metrics, /trace and /ready; none without it")
	f.BoolVar(&s.allowRemote, "allow-remote", false, "allow addresses other than loopback")
	f.Func("upstream", "`URL` of the backend: http://host:port, or h2c://host:port for HTTP/2 without TLS", func(v string) error {
		return addCluster(s.clusters, routeCluster, v)
	})
	f.Func("cluster", "`name=URL` of a cluster for the filter's callouts; may be repeated", func(v string) error {
		name, u, ok := strings.Cut(v, "=")
		if !ok || name == "" {
			return errors.New("must be name=URL")
		}
		return addCluster(s.clusters, name, u)
	})
	f.Func("env", "`NAME=value` in the VM's environment; may be repeated", func(v string) error {
		name, value, ok := strings.Cut(v, "=")
		if !ok || name == "" {
			return errors.New("must be NAME=value")
		}
		s.env[name] = value
		return nil
	})
	f.Func("env-from-host", "`NAME` that the VM's environment takes from this one, if it is set; may be repeated", func(name string) error {
		if v, ok := env(name); ok {
			s.env[name] = v
		}
		return nil
	})
	f.Func("flag", "`name[=bool]` of Envoy: "+flagStopIteration+", "+flagRemoteAddress+"; may be repeated", s.setFlag)
	f.IntVar(&s.workers, "workers", 1, "`number` of workers, each with a VM of its own")
	f.Func("buffer-limit", "`bytes` that are buffered for one stream in one direction, as 65536, 64KiB or 1MiB (default 1MiB)", func(v string) (err error) {
		s.bufferLimit, err = parseSize(v)
		return err
	})
	f.DurationVar(&s.routeTimeout, "route-timeout", host.DefaultRouteTimeout, "`time` for the backend's answer; 0 for none")
	f.DurationVar(&s.streamIdle, "stream-idle-timeout", host.DefaultStreamIdleTimeout, "`time` without a byte after which a stream ends; 0 for none")
	f.DurationVar(&s.drainTimeout, "drain-timeout", 10*time.Second, "`time` that requests get to end after the first signal")
	f.Func("failure-policy", "what follows a trap: fail_closed, fail_open or fail_reload (default fail_closed)", oneOf(&s.failure, failurePolicies))
	f.Func("property", "`path=value` of a property, its path with dots; may be repeated", s.setProperty)
	f.Func("log-level", "the least `level` of the filter's log that is shown: trace, debug, info, warn, error or critical (default info)", oneOf(&s.logLevel, logLevels))
	f.Var(&s.trace, "trace", "show every callback and host call on stderr, or write them to a file with --trace=`FILE`")
	f.IntVar(&s.keep, "trace-streams", 50, "`number` of streams whose traces /trace of --admin keeps")
	f.StringVar(&s.cacheDir, "cache-dir", "", "`folder` that keeps compiled filters, for a faster start")
	f.BoolVar(&s.showVersion, "version", false, "print the version")
	files, err := parseMixed(f, args)
	if errors.Is(err, flag.ErrHelp) {
		s.showUsage = true
		return s, nil
	}
	if err != nil {
		return nil, err // the flag set has told it
	}
	if s.showVersion {
		return s, nil
	}
	err = s.check(files)
	return s, err
}

// parseMixed parses flags before, between and behind arguments.
func parseMixed(f *flag.FlagSet, args []string) (rest []string, err error) {
	for {
		if err := f.Parse(args); err != nil {
			return nil, err
		}
		if f.NArg() == 0 {
			return rest, nil
		}
		rest, args = append(rest, f.Arg(0)), f.Args()[1:]
	}
}

// check finds what is wrong with the settings as a whole.
func (s *settings) check(files []string) error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if len(files) != 1 {
		fault("exactly one filter must be named, got %d", len(files))
	} else {
		s.filter = files[0]
	}
	if _, ok := s.clusters[routeCluster]; !ok {
		fault("--upstream must be given")
	}
	if s.workers < 1 || s.workers > 64 {
		fault("--workers %d must be 1 to 64", s.workers)
	}
	if s.keep < 1 || s.keep > 10_000 {
		fault("--trace-streams %d must be 1 to 10000", s.keep)
	}
	for name, d := range map[string]time.Duration{"route-timeout": s.routeTimeout, "stream-idle-timeout": s.streamIdle, "drain-timeout": s.drainTimeout} {
		if d < 0 {
			fault("--%s %s must be 0 or more", name, d)
		}
	}
	for name, addr := range map[string]string{"listen": s.listen, "admin": s.admin} {
		if addr == "" && name == "admin" {
			continue
		}
		if err := s.checkListen(addr); err != nil {
			fault("--%s %s: %w", name, addr, err)
		}
	}
	return errors.Join(faults...)
}

// checkListen wants a port on loopback, unless others are allowed.
func (s *settings) checkListen(addr string) error {
	name, port, err := net.SplitHostPort(addr)
	if err != nil {
		return errors.New("must be address:port")
	}
	if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 {
		return errors.New("the port must be 0 to 65535")
	}
	ip, err := netip.ParseAddr(name)
	if s.allowRemote || name == "localhost" || err == nil && ip.IsLoopback() {
		return nil
	}
	return errors.New("is not a loopback address; --allow-remote allows it")
}

func addCluster(to map[string]target, name, raw string) error {
	u, err := url.Parse(raw)
	switch {
	case err != nil || u.Host == "":
		return errors.New("must be http://host:port or h2c://host:port")
	case u.Scheme == "https":
		return errors.New("TLS to a cluster is not supported; use http or h2c")
	case u.Scheme != "http" && u.Scheme != "h2c":
		return fmt.Errorf("scheme %q must be http or h2c", u.Scheme)
	case u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.User != nil:
		return errors.New("must be an address without path, query and user")
	}
	if _, ok := to[name]; ok {
		return fmt.Errorf("%q is given twice", name)
	}
	addr := u.Host
	if u.Port() == "" {
		addr = net.JoinHostPort(u.Hostname(), "80")
	}
	to[name] = target{addr: addr, http2: u.Scheme == "h2c"}
	return nil
}

func (s *settings) setFlag(v string) error {
	name, value, given := strings.Cut(v, "=")
	on := true
	if given {
		var err error
		if on, err = strconv.ParseBool(value); err != nil {
			return fmt.Errorf("%s must be true or false", name)
		}
	}
	if name != flagStopIteration && name != flagRemoteAddress {
		return fmt.Errorf("%q must be %s or %s", name, flagStopIteration, flagRemoteAddress)
	}
	s.flags[name] = on
	return nil
}

// setProperty puts a string into the tree of properties.
func (s *settings) setProperty(v string) error {
	path, value, ok := strings.Cut(v, "=")
	if !ok || path == "" {
		return errors.New("must be path=value")
	}
	at, parts := s.properties, strings.Split(path, ".")
	for _, p := range parts[:len(parts)-1] {
		if at[p] == nil {
			at[p] = map[string]any{}
		}
		next, ok := at[p].(map[string]any)
		if !ok {
			return fmt.Errorf("%s lies below a property with a value", path)
		}
		at = next
	}
	last := parts[len(parts)-1]
	if _, ok := at[last]; ok {
		return fmt.Errorf("%s is given twice", path)
	}
	at[last] = value
	return nil
}

// oneOf is a flag whose value is one of some words.
func oneOf[T any](to *T, words map[string]T) func(string) error {
	return func(v string) error {
		t, ok := words[strings.ToLower(v)]
		if !ok {
			return errors.New("no such value")
		}
		*to = t
		return nil
	}
}

// parseSize reads bytes: a number alone, or one with KiB or MiB; at most 1 GiB.
func parseSize(v string) (int, error) {
	number, unit := v, 1
	for suffix, n := range map[string]int{"KiB": 1 << 10, "MiB": 1 << 20} {
		if s, ok := strings.CutSuffix(v, suffix); ok {
			number, unit = s, n
		}
	}
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 || n > 1<<30/unit {
		return 0, errors.New("must be 1 to 1073741824 bytes, as 65536, 64KiB or 1MiB")
	}
	return n * unit, nil
}

// traceFlag is --trace or --trace=FILE.
type traceFlag struct {
	on   bool
	file string
}

func (t *traceFlag) String() string   { return t.file }
func (t *traceFlag) IsBoolFlag() bool { return true }

func (t *traceFlag) Set(v string) error {
	on, err := strconv.ParseBool(v)
	if err != nil {
		on, t.file = true, v
	}
	t.on = on
	return nil
}
