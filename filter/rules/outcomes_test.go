package rules

import (
	"reflect"
	"strings"
	"testing"
)

func TestOutcomes(t *testing.T) {
	c := mustParse(t, withRule(`, "outcomes": {"result": [503], "release": [409, 404], "unknown": [500]}`))
	if got, want := c.Rules[0].Outcomes, (Outcomes{[]int{503}, []int{404, 409}, []int{500}}); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	table := c.Rules[0].Outcomes.Table()
	for status, want := range map[int]Outcome{
		200: OutcomeResult, 404: OutcomeRelease, 409: OutcomeRelease, 429: OutcomeRelease,
		500: OutcomeUnknown, 502: OutcomeUnknown, 503: OutcomeResult, 599: OutcomeResult,
	} {
		if table[status] != want {
			t.Errorf("%d: %d, want %d", status, table[status], want)
		}
	}
	plain := mustParse(t, withRule(``))
	if plain.Rules[0].Generation == c.Rules[0].Generation {
		t.Error("the generation does not tell outcomes")
	}
	one := mustParse(t, withRule(`, "outcomes": {"result": [409]}`))
	other := mustParse(t, withRule(`, "outcomes": {"release": [409]}`))
	if one.Rules[0].Generation == other.Rules[0].Generation {
		t.Error("the generation does not tell the lists apart")
	}
}

func TestOutcomesFaults(t *testing.T) {
	for text, want := range map[string]string{
		`{"release": [201]}`:                   `outcomes.release[0] 201 must be >= 300`,
		`{"unknown": [204]}`:                   `outcomes.unknown[0] 204 must be >= 300`,
		`{"release": [409], "unknown": [409]}`: `outcomes.unknown[0] 409 must not be listed twice: it is in outcomes.release`,
		`{"result": [409, 409]}`:               `outcomes.result[1] 409 must not be listed twice`,
		`{"result": [99]}`:                     `outcomes.result[0] 99 must be 200 to 599`,
		`{"result": ["5xx"]}`:                  `outcomes.result[0] "5xx" must be a whole number`,
	} {
		_, err := Parse([]byte(withRule(`, "outcomes": ` + text)))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
