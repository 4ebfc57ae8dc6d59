package server

import "github.com/prometheus/client_golang/prometheus"

// claims counts claims by namespace. A namespace comes from whoever holds the
// bridge's secret, so only those that the configuration names have series of their
// own; all others share "other".
type claims struct {
	of    map[string]*outcomes
	other *outcomes
}

type outcomes [len(outcomeNames)]prometheus.Counter

func newClaims(reg prometheus.Registerer, quotas []Quota) *claims {
	vec := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "oncewall_bridge_claims_total", Help: "Claims by outcome and namespace; namespaces without a quota of their own are other.",
	}, []string{"namespace", "outcome"})
	reg.MustRegister(vec)
	series := func(namespace string) *outcomes {
		o := new(outcomes)
		for code, name := range outcomeNames {
			o[code] = vec.WithLabelValues(namespace, label(name))
		}
		return o
	}
	c := &claims{of: map[string]*outcomes{}, other: series("other")}
	for _, q := range quotas {
		if q.Namespace != AnyNamespace {
			c.of[q.Namespace] = series(q.Namespace)
		}
	}
	return c
}

// in returns the counters of a namespace.
func (c *claims) in(namespace string) *outcomes {
	if o := c.of[namespace]; o != nil {
		return o
	}
	return c.other
}
