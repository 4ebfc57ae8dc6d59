package filter

import (
	"time"

	"github.com/oncewall/oncewall/filter/wire"
)

// Bounds of waiting, per worker.
const (
	// maxPolls bounds the keys for which requests wait, and so the long polls.
	maxPolls = 256
	// maxWaiting bounds the requests that wait. Above either bound a request is
	// answered at once.
	maxWaiting = 4096
	// pollBudget bounds one long poll; the next follows while anybody waits.
	pollBudget = 10 * time.Second
	// firstPause and maxPause bound the wait before a claim that follows a poll
	// which came to nothing.
	firstPause = 20 * time.Millisecond
	maxPause   = 320 * time.Millisecond
	// hastyPoll is the least time that a poll takes to say that nothing has
	// changed. One that is faster comes from a bridge that does not wait.
	hastyPoll = 100 * time.Millisecond
)

// A waiting request has been told by a claim of its own that another request
// with its key and fingerprint is in flight. All that wait for one key in a
// worker form a group with one long poll, on a cluster of its own, so that it
// never keeps a claim. It tells when the key is no longer in flight:
//
//   - finished: everybody gets the recorded answer;
//   - free: one of the group, its leader, claims. Granted or not, the others wait
//     on; if the claim shows the key finished, they are answered with it;
//   - nothing, because the poll failed: the leader claims after a pause.
//
// Nobody waits longer than its own rule or preference lets it.
type waitGroup struct {
	key     waitKey
	rule    *Rule
	lease   int64 // end of the other request's lease, as the store told it last
	streams []*Stream
	leader  *Stream // claims for all
	polling bool
	pause   time.Duration // before the next claim
	retryAt int64         // when the next leader claims; 0: a poll or a leader will tell
}

// waitKey is what the members of a group have in common.
type waitKey struct {
	record      recordID
	fingerprint string
	rule        *Rule
}

// poll is a long poll under way.
type poll struct {
	group  *waitGroup
	sent   int64
	budget time.Duration
}

// waitRoom holds a worker's groups.
type waitRoom struct {
	groups map[waitKey]*waitGroup
	polls  map[uint32]*poll
	n      int   // streams
	due    int64 // nothing happens by time before it
	answer wire.Answer
}

func newWaitRoom() waitRoom {
	return waitRoom{groups: map[waitKey]*waitGroup{}, polls: map[uint32]*poll{}}
}

// inFlight takes the word that another request has the key.
func (s *Stream) inFlight(now int64, r *wire.Result) {
	s.lease = now + r.RetryAfterMS*int64(time.Millisecond)
	s.told, s.lost = true, false
	if now >= s.waitUntil {
		s.replyInFlight(now, problemInFlight)
		return
	}
	g := s.w.groupOf(s)
	if g == nil {
		s.replyInFlight(now, problemTooManyWaiting)
		return
	}
	g.lease = s.lease
	s.w.count(MetricWaited)
	s.join(g, s.leads == g) // who has led goes on waiting in front of those who came later
	if !g.polling && g.leader == nil && g.retryAt == 0 {
		s.w.poll(now, g)
	}
	s.w.schedule()
}

// joins lets a request wait without a claim of its own where others of the worker
// with its key and fingerprint wait already: what a claim would say is known.
func (s *Stream) joins(now int64) bool {
	w := s.w
	if s.patience == 0 || len(w.room.groups) == 0 {
		return false
	}
	g := w.room.groups[waitKey{s.record, string(s.fingerprint), s.rule}]
	if g == nil || w.room.n >= maxWaiting || g.lease <= now {
		return false
	}
	s.state, s.told, s.lease = stateClaiming, true, g.lease
	w.count(MetricWaited)
	w.tally(s.rule, wire.ClassOf(wire.InFlight, s.retried, 0))
	s.join(g, false)
	if !g.polling && g.leader == nil && g.retryAt == 0 {
		w.poll(now, g)
	}
	w.schedule()
	return true
}

// groupOf is the group that s may wait in; nil: there are too many, or too many
// wait.
func (w *Worker) groupOf(s *Stream) *waitGroup {
	if w.room.n >= maxWaiting {
		return nil
	}
	if s.leads != nil {
		return s.leads
	}
	key := waitKey{s.record, string(s.fingerprint), s.rule}
	g := w.room.groups[key]
	if g == nil && len(w.room.groups) < maxPolls {
		g = &waitGroup{key: key, rule: s.rule}
		w.room.groups[key] = g
	}
	return g
}

// join makes s a member; first: the next leader.
func (s *Stream) join(g *waitGroup, first bool) {
	s.waiting, s.group = true, g
	s.w.room.n++
	s.w.room.due = min(s.w.room.due, s.waitUntil)
	if first {
		g.streams = append([]*Stream{s}, g.streams...)
		return
	}
	g.streams = append(g.streams, s)
}

// stay keeps a stream waiting whose claim came to nothing although another
// request was seen in flight: the store is away, and what is known of the key
// forbids to do as the rule says of that. Who has waited long enough is answered.
// It reports false where nothing is known, or not any more.
func (s *Stream) stay(now int64) bool {
	if !s.told {
		return false
	}
	if now >= s.waitUntil {
		if s.lease <= now {
			return false
		}
		s.replyInFlight(now, problemInFlight)
		return true
	}
	g := s.w.groupOf(s)
	if g == nil {
		return false
	}
	s.lost = true
	s.join(g, true)
	if !g.polling && (g.leader == nil || g.leader == s) && g.retryAt == 0 {
		s.w.retryLater(now, g)
	}
	return true
}

// replyInFlight answers a request that waits no more. The end of the lease is as
// the store told it last.
func (s *Stream) replyInFlight(now int64, p *problem) {
	if s.unsure {
		// One of its claims may still be granted.
		s.w.settle(now, s, s.operation(wire.Release), false)
	}
	s.reply(p, s.w.untilLease(now, max((s.lease-now)/int64(time.Millisecond), 1)))
}

// poll asks the bridge to tell when the group's key is no longer in flight.
func (w *Worker) poll(now int64, g *waitGroup) {
	if w.speaksPrevious(now) {
		w.retryLater(now, g) // such a bridge cannot be waited at
		return
	}
	var longest int64
	for _, s := range g.streams {
		longest = max(longest, s.waitUntil)
	}
	budget := min(pollBudget, time.Duration(longest-now))
	if budget < minTry {
		return // their time is over: the next tick ends them
	}
	op := g.streams[0].operation(wire.Wait)
	op.BudgetMS = uint32(budget / time.Millisecond)
	body, err := wire.AppendBatch(nil, &wire.Batch{
		Namespace: w.cfg.Namespace, Policies: []wire.Policy{g.rule.policy}, Ops: []wire.Operation{op}})
	if err != nil {
		panic(err) // the encoder fails on nothing that a Batch can hold
	}
	id := w.b.callID()
	g.polling, g.retryAt = true, 0
	w.room.polls[id] = &poll{group: g, sent: now, budget: budget}
	w.count(MetricPoll)
	w.emit(Effect{Kind: Call, Call: CallEffect{ID: id, Wait: true, Body: body,
		TimeoutMS: uint32((budget + w.cfg.Bridge.Timeout) / time.Millisecond)}})
}

// pollEnded takes the end of the callout id, if it is a poll; body nil: it came
// to nothing.
func (w *Worker) pollEnded(now int64, id uint32, body []byte) bool {
	p := w.room.polls[id]
	if p == nil {
		return false
	}
	delete(w.room.polls, id)
	g := p.group
	g.polling = false
	if len(g.streams) == 0 {
		w.dropEmpty(g)
		return true
	}
	a := &w.room.answer
	a.Results = a.Results[:0]
	if body == nil || wire.DecodeAnswer(body, a) != nil || len(a.Results) != 1 {
		w.count(MetricPollFailed)
		w.retryLater(now, g)
	} else {
		g.rule.bound(&a.Results[0])
		w.pollAnswered(now, p, &a.Results[0])
	}
	clear(a.Results)
	w.pump(now)
	w.schedule()
	return true
}

func (w *Worker) pollAnswered(now int64, p *poll, r *wire.Result) {
	g := p.group
	switch r.Code {
	case wire.Replayed, wire.KeyUsed, wire.ResponseNotKept:
		if r.Withheld {
			w.lead(now, g, true)
			return
		}
		w.answerAll(now, g, r)
	case wire.OutcomeUnknown:
		for _, s := range w.dismiss(g) {
			s.reply(problemOutcomeUnknown, w.untilLease(now, r.RetryAfterMS))
		}
	case wire.KeyReused:
		for _, s := range w.dismiss(g) {
			s.reply(problemKeyReused, extra{parts: r.Differs})
		}
	case wire.TooManyWaiting:
		for _, s := range w.dismiss(g) {
			s.replyInFlight(now, problemTooManyWaiting)
		}
	case wire.InFlight:
		g.lease = now + r.RetryAfterMS*int64(time.Millisecond)
		for _, s := range g.streams {
			s.lease = g.lease
		}
		if time.Duration(now-p.sent) < min(hastyPoll, p.budget/2) {
			w.retryLater(now, g)
			return
		}
		g.pause = 0
		w.poll(now, g)
	case wire.Free:
		if g.pause == 0 {
			// The next time it is told so without having waited, it pauses first.
			g.pause = firstPause / 2
			w.lead(now, g, false)
			return
		}
		w.retryLater(now, g)
	default:
		w.count(MetricPollFailed)
		w.retryLater(now, g)
	}
}

// answerAll answers a group with what the bridge says of its finished key.
func (w *Worker) answerAll(now int64, g *waitGroup, r *wire.Result) {
	streams := w.dismiss(g)
	e, ok := streams[0].entryOf(r, now)
	for _, s := range streams {
		if !ok {
			s.reply(problemNotKept, extra{status: r.Status})
			continue
		}
		s.answerFinished(now, e)
	}
}

// retryLater lets a leader claim after a pause, which grows.
func (w *Worker) retryLater(now int64, g *waitGroup) {
	g.pause = min(max(2*g.pause, firstPause), maxPause)
	g.retryAt = now + int64(g.pause)
	w.room.due = min(w.room.due, g.retryAt)
	w.schedule()
}

// lead lets the first of a group claim for all.
func (w *Worker) lead(now int64, g *waitGroup, fetch bool) {
	g.retryAt = 0
	if e := w.done.get(now, g.key.record, g.rule); e.speaksOf([]byte(g.key.fingerprint)) {
		w.answerFromMemory(now, g, e)
		return
	}
	s := g.streams[0]
	g.streams = g.streams[1:]
	s.waiting, s.group, s.leads, g.leader = false, nil, g, s
	w.room.n--
	if fetch {
		s.fetch(now)
		s.led(now) // it may have asked too often already
		return
	}
	s.claim(now)
}

// led goes on with the group that s has claimed for, once it has its answer.
func (s *Stream) led(now int64) {
	g := s.leads
	if g == nil || s.state == stateClaiming && !s.waiting {
		return
	}
	w := s.w
	s.leads, g.leader = nil, nil
	if len(g.streams) == 0 {
		w.dropEmpty(g)
		return
	}
	if e := w.done.get(now, g.key.record, g.rule); e.speaksOf([]byte(g.key.fingerprint)) {
		w.answerFromMemory(now, g, e)
		return
	}
	switch {
	case g.retryAt != 0:
	case s.waiting, s.state == stateForwarded && !s.unprotected:
		w.poll(now, g)
	case s.state == stateDone:
		w.lead(now, g, false)
	default:
		// Whatever it was told, each has to be told by itself.
		for _, other := range w.dismiss(g) {
			other.claim(now)
		}
	}
}

func (w *Worker) answerFromMemory(now int64, g *waitGroup, e *entry) {
	for _, s := range w.dismiss(g) {
		w.count(MetricReplayedLocally)
		s.answerFinished(now, e)
	}
}

// dismiss ends a group and returns who was in it; they wait no more.
func (w *Worker) dismiss(g *waitGroup) []*Stream {
	streams := g.streams
	g.streams = nil
	for _, s := range streams {
		s.waiting, s.group = false, nil
	}
	w.room.n -= len(streams)
	w.dropEmpty(g)
	return streams
}

// dropEmpty forgets a group that nobody is in and nothing is under way for.
func (w *Worker) dropEmpty(g *waitGroup) {
	if len(g.streams) == 0 && !g.polling && g.leader == nil && w.room.groups[g.key] == g {
		delete(w.room.groups, g.key)
	}
}

// leaveGroup takes a stream that has ended out of its group.
func (s *Stream) leaveGroup() {
	g := s.group
	if g == nil {
		return
	}
	s.waiting, s.group = false, nil
	s.w.room.n--
	for i, other := range g.streams {
		if other == s {
			g.streams = append(g.streams[:i], g.streams[i+1:]...)
			break
		}
	}
	s.w.dropEmpty(g)
}

// resumeWaiters ends the waits whose time is over and lets leaders claim whose
// pause is.
func (w *Worker) resumeWaiters(now int64) {
	room := &w.room
	if now < room.due || len(room.groups) == 0 {
		return
	}
	room.due = 1<<63 - 1
	var leads []*waitGroup
	var over []*Stream
	for _, g := range room.groups {
		kept := g.streams[:0]
		for _, s := range g.streams {
			if s.waitUntil <= now {
				over = append(over, s)
				continue
			}
			room.due = min(room.due, s.waitUntil)
			kept = append(kept, s)
		}
		clear(g.streams[len(kept):])
		g.streams = kept
		switch {
		case len(kept) == 0:
			w.dropEmpty(g)
		case g.retryAt != 0 && g.retryAt <= now && g.leader == nil:
			leads = append(leads, g)
		case g.retryAt != 0:
			room.due = min(room.due, g.retryAt)
		}
	}
	for _, s := range over {
		s.waiting, s.group = false, nil
		room.n--
		s.waitOver(now)
	}
	for _, g := range leads {
		if len(g.streams) > 0 && !g.polling && g.leader == nil {
			w.lead(now, g, false)
		}
	}
}

// waitOver answers a stream whose time is over.
func (s *Stream) waitOver(now int64) {
	if s.lost && s.lease <= now {
		s.away(now, s.unsure)
		return
	}
	s.replyInFlight(now, problemInFlight)
}
