package filter

import (
	"strconv"
	"time"

	"github.com/oncewall/oncewall/filter/wire"
)

// riseAfter is how long no bridge of the previous version has answered when
// batches are written in the current one again. It is more than the pause between
// two answers of a fleet in which bridges of both versions serve.
const riseAfter = 5 * time.Second

// speech is which version a worker writes its batches in. Bridges are upgraded
// before filters, but one of the previous version may be met all the same: the
// order was another, or an upgrade is taken back. It stamps its answers with the
// newest version that it serves. Both serve the previous one, so that is written
// as long as any such answer comes.
type speech struct {
	older bool
	heard int64 // the latest answer of a bridge of the previous version
}

// BridgeServes takes the stamp of an answer, before the answer itself: the newest
// version that the bridge serves.
func (w *Worker) BridgeServes(now int64, stamp string) {
	if v, err := strconv.Atoi(stamp); err == nil && v > 0 && v < wire.Version {
		w.speech = speech{older: true, heard: now}
	}
}

// speaksPrevious reports whether batches are written in the previous version.
func (w *Worker) speaksPrevious(now int64) bool {
	if w.speech.older && time.Duration(now-w.speech.heard) >= riseAfter {
		w.speech.older = false
	}
	return w.speech.older
}

// CallRefused takes a callout that the bridge refused as a whole with 400. Where it
// was the version that the bridge does not serve, nothing has been tried yet.
func (w *Worker) CallRefused(now int64, id uint32) {
	if w.pollEnded(now, id, nil) {
		return
	}
	f := w.b.land(id)
	if f == nil {
		return
	}
	w.measure(now, f)
	if f.previous || !w.speaksPrevious(now) {
		w.callFailed(now, f)
		return
	}
	w.b.breaker.answered()
	w.untally(f)
	for _, t := range f.tasks {
		w.enqueue(now, t)
	}
	w.b.recycle(f)
	w.pump(now)
	w.schedule()
}
