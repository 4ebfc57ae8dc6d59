package main

import (
	"context"
	"io"
	"log/slog"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"

	"github.com/oncewall/oncewall/bridge/config"
	"github.com/oncewall/oncewall/filter"
)

// everything is a configuration with every part that has metrics.
const everything = `
listen: 127.0.0.1:0
admin_listen: 127.0.0.1:0
secrets:
  bridge: {env: S}
  api:
  - {id: reports, role: consumer, allow: [edge/reports], env: A}
limits:
  namespaces: [{name: edge, new_keys_per_second: 10}]
tracing: {otlp_endpoint: "http://127.0.0.1:1"}
`

// metric is a metric as the program registers it.
type metric struct {
	labels []string // sorted; those of the metric, without constant ones
	help   string
}

// registered runs the bridge once, as serve does, and returns what it registers.
func registered(t *testing.T) (map[string]metric, *prometheus.Registry) {
	t.Helper()
	cfg, err := config.Load(config.Options{YAML: []byte(everything), Dev: true, Environ: []string{"S=" + secret, "A=" + strings.Repeat("a", 32)}})
	if err != nil {
		t.Fatal(err)
	}
	reg := prometheus.NewRegistry()
	ctx, cancel := context.WithCancel(t.Context())
	log := slog.New(slog.NewTextHandler(writer(func(line string) {
		if strings.Contains(line, "msg=serving") {
			cancel()
		}
	}), nil))
	if err := serveWith(ctx, cfg, log, reg); err != nil {
		t.Fatal(err)
	}
	descs := make(chan *prometheus.Desc)
	go func() {
		reg.Describe(descs)
		close(descs)
	}()
	form := regexp.MustCompile(`fqName: "([^"]*)", help: ("(?:[^"\\]|\\.)*"),.* constLabels: \{([^}]*)\}, variableLabels: \{([^}]*)\}`)
	all := map[string]metric{}
	for d := range descs {
		m := form.FindStringSubmatch(d.String())
		if m == nil {
			t.Fatalf("not understood: %s", d)
		}
		if m[1] == "" || strings.HasPrefix(m[1], "go_") || strings.HasPrefix(m[1], "process_") {
			continue
		}
		labels := strings.FieldsFunc(m[4], func(r rune) bool { return r == ',' })
		for _, l := range regexp.MustCompile(`(\w+)=`).FindAllStringSubmatch(m[3], -1) {
			labels = append(labels, l[1])
		}
		slices.Sort(labels)
		all[m[1]] = metric{labels, m[2]}
	}
	return all, reg
}

type writer func(string)

func (w writer) Write(p []byte) (int, error) {
	w(string(p))
	return len(p), nil
}

var _ io.Writer = writer(nil)

// operations is docs/operations.md.
func operations(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile("../../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

// TestMetricsAreDocumented compares the table of the bridge's metrics with what
// the program registers, labels included, in both directions.
func TestMetricsAreDocumented(t *testing.T) {
	_, section, _ := strings.Cut(operations(t), "## Metrics of the bridge")
	section, _, _ = strings.Cut(section, "\n## ")
	documented := map[string]string{}
	for _, m := range regexp.MustCompile("(?m)^\\| `(oncewall_[a-z_]+)(\\{([a-z_,]*)\\})?` \\|").FindAllStringSubmatch(section, -1) {
		documented[m[1]] = m[3]
	}
	all, _ := registered(t)
	for name, m := range all {
		labels, ok := documented[name]
		if want := strings.Join(m.labels, ","); !ok {
			t.Errorf("%s{%s} is not documented", name, want)
		} else if got := strings.Split(labels, ","); labels != want && !slices.Equal(slices.Sorted(slices.Values(got)), m.labels) {
			t.Errorf("%s has the labels %q, documented are %q", name, want, labels)
		}
		delete(documented, name)
	}
	for _, name := range slices.Sorted(maps.Keys(documented)) {
		t.Errorf("%s is documented and does not exist", name)
	}
}

// TestFilterMetricsAreDocumented does the same for the filter's counters and gauges.
func TestFilterMetricsAreDocumented(t *testing.T) {
	_, section, _ := strings.Cut(operations(t), "## Metrics of the filter")
	section, _, _ = strings.Cut(section, "\n## ")
	documented := map[string]bool{}
	for line := range strings.Lines(section) {
		cell, _, _ := strings.Cut(strings.TrimPrefix(line, "|"), "|")
		for _, m := range regexp.MustCompile("`([a-z_]+)`").FindAllStringSubmatch(cell, -1) {
			if strings.HasPrefix(line, "| `") {
				documented[m[1]] = true
			}
		}
	}
	for _, name := range append(slices.Clone(filter.Metrics()), filter.Gauges()...) {
		short := strings.TrimPrefix(name, "idempotency.")
		if !documented[short] {
			t.Errorf("%s is not documented", short)
		}
		delete(documented, short)
	}
	for name := range documented {
		t.Errorf("%s is documented and does not exist", name)
	}
}

// TestMetricNames holds every metric to Prometheus' conventions.
func TestMetricNames(t *testing.T) {
	all, reg := registered(t)
	gathered, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var families []*dto.MetricFamily
	for _, f := range gathered {
		if _, ours := all[f.GetName()]; ours {
			families = append(families, f)
			delete(all, f.GetName())
		}
	}
	// What has no series yet is not gathered. Its type follows from its name.
	for name, m := range all {
		kind := dto.MetricType_GAUGE
		if strings.HasSuffix(name, "_total") {
			kind = dto.MetricType_COUNTER
		}
		families = append(families, &dto.MetricFamily{Name: &name, Help: &m.help, Type: &kind})
	}
	problems, err := promlint.NewWithMetricFamilies(families).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}
