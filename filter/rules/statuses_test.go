package rules

import (
	"reflect"
	"strings"
	"testing"
)

func TestStatuses(t *testing.T) {
	r := mustParse(t, withRule(`, "statuses": {"key-reused": 400, "in-flight": 425, "key-used": 409}`)).Rules[0]
	// One that is the default is none.
	if want := []StatusOf{{"in-flight", 425}, {"key-reused", 400}}; !reflect.DeepEqual(r.Statuses, want) {
		t.Errorf("got %v, want %v", r.Statuses, want)
	}
	same := mustParse(t, withRule(`, "statuses": {"key-used": 409}`)).Rules[0]
	if same.Generation != mustParse(t, withRule(``)).Rules[0].Generation {
		t.Error("stating a default changes the generation")
	}
	if r.Generation == same.Generation {
		t.Error("the generation does not tell statuses")
	}
	for text, want := range map[string]string{
		`{"in-flight": 200}`:   `statuses.in-flight 200 must be 400 to 599`,
		`{"replayed": 409}`:    `statuses.replayed is not a field`,
		`{"in-flight": "409"}`: `statuses.in-flight "409" must be a whole number`,
	} {
		if _, err := Parse([]byte(withRule(`, "statuses": ` + text))); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
