package redis

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/oncewall/oncewall/filter/wire"
)

// Each piece that is not all zeros is vouched for by the first byte that is not.
func TestProof(t *testing.T) {
	body := make([]byte, 3*pieceBytes+5)
	for _, tt := range []struct {
		at   []int
		want string
	}{
		{nil, "196613"},
		{[]int{0, 1}, "196613,0"},
		{[]int{pieceBytes - 1, pieceBytes, 3*pieceBytes + 4}, "196613,65535,65536,196612"},
	} {
		clear(body)
		for _, at := range tt.at {
			body[at] = 'x'
		}
		if got := proof(body); got != tt.want {
			t.Errorf("bytes at %v: %q, want %q", tt.at, got, tt.want)
		}
	}
}

// A staged result of which a piece was lost, or that is of another length, is not
// kept; what the script is told of it is what decides.
func TestTornResult(t *testing.T) {
	e, err := Embedded(EmbeddedConfig{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	c, err := e.connection()
	if err != nil {
		t.Fatal(err)
	}
	whole := bytes.Repeat([]byte("result."), 40<<10)
	hole := slices.Clone(whole)
	clear(hole[pieceBytes : 2*pieceBytes])
	for name, tt := range map[string]struct {
		staged []byte
		kept   bool
	}{
		"whole": {whole, true},
		"hole":  {hole, false},
		"short": {whole[:len(whole)-1], false},
		"none":  {nil, false},
	} {
		record := "ow:{b1}:" + name
		staged := record + ":r:staged"
		if tt.staged != nil {
			if err := c.Do(t.Context(), c.B().Set().Key(staged).Value(string(tt.staged)).Build()).Error(); err != nil {
				t.Fatal(err)
			}
		}
		args := []string{"owner", "1", "3600000:0:60000:3:1:0:0:g", "", "C", "201", "0", proof(whole), "", "", "0", ""}
		command := c.B().Eval().Script(scripts[wire.Complete].text).Numkeys(4).Key(record, record+":r", "ow:{b1}:idx", staged).Arg(args...).Build()
		if err := c.Do(t.Context(), command).Error(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		kept, err := c.Do(t.Context(), c.B().Exists().Key(record+":r").Build()).AsInt64()
		if err != nil || (kept == 1) != tt.kept {
			t.Errorf("%s: kept %d, %v, want %v", name, kept, err, tt.kept)
		}
		if left, err := c.Do(t.Context(), c.B().Exists().Key(staged).Build()).AsInt64(); err != nil || left != 0 {
			t.Errorf("%s: left behind %d, %v", name, left, err)
		}
	}
}

// Pieces go one at a time, results by fours, and nobody waits beyond the deadline.
func TestFreight(t *testing.T) {
	f := newFreight()
	for range maxTransfers {
		if err := f.enter(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	short, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if err := f.enter(short); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a fifth result: %v", err)
	}
	var at, most atomic.Int32
	done := make(chan error)
	for range maxTransfers {
		go func() {
			done <- f.piece(t.Context(), 0, func() error {
				if n := at.Add(1); n > most.Load() {
					most.Store(n)
				}
				defer at.Add(-1)
				<-time.After(5 * time.Millisecond)
				return nil
			})
		}()
	}
	for range maxTransfers {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if most.Load() != 1 {
		t.Errorf("%d pieces at once", most.Load())
	}
	f.leave()
	if err := f.enter(t.Context()); err != nil {
		t.Errorf("after one has left: %v", err)
	}
}

// Pauses leave most of the time to the pieces, and nobody pauses before a queue.
func TestGap(t *testing.T) {
	f := newFreight()
	if got := f.gap(t.Context(), 15); got != pieceGap {
		t.Errorf("without a deadline: %v, want %v", got, pieceGap)
	}
	if got := f.gap(t.Context(), 0); got != 0 {
		t.Errorf("after the last piece: %v", got)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if got := f.gap(ctx, 10); got > 500*time.Microsecond {
		t.Errorf("ten pieces in 20ms: %v, want a quarter of the time for all pauses", got)
	}
	f.queued.Add(1)
	if got := f.gap(t.Context(), 15); got != 0 {
		t.Errorf("while others queue: %v", got)
	}
}
