package main

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	goyaml "github.com/goccy/go-yaml"

	"github.com/oncewall/oncewall/filter"
)

// expressions returns the queries of the alert rules and of the dashboard, by what
// they belong to.
func expressions(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	var rules struct {
		Groups []struct {
			Rules []struct {
				Alert, Expr string
				Labels      struct{ Severity string }
				Annotations struct{ Summary string }
			}
		}
	}
	file, err := os.ReadFile("../../../envoy/alerts.yaml")
	if err == nil {
		err = goyaml.Unmarshal(file, &rules)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range rules.Groups {
		for _, r := range g.Rules {
			if all[r.Alert] != "" || r.Alert == "" || r.Expr == "" || r.Annotations.Summary == "" ||
				!slices.Contains([]string{"critical", "warning", "info"}, r.Labels.Severity) {
				t.Errorf("alert %q: needs a name of its own, an expression, a summary and a severity", r.Alert)
			}
			all[r.Alert] = r.Expr
		}
	}
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	file, err = os.ReadFile("../../../envoy/dashboard.json")
	if err == nil {
		err = json.Unmarshal(file, &dashboard)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range dashboard.Panels {
		for _, target := range p.Targets {
			all["panel "+p.Title] += target.Expr + "\n"
		}
	}
	return all
}

var (
	metricName = regexp.MustCompile(`\b(?:oncewall|idempotency)_[a-z_]+`)
	selectors  = regexp.MustCompile(`\{([^}]*)\}`)
	grouping   = regexp.MustCompile(`\bby \(([^)]*)\)`)
	labelName  = regexp.MustCompile(`([a-z_]+)\s*(?:=~|!~|!=|=)`)
	suffix     = regexp.MustCompile(`_(bucket|sum|count)$`)
)

// TestAlertsAndDashboard: every metric and label that the alert rules and the
// dashboard name exists.
func TestAlertsAndDashboard(t *testing.T) {
	bridge, _ := registered(t)
	ofFilter := map[string]bool{}
	for _, name := range filter.Metrics() {
		ofFilter[strings.ReplaceAll(name, ".", "_")] = true
	}
	for at, expr := range expressions(t) {
		known := []string{"le", "instance", "job"}
		names := metricName.FindAllString(selectors.ReplaceAllString(expr, ""), -1)
		if len(names) == 0 {
			t.Errorf("%s: no metric in it", at)
		}
		for _, name := range names {
			if base := suffix.ReplaceAllString(name, ""); bridge[base].help != "" {
				name = base
			}
			if m, ok := bridge[name]; ok {
				known = append(known, m.labels...)
			} else if !ofFilter[name] {
				t.Errorf("%s: %s does not exist", at, name)
			}
		}
		var labels []string
		for _, m := range selectors.FindAllStringSubmatch(expr, -1) {
			for _, l := range labelName.FindAllStringSubmatch(m[1], -1) {
				labels = append(labels, l[1])
			}
		}
		for _, m := range grouping.FindAllStringSubmatch(expr, -1) {
			labels = append(labels, strings.Split(strings.ReplaceAll(m[1], " ", ""), ",")...)
		}
		for _, l := range labels {
			if !slices.Contains(known, l) {
				t.Errorf("%s: no metric in it has the label %q", at, l)
			}
		}
	}
}
