package main

import (
	"fmt"
	"time"

	"github.com/oncewall/oncewall/bridge/config"
	"github.com/oncewall/oncewall/filter"
	"github.com/oncewall/oncewall/filter/rules"
)

// disagreeEnvoy compares what a plugin configuration says of Envoy with the file
// that it was found in.
func disagreeEnvoy(f *pluginFile) []string {
	if !f.fromEnvoy || f.cfg.Envoy.AllowOnHeadersStopIteration == f.stopsIteration {
		return nil
	}
	return []string{fmt.Sprintf("envoy.allow_on_headers_stop_iteration %t: the filter's own is %t",
		f.cfg.Envoy.AllowOnHeadersStopIteration, f.stopsIteration)}
}

// agreement collects where a plugin and a bridge do not fit.
type agreement struct {
	faults, remarks []string
}

func (a *agreement) fault(format string, args ...any) {
	a.faults = append(a.faults, fmt.Sprintf(format, args...))
}

func (a *agreement) remark(format string, args ...any) {
	a.remarks = append(a.remarks, fmt.Sprintf(format, args...))
}

// disagree compares two configurations, each good by itself. With a fault some
// requests would be answered misconfigured, never be recorded, or outlive their
// lease; a remark is legal and probably not meant.
func disagree(plugin *rules.Config, bridge *config.Config) (faults, remarks []string) {
	a := &agreement{}
	for _, r := range plugin.Rules {
		if r.Mode == rules.Off {
			continue
		}
		a.times(plugin, r, bridge)
		a.sizes(plugin, r, bridge)
		a.recovery(plugin, r, bridge)
	}
	a.scopes(plugin, bridge)
	if quota := quotaOf(plugin.Namespace, bridge); quota == nil && len(bridge.Quotas) > 0 {
		a.remark("namespace %q has no quota: limits.namespaces names others, and no \"*\"", plugin.Namespace)
	}
	return a.faults, a.remarks
}

func (a *agreement) times(plugin *rules.Config, r *rules.Rule, bridge *config.Config) {
	for _, t := range []struct {
		field string
		asks  time.Duration
		limit string
		most  time.Duration
	}{
		{"recovery.lease", r.Recovery.Lease, "limits.max_lease", bridge.Limits.MaxLease},
		{"completed.ttl", r.Completed.TTL, "limits.max_ttl", bridge.Limits.MaxTTL},
		{"completed.tombstone_ttl", r.Completed.TombstoneTTL, "limits.max_tombstone_ttl", bridge.Limits.MaxTombstone},
	} {
		if t.asks > t.most {
			a.fault("rule %q: %s %s: must be <= %s (the bridge's %s)", r.Name, t.field, short(t.asks), short(t.most), t.limit)
		}
	}
	// The plugin's own check has counted rules.ClockSkew.
	least := 2*plugin.Bridge.Timeout + r.UpstreamTimeout + bridge.ClockSkew + rules.Margin
	if r.Recovery.Lease < least {
		a.fault("rule %q: recovery.lease %s: must be >= %s with the bridge's clock_skew %s (2 x bridge.timeout + upstream_timeout + clock_skew + margin)",
			r.Name, short(r.Recovery.Lease), short(least), short(bridge.ClockSkew))
	}
	// The store never lets a record of an issued key end before the key.
	if life := r.Completed.TTL; r.Key.Issued && life < bridge.IssueLife {
		a.remark("rule %q: completed.ttl %s is less than the bridge's issue_life %s: results are kept to the end of the key's life",
			r.Name, short(life), short(bridge.IssueLife))
	}
}

func (a *agreement) sizes(plugin *rules.Config, r *rules.Rule, bridge *config.Config) {
	if !r.Record.Body {
		return
	}
	if most := filter.MaxCompletionBytes(r); most > bridge.Limits.MaxBatchBytes {
		a.fault("rule %q: record.max_body %s: with header lines a completion has up to %d bytes, more than the bridge's limits.max_batch_bytes %s: the largest would never be recorded",
			r.Name, sized(r.Record.MaxBody), most, sized(bridge.Limits.MaxBatchBytes))
	}
	if q := quotaOf(plugin.Namespace, bridge); q != nil && q.MaxResult > 0 && r.Record.MaxBody > q.MaxResult {
		a.remark("rule %q: record.max_body %s is more than max_result %s of namespace %q: results between are not kept",
			r.Name, sized(r.Record.MaxBody), sized(q.MaxResult), q.Namespace)
	}
}

// quotaOf returns the quota that a namespace falls under, nil where none does.
func quotaOf(namespace string, bridge *config.Config) *config.Quota {
	var others *config.Quota
	for i := range bridge.Quotas {
		switch q := &bridge.Quotas[i]; q.Namespace {
		case namespace:
			return q
		case "*":
			others = q
		}
	}
	return others
}
