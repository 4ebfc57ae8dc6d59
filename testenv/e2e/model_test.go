package e2e

import (
	"testing"

	"github.com/oncewall/oncewall/testenv/stack"
	"github.com/oncewall/oncewall/testenv/story"
)

// TestStoryWithoutEnvoy plays the scenes with oncewall-host in the gateways'
// place: what clients, backend and bridge see of the filter must be the same.
func TestStoryWithoutEnvoy(t *testing.T) {
	w, err := story.Open(t.Context(), stack.Options{Model: true, Concurrency: 2, Debug: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	for _, scene := range story.Scenes() {
		t.Run(scene.Name, func(t *testing.T) { play(t, w, scene) })
	}
}
