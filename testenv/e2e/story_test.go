package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/oncewall/oncewall/testenv/story"
)

// TestStory plays the scenes of make demo on a Redis Cluster with two workers.
func TestStory(t *testing.T) {
	w := world(t)
	for _, scene := range story.Scenes() {
		t.Run(scene.Name, func(t *testing.T) { play(t, w, scene) })
	}
}

// play plays a scene and reports every row that is wrong.
func play(t *testing.T, w *story.World, scene story.Scene) {
	t.Helper()
	r := scene.Play(t.Context(), w)
	if r.Err != nil {
		t.Error(r.Err)
	}
	if len(r.Rows) == 0 {
		t.Error("the scene has no rows")
	}
	for _, row := range r.Rows {
		if row.OK {
			continue
		}
		t.Errorf("%s\nexpected %s; runs %d\ngot      %s; runs %d\n%s\n%s", row.Step, row.Expected, row.WantRan,
			row.Saw, row.Ran, row.Wrong, strings.Join(row.Evidence, "\n"))
	}
	t.Log(fmt.Sprint(len(r.Rows), " rows"))
}
