package scenario

import (
	"context"
	"flag"
	"testing"

	"github.com/oncewall/oncewall/testenv/wasmbuild"
)

// all tells in the real Envoy what is short there otherwise too.
var all = flag.Bool("all", false, "tell every variant of every story in both modes in the real Envoy")

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
			if s.In(Envoy) && len(inEnvoy(s, flag)) > 0 {
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
				for _, v := range inEnvoy(s, p.flag) {
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

// inEnvoy gives the variants of a story's mode that are told in a real Envoy.
func inEnvoy(s *Story, flag bool) []*Variant {
	if *all {
		return s.Told(Core, flag)
	}
	return s.Told(Envoy, flag)
}
