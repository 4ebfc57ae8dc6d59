package stack

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// FromEnv reads the variables that `make up` knows (`make help` lists them) with
// getenv, and returns every fault at once. What is unset or empty has its
// default; ports default to [DefaultPorts].
func FromEnv(getenv func(string) string) (Options, error) {
	e := &environ{get: getenv}
	ports := DefaultPorts()
	e.port("GATEWAY_PORT", &ports.Gateway)
	e.port("ENVOY_ADMIN_PORT", &ports.EnvoyAdmin)
	e.port("BRIDGE_PORT", &ports.Bridge)
	e.port("BRIDGE_ADMIN_PORT", &ports.BridgeAdmin)
	e.port("SHOP_PORT", &ports.Shop)
	e.redisPorts("REDIS_PORTS", &ports.Redis)
	o := Options{
		Ports:        &ports,
		Store:        getenv("STORE"),
		Envoy:        getenv("ENVOY"),
		Rules:        getenv("RULES"),
		BridgeConfig: getenv("BRIDGE_CONFIG"),
		EnvoyPatch:   getenv("ENVOY_PATCH"),
		Edge:         e.flag("EDGE"),
		Inner:        e.flag("INNER"),
		Bare:         e.flag("BARE"),
		Live:         e.flag("LIVE"),
		Debug:        e.flag("DEBUG"),
	}
	e.number("CONCURRENCY", &o.Concurrency)
	e.number("BRIDGES", &o.Bridges)
	e.number("GATEWAYS", &o.Gateways)
	e.duration("BRIDGE_CLOCK_OFFSET", &o.BridgeClockOffset)
	e.duration("BRIDGE_DELAY", &o.BridgeDelay)
	e.duration("ISSUE_LIFE", &o.IssueLife)
	if via := getenv("REDIS_VIA"); via != "" {
		o.RedisVia = strings.Split(via, ",")
	}
	if ledger := getenv("LEDGER"); ledger != "" && ledger != "none" {
		e.fault("LEDGER %q: this version has no ledger; leave it unset or say none", ledger)
	}
	if _, err := o.withDefaults(); err != nil {
		e.faults = append(e.faults, err)
	}
	return o, errors.Join(e.faults...)
}

// environ collects the faults of variables.
type environ struct {
	get    func(string) string
	faults []error
}

func (e *environ) fault(format string, args ...any) {
	e.faults = append(e.faults, fmt.Errorf(format, args...))
}

func (e *environ) flag(name string) bool {
	switch v := e.get(name); v {
	case "", "0":
		return false
	case "1":
		return true
	default:
		e.fault("%s %q must be 0 or 1", name, v)
		return false
	}
}

func (e *environ) number(name string, to *int) {
	v := e.get(name)
	if v == "" {
		return
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < 1 {
		e.fault("%s %q must be a number from 1", name, v)
		return
	}
	*to = n
}

func (e *environ) port(name string, to *int) {
	if v := e.get(name); v != "" {
		*to = e.parsePort(name, v)
	}
}

func (e *environ) parsePort(name, v string) int {
	n, err := strconv.Atoi(strings.TrimSpace(v))
	if err != nil || n < 1 || n > 65535 {
		e.fault("%s %q must be a port, 1 to 65535", name, v)
	}
	return n
}

// redisPorts reads six ports: a range, or a list with commas.
func (e *environ) redisPorts(name string, to *[]int) {
	v := e.get(name)
	if v == "" {
		return
	}
	fields := strings.FieldsFunc(v, func(r rune) bool { return r == ',' || r == ' ' })
	if first, last, ok := strings.Cut(v, "-"); ok {
		fields = fields[:0]
		for p, end := e.parsePort(name, first), e.parsePort(name, last); p <= end && len(fields) < 7; p++ {
			fields = append(fields, strconv.Itoa(p))
		}
	}
	ports := make([]int, 0, 6)
	for _, f := range fields {
		ports = append(ports, e.parsePort(name, f))
	}
	if len(ports) != 6 {
		e.fault("%s %q must be six ports, as 7000-7005 or separated by commas", name, v)
		return
	}
	*to = ports
}

func (e *environ) duration(name string, to *time.Duration) {
	v := e.get(name)
	if v == "" {
		return
	}
	d, err := time.ParseDuration(v)
	if err != nil {
		e.fault("%s %q must be a duration such as 250ms", name, v)
		return
	}
	*to = d
}
