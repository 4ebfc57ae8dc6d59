package bench

import (
	"strings"
	"testing"
)

// TestBenchShort runs every case against a real stack once. Its checks are
// counts: what is not answered as it must be, a duplicate that makes a callout
// and a first request that does not run exactly once fail the run.
func TestBenchShort(t *testing.T) {
	report, err := Run(t.Context(), Short(Options{Progress: t.Logf}))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := report.Write(&b); err != nil {
		t.Fatal(err)
	}
	t.Log(b.String())
	for _, row := range report.Rows() {
		if !strings.Contains(b.String(), row.Case) {
			t.Errorf("the table lacks the case %q", row.Case)
		}
		switch row.Case {
		case First:
			// One script claims, one completes.
			if row.Scripts < 2 || row.Batch < 1 || row.Commands < row.Scripts {
				t.Errorf("%s: %.2f scripts, %.2f commands, %.2f operations a callout", row.Case, row.Scripts, row.Commands, row.Batch)
			}
		default:
			// What the bridge does by itself meanwhile is no request's.
			if row.Scripts > 0.05 {
				t.Errorf("%s: %.2f scripts a request, want none", row.Case, row.Scripts)
			}
		}
	}
}
