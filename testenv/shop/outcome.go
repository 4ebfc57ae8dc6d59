package shop

import (
	"container/list"
	"database/sql"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"strconv"
	"sync"
)

// Bounds of the answers that are kept for GET /outcome.
const (
	keptAnswers    = 10_000
	keptAnswerBody = 64 << 10
)

// subject is whose key on which route.
type subject struct{ route, principal, key string }

// kept is an answer that an effect was answered with.
type kept struct {
	of     subject
	Status int
	Kind   string // media type
	Body   []byte // nil: too long to keep
}

// answers remembers the newest answers of executions that had an effect.
type answers struct {
	mu    sync.Mutex
	of    map[subject]*list.Element // of *kept
	queue list.List                 // oldest first
}

func (a *answers) put(k *kept) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.of == nil {
		a.of = map[subject]*list.Element{}
	}
	if _, ok := a.of[k.of]; ok {
		return // the first one is what happened
	}
	a.of[k.of] = a.queue.PushBack(k)
	if a.queue.Len() > keptAnswers {
		oldest := a.queue.Remove(a.queue.Front()).(*kept)
		delete(a.of, oldest.of)
	}
}

func (a *answers) get(s subject) *kept {
	a.mu.Lock()
	defer a.mu.Unlock()
	if e := a.of[s]; e != nil {
		return e.Value.(*kept)
	}
	return nil
}

// keep remembers what an execution that had an effect is about to answer.
func (s *Shop) keep(q *request, out outcome) {
	if out.effect != effectDone || q.key == "" {
		return
	}
	k := &kept{of: subject{q.route, q.principal, q.key}, Status: statusOf(q, out)}
	body, size, kind := s.body(q, out)
	k.Kind = kind
	if size <= keptAnswerBody && q.knobs.events < 0 && !q.knobs.gzip {
		k.Body, _ = io.ReadAll(body) // from memory
	}
	s.answers.put(k)
}

// found is the answer of GET /outcome; see docs/backend.md, "The probe".
type found struct {
	Outcome     string      `json:"outcome"`
	RefusedUpTo int64       `json:"refused_up_to,omitempty"`
	Status      int         `json:"status,omitempty"`
	Headers     [][2]string `json:"headers,omitempty"`
	BodyBase64  *string     `json:"body_base64,omitempty"`
}

// serveOutcome tells a gateway what became of a key.
func (s *Shop) serveOutcome(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet {
		notAllowed(w, "GET")
		return
	}
	q := r.URL.Query()
	of := subject{q.Get("route"), q.Get("principal"), q.Get("key")}
	fence, err := strconv.ParseInt(q.Get("fence"), 10, 64)
	if of.route == "" || of.key == "" || err != nil || fence <= 0 {
		http.Error(w, "route, key and fence are needed", http.StatusBadRequest)
		return
	}
	f, err := s.outcome(of, fence)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	writeJSON(w, f)
}

func (s *Shop) outcome(of subject, fence int64) (found, error) {
	if k := s.answers.get(of); k != nil {
		return k.found(), nil
	}
	guards := s.Guards()
	if !guards.has(GuardUnique) || !guards.has(GuardFence) {
		// Nothing here refuses what comes late: all that can be said is what is seen.
		if s.runs(of) {
			return found{Outcome: "running"}, nil
		}
		return found{Outcome: "not-executed"}, nil
	}
	// One transaction, as that of an effect: either the effect came first, and is
	// found, or its fence is refused from now on.
	tx, err := s.db.Begin()
	if err != nil {
		return found{}, err
	}
	defer tx.Rollback()
	db := session{s.db, tx}
	_, err = db.number(db.selectKey, of.route, of.principal, of.key)
	switch {
	case err == nil:
		// Committed, and its answer is not there yet, or no more.
		if s.runs(of) {
			return found{Outcome: "running"}, nil
		}
		return found{Outcome: "final", Status: http.StatusCreated}, nil
	case !errors.Is(err, sql.ErrNoRows):
		return found{}, err
	}
	if _, err := db.exec(db.raiseFence, of.route, of.principal, of.key, fence+1); err != nil {
		return found{}, err
	}
	return found{Outcome: "not-executed", RefusedUpTo: fence}, tx.Commit()
}

// runs tells whether an execution of the key has not finished.
func (s *Shop) runs(of subject) bool {
	list, _ := s.log.find(of.key, "")
	for i := range list {
		if e := &list[i]; e.effect == "" && routeOf(e.path) == of.route {
			return true
		}
	}
	return false
}

func (k *kept) found() found {
	f := found{Outcome: "final", Status: k.Status}
	if k.Body != nil {
		body := base64.StdEncoding.EncodeToString(k.Body)
		f.BodyBase64, f.Headers = &body, [][2]string{{"content-type", k.Kind}}
	}
	return f
}
