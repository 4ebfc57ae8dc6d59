package filter

import (
	"bytes"
	"strconv"
	"time"

	"github.com/oncewall/oncewall/filter/rules"
	"github.com/oncewall/oncewall/filter/wire"
)

// finished takes the bridge's word that the key is finished.
func (s *Stream) finished(now int64, r *wire.Result, sent int64) {
	e, ok := s.entryOf(r, sent)
	if !ok {
		s.reply(problemNotKept, extra{status: r.Status})
		return
	}
	s.w.done.put(e)
	s.answerFinished(now, e)
}

// entryOf is what the bridge says of a finished key, at the moment at; false: its
// record cannot be read, which is counted.
func (s *Stream) entryOf(r *wire.Result, at int64) (*entry, bool) {
	e := &entry{id: s.record, rule: s.rule, fingerprint: s.fingerprint, told: true, code: r.Code, status: r.Status,
		at: at, age: r.AgeMS * int64(time.Millisecond), life: r.RemainingMS * int64(time.Millisecond)}
	if r.Code == wire.Replayed {
		// The entry may live for long, and must not keep the rest of the batch's
		// answer with it.
		resp, ok := decodeRecord(bytes.Clone(r.Result))
		if !ok {
			s.w.count(MetricInvalidRecord)
			return nil, false
		}
		e.response = resp
	}
	return e, true
}

// remember keeps what the store has acknowledged as final. Of an operation that
// had to be repeated it is not known when it took effect, and so not how long
// the record lives.
func (w *Worker) remember(now int64, t *task, r *wire.Result) {
	if t.tries > 0 {
		return
	}
	var e *entry
	switch {
	case t.op.Kind == wire.Complete && t.rule.policy.RejectRepeat:
		e = &entry{code: wire.KeyUsed}
	case t.op.Kind == wire.Complete:
		e = &entry{code: wire.Replayed, record: t.op.Result}
	case t.op.Kind == wire.Executed && t.op.NoResult:
		e = &entry{code: wire.ResponseNotKept}
		if t.rule.policy.RejectRepeat {
			e.code = wire.KeyUsed
		}
	default:
		return
	}
	e.id, e.rule = makeRecordID(t.op.Scope, t.op.Principal, t.op.Key), t.rule
	e.fingerprint, e.status = t.op.Fingerprint, t.op.Status
	e.at = t.queued
	if t.since > 0 {
		e.age = max(t.queued-t.since, 0)
	}
	e.life = t.rule.policy.TTLMS * int64(time.Millisecond)
	if ttl := t.op.TTLMS; ttl > 0 {
		e.life = ttl * int64(time.Millisecond)
	}
	w.done.put(e)
}

// reuses reports whether s asks for something else than the finished request.
func (s *Stream) reuses(e *entry) bool { return !bytes.Equal(e.fingerprint, s.fingerprint) }

// answerFinished answers a repeat of a finished key.
func (s *Stream) answerFinished(now int64, e *entry) {
	if s.reuses(e) {
		s.reply(problemKeyReused, extra{parts: wire.Differs(e.fingerprint, s.fingerprint)})
		return
	}
	switch {
	case e.code == wire.KeyUsed || s.rule.Completed.Action == rules.Reject:
		s.reply(problemKeyUsed, extra{status: e.status})
	case e.code == wire.Replayed && !s.grpc:
		s.w.count(MetricReplayed)
		s.send(s.replay(now, e))
	default:
		s.reply(problemNotKept, extra{status: e.status})
	}
}

// replay makes the recorded answer.
func (s *Stream) replay(now int64, e *entry) *LocalReply {
	r := e.response
	elapsed := now - e.at
	h := make([][2]string, 0, len(r.Headers)+6)
	own := &ownAnswer{}
	for _, l := range r.Headers {
		switch {
		case s.rule.replays(l.Name):
			h = append(h, [2]string{l.Name, l.Value})
		case describesBody(r, l.Name):
			own.length = l.Value
		}
	}
	h = append(h, [2]string{HeaderStatus, string(CodeReplayed)}, [2]string{HeaderReplayed, "true"},
		[2]string{HeaderAge, seconds(e.age + elapsed)})
	if seen := s.w.date(now - e.age - elapsed); seen != "" {
		h = append(h, [2]string{HeaderFirstSeen, seen})
	}
	if e.life > 0 {
		h = append(h, [2]string{HeaderExpiresIn, seconds(max(e.life-elapsed, 0))})
	}
	body := r.Body
	if bodyless(int(r.Status)) {
		body = nil
	}
	if own.length == "" && len(body) == 0 && s.method != "HEAD" && r.Status != 204 && r.Status != 304 {
		own.length = "0"
	}
	own.lines, own.body = h, len(body) > 0
	s.own = own
	return &LocalReply{Status: uint32(r.Status), Details: "oncewall_replayed", Headers: h, Body: body, GRPC: -1}
}

func seconds(ns int64) string { return strconv.FormatInt(ns/int64(time.Second), 10) }

func bodyless(status int) bool { return status == 204 || status == 205 || status == 304 }

// decodeRecord reads a recorded response; false: it is not one, or cannot be sent.
func decodeRecord(b []byte) (*wire.Response, bool) {
	r := new(wire.Response)
	if wire.DecodeResponse(b, r) != nil || CheckResponse(r) != nil {
		return nil, false
	}
	return r, true
}
