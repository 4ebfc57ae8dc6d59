package admin

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/oncewall/oncewall/bridge/server"
	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/client/api"
	"github.com/oncewall/oncewall/filter/wire"
)

const (
	defaultSince = 24 * time.Hour
	maxSince     = store.ReportHours * time.Hour
)

func report(c *call) (any, *api.Problem) {
	since := defaultSince
	for name, values := range c.query {
		if name != "since" || len(values) != 1 {
			return nil, invalid("query: since, once, is all that it may have")
		}
		var err error
		if since, err = time.ParseDuration(values[0]); err != nil {
			return nil, invalid("since: not a duration, as 24h or 90m")
		}
	}
	if since <= 0 || since > maxSince {
		return nil, invalid(fmt.Sprintf("since: must be above 0 and at most %dh", store.ReportHours))
	}
	ctx, cancel := context.WithTimeout(c.ctx, operatorTimeout)
	defer cancel()
	now := c.cfg.Now()
	from, list, err := c.cfg.Server.Report(ctx, now.Add(-since))
	if err != nil {
		return nil, away(err)
	}
	return &api.Report{From: from.Format(time.RFC3339), To: now.UTC().Format(time.RFC3339), Rules: rulesOf(list)}, nil
}

// rulesOf sorts tallies by rule. One of a class that is not known, which a later
// version may have counted, is left out.
func rulesOf(list []store.Tally) []api.RuleReport {
	rules := []api.RuleReport{}
	at := map[[2]string]int{}
	for _, t := range list {
		name := [2]string{t.Namespace, t.Scope}
		i, known := at[name]
		if !known {
			i = len(rules)
			at[name] = i
			rules = append(rules, api.RuleReport{Namespace: t.Namespace, Scope: t.Scope})
		}
		r := &rules[i]
		switch t.Class {
		case server.FirstRequest:
			r.First = t.N
		case wire.DoubleClick.String():
			r.DoubleClick = t.N
		case wire.ClientRetry.String():
			r.ClientRetry = t.N
		case wire.GatewayRetry.String():
			r.GatewayRetry = t.N
		case wire.Reused.String():
			r.KeyReused = t.N
		case wire.SuspectedNew.String():
			r.SuspectedNewKey = t.N
		}
	}
	slices.SortFunc(rules, func(a, b api.RuleReport) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Scope, b.Scope))
	})
	return rules
}
