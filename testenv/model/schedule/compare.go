package schedule

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/testenv/model/table"
)

// lifeSlack is how far lives may differ where the clock runs: servers keep them
// in whole milliseconds.
const lifeSlack = 2000

// inexact are the fields that follow from the clock.
var inexact = map[string]bool{
	"Fence": true, "Claimed": true, "LeaseEnd": true, "Expires": true, "KeyExpires": true, "Due": true,
	"Left": true, "ResultLeft": true,
}

func compareRecords(want, got table.Record, slack int64) (lines []string) {
	w, g := reflect.ValueOf(want), reflect.ValueOf(got)
	for i := range w.NumField() {
		name := w.Type().Field(i).Name
		a, b := w.Field(i).Interface(), g.Field(i).Interface()
		if l, ok := a.([table.MaxLeavers]table.Leaver); ok && sameLeavers(l, b.([table.MaxLeavers]table.Leaver), slack) {
			continue
		}
		if a == b || inexact[name] && near(a, b, slack, name == "Left" || name == "ResultLeft") {
			continue
		}
		lines = append(lines, fmt.Sprintf("record.%s: want %v, got %v", name, brief(a), brief(b)))
	}
	return lines
}

// sameLeavers reports whether the same owners stand in the same order, for the
// same time.
func sameLeavers(a, b [table.MaxLeavers]table.Leaver, slack int64) bool {
	for i := range a {
		if a[i].Owner != b[i].Owner || a[i] != b[i] && !near(a[i].Until, b[i].Until, slack, false) {
			return false
		}
	}
	return true
}

func near(a, b any, slack int64, life bool) bool {
	if slack == 0 {
		return false
	}
	if life {
		slack += lifeSlack
	}
	var d int64
	switch a := a.(type) {
	case int64:
		d = a - b.(int64)
	case uint64:
		d = int64(a - b.(uint64))
	case time.Duration:
		d = (a - b.(time.Duration)).Microseconds()
	}
	return -slack <= d && d <= slack
}

func compareReplies(want, got store.Reply, slack int64) (lines []string) {
	if got.Err != nil {
		return []string{"answer: " + got.Err.Error()}
	}
	w, g := reflect.ValueOf(want), reflect.ValueOf(got)
	for i := range w.NumField() {
		name := w.Type().Field(i).Name
		a, b := w.Field(i).Interface(), g.Field(i).Interface()
		if bytes, ok := a.([]byte); ok {
			a, b = string(bytes), string(b.([]byte))
		}
		_, span := a.(time.Duration)
		if a == b || (span || name == "Fence") && near(a, b, slack, false) {
			continue
		}
		lines = append(lines, fmt.Sprintf("answer.%s: want %v, got %v", name, brief(a), brief(b)))
	}
	return lines
}

func brief(v any) string {
	if s, ok := v.(string); ok {
		if len(s) > 32 {
			return fmt.Sprintf("%q and %d more", s[:32], len(s)-32)
		}
		return fmt.Sprintf("%q", s)
	}
	return fmt.Sprint(v)
}

// show is a record on one line, what is not set left out.
func show(r *table.Record) string {
	s := r.State.String()
	v := reflect.ValueOf(*r)
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		if name == "State" || v.Field(i).IsZero() {
			continue
		}
		x := brief(v.Field(i).Interface())
		switch name {
		case "Owner", "NotedOwner":
			o := v.Field(i).String()
			x = fmt.Sprintf("o%d", o[len(o)-1])
		case "Leavers":
			x = leaversText(r.Leavers)
		case "Policy":
			x = policyText(r.Policy)
		case "Fingerprint":
			x = string(v.Field(i).String()[1])
		}
		s += fmt.Sprintf(" %s=%s", name, x)
	}
	return s
}

func leaversText(ls [table.MaxLeavers]table.Leaver) string {
	var s []string
	for _, l := range ls {
		if l.Owner != "" {
			s = append(s, fmt.Sprintf("o%d until %d", l.Owner[len(l.Owner)-1], l.Until))
		}
	}
	return "{" + strings.Join(s, ", ") + "}"
}
