package scenario

import (
	"context"
	"testing"

	"github.com/oncewall/oncewall/testenv/wasmbuild"
)

// TestEnvoy tells the stories in real Envoys: one for each configuration and
// mode, one story after the other.
func TestEnvoy(t *testing.T) {
	type place struct {
		rules string
		flag  bool
	}
	told := map[place][]*Story{}
	var places []place
	for _, s := range stories(t) {
		for _, flag := range s.Modes {
			p := place{s.Rules, flag}
			if s.In(Envoy) && len(s.Told(Envoy, flag)) > 0 {
				if told[p] == nil {
					places = append(places, p)
				}
				told[p] = append(told[p], s)
			}
		}
	}
	if _, err := wasmbuild.Plugin(); err != nil {
		t.Fatal(err)
	}
	for _, p := range places {
		t.Run(p.rules+"/"+modeName(p.flag), func(t *testing.T) {
			t.Parallel()
			town, err := OpenTown(context.Background(), t.TempDir(), rulesOf(t, p.rules, p.flag), p.flag)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := town.Close(); err != nil {
					t.Error(err)
				}
			})
			for _, s := range told[p] {
				for _, v := range s.Told(Envoy, p.flag) {
					t.Run(testName(s, v), func(t *testing.T) {
						if err := town.Tell(t.Context(), v); err != nil {
							t.Error(err)
						}
					})
				}
			}
		})
	}
}
