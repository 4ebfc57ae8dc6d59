package bench

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// Report is what a run found. Its JSON is the whole of it, slot by slot.
type Report struct {
	Store       string        `json:"store"`
	Connections int           `json:"connections"`
	Slot        time.Duration `json:"slot_ns"`
	LoadBefore  string        `json:"load_before"` // the machine's load average of a minute
	LoadAfter   string        `json:"load_after"`
	Slots       []Slot        `json:"slots"` // in the order in which they ran
}

// Spread is a median with the least and the greatest value.
type Spread struct{ Median, Least, Greatest float64 }

// Row is a case over all rounds. Its ratios are to the CPU that Envoy takes for
// a request in bare proxying in the same round; bridge and Redis have none of
// their own to be compared with.
type Row struct {
	Case, What                          string
	Envoy, Bridge, Redis                float64 // medians, microseconds of CPU a request
	EnvoyRatio, BridgeRatio, RedisRatio Spread
	PerSecond                           float64 // median of requests
	// Counted over all rounds.
	Requests, Executions        int
	Callouts, Scripts, Commands float64 // a request
	Batch                       float64 // operations a callout
}

// Rows sums the slots up, in the order of [cases].
func (r *Report) Rows() []Row {
	bare := make(map[int]float64)
	for _, s := range r.Slots {
		if s.Case == Bare {
			bare[s.Round] = perRequest(s.EnvoyCPU, s.Requests)
		}
	}
	rows := make([]Row, 0, len(cases))
	for i := range cases {
		rows = append(rows, r.row(&cases[i], bare))
	}
	return rows
}

func (r *Report) row(c *testCase, bare map[int]float64) Row {
	row := Row{Case: c.name, What: c.what}
	var envoy, bridge, redis, envoyRatio, bridgeRatio, redisRatio, rate []float64
	var callouts, batches, operations, scripts, commands int
	for _, s := range r.Slots {
		if s.Case != c.name {
			continue
		}
		e, b, d := perRequest(s.EnvoyCPU, s.Requests), perRequest(s.BridgeCPU, s.Requests), perRequest(s.RedisCPU, s.Requests)
		envoy, bridge, redis = append(envoy, e), append(bridge, b), append(redis, d)
		if base := bare[s.Round]; base > 0 {
			envoyRatio, bridgeRatio, redisRatio = append(envoyRatio, e/base), append(bridgeRatio, b/base), append(redisRatio, d/base)
		}
		rate = append(rate, float64(s.Requests)/s.Took.Seconds())
		row.Requests += s.Requests
		row.Executions += s.Executions
		callouts += s.Callouts
		batches += s.Batches
		operations += s.Operations
		scripts += s.Scripts
		commands += s.Commands
	}
	row.Envoy, row.Bridge, row.Redis = spread(envoy).Median, spread(bridge).Median, spread(redis).Median
	row.EnvoyRatio, row.BridgeRatio, row.RedisRatio = spread(envoyRatio), spread(bridgeRatio), spread(redisRatio)
	row.PerSecond = spread(rate).Median
	row.Callouts, row.Batch = share(callouts, row.Requests), share(operations, batches)
	row.Scripts, row.Commands = share(scripts, row.Requests), share(commands, row.Requests)
	return row
}

// check returns everything that a count says is wrong. Answers that were not
// expected have ended the run before.
func (r *Report) check() error {
	var faults []error
	for _, s := range r.Slots {
		for i := range cases {
			if cases[i].name == s.Case {
				faults = append(faults, s.check(&cases[i]))
			}
		}
	}
	return errors.Join(faults...)
}

func (s *Slot) check(c *testCase) error {
	var faults []error
	fault := func(format string, args ...any) {
		faults = append(faults, fmt.Errorf("bench: %s, round %d: %s", s.Case, s.Round, fmt.Sprintf(format, args...)))
	}
	if s.Requests == 0 {
		fault("no request was answered")
	}
	if want := c.executions * s.Requests; s.Executions != want {
		fault("the shop executed %d of %d requests, want %d", s.Executions, s.Requests, want)
	}
	if !c.callouts && s.Callouts+s.Batches > 0 {
		fault("%d callouts were made, %d reached the bridge, want none", s.Callouts, s.Batches)
	}
	// Each is claimed and completed; leases that are renewed come on top.
	if c.callouts && s.Operations < 2*s.Requests {
		fault("%d operations for %d requests, want 2 for each", s.Operations, s.Requests)
	}
	return errors.Join(faults...)
}

// perRequest is CPU time in microseconds.
func perRequest(cpu time.Duration, requests int) float64 {
	if requests == 0 {
		return 0
	}
	return float64(cpu.Microseconds()) / float64(requests)
}

func share(n, of int) float64 {
	if of == 0 {
		return 0
	}
	return float64(n) / float64(of)
}

// spread sorts values; of an even number of them the median is the mean of the
// two in the middle.
func spread(values []float64) Spread {
	n := len(values)
	if n == 0 {
		return Spread{}
	}
	values = slices.Sorted(slices.Values(values))
	return Spread{Median: (values[(n-1)/2] + values[n/2]) / 2, Least: values[0], Greatest: values[n-1]}
}
