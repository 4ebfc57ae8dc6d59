package shop

import (
	"encoding/json"
	"strconv"
	"strings"
)

// What an execution did.
const (
	effectNone    = "none"         // nothing: a GET or HEAD, or told to fail
	effectDone    = "done"         // this execution changed the database
	effectAlready = "already-done" // an earlier execution of the key had
	effectStale   = "stale-fence"  // refused by the fence guard
	effectPaid    = "not-unpaid"   // refused by the state guard
	effectSoldOut = "sold-out"     // the sale has no stock left
	effectNoBuyer = "no-buyer"     // a sale needs x-user-id
)

// outcome is what apply reports.
type outcome struct {
	effect   string
	order    int64  // serial of the order concerned, 0 means none
	state    string // of the order; empty if unknown
	payments int    // of the order
}

// refused tells whether nothing may be committed.
func (o outcome) refused() bool {
	return o.effect != effectDone && o.effect != effectAlready && o.effect != effectNone
}

// apply runs the effect of a request. With a guard on, everything is one
// transaction; with none it is a row of separate statements, as careless code
// has it.
func (s *Shop) apply(q *request) (out outcome, err error) {
	g := s.Guards()
	if g == NoGuards {
		return s.effect(session{database: s.db}, g, q)
	}
	tx, err := s.db.Begin()
	if err != nil {
		return out, err
	}
	defer tx.Rollback() // does nothing after Commit
	if out, err = s.guarded(session{s.db, tx}, g, q); err != nil || out.refused() {
		return out, err
	}
	return out, tx.Commit()
}

// guarded is the body of the transaction: fence, unique key, effect. The fence
// is raised even by a request that will fail, since an older owner must not
// run after it.
func (s *Shop) guarded(db session, g Guards, q *request) (outcome, error) {
	if g.has(GuardFence) && q.key != "" && q.fence > 0 {
		n, err := db.exec(db.raiseFence, q.route, q.principal, q.key, q.fence)
		if err != nil {
			return outcome{}, err
		}
		if n == 0 {
			return outcome{effect: effectStale}, nil
		}
	}
	if g.has(GuardUnique) && q.key != "" && !q.fails() {
		n, err := db.exec(db.insertKey, q.route, q.principal, q.key, q.serial)
		if err != nil {
			return outcome{}, err
		}
		if n == 0 {
			first, err := db.number(db.selectKey, q.route, q.principal, q.key)
			return outcome{effect: effectAlready, order: first}, err
		}
	}
	return s.effect(db, g, q)
}

// effect is what the request is for: a payment, a sale, or for any other route
// a row that says so.
func (s *Shop) effect(db session, g Guards, q *request) (outcome, error) {
	switch {
	case q.fails():
		return outcome{effect: effectNone}, nil
	case isSale(q.path):
		return buy(db, g, q)
	case q.route == "/payments":
		if id := s.orderIn(orderNamed(q.body)); id != 0 {
			return pay(db, g, id)
		}
	}
	_, err := db.exec(db.insertEffect, q.serial, q.route)
	out := outcome{effect: effectDone, order: q.serial}
	switch q.route {
	case "/orders", "/checkout", "/shop.Shop/Order":
		out.state = "UNPAID"
	}
	return out, err
}

// fails tells whether the request was told to fail; it then has no effect, as
// its answer says.
func (q *request) fails() bool { return q.knobs.status >= 400 }

// pay moves an order to PAID. Without the state guard it moves from any state,
// and takes the money again.
func pay(db session, g Guards, id int64) (outcome, error) {
	move := db.payAny
	if g.has(GuardState) {
		move = db.payUnpaid
	}
	n, err := db.exec(move, id)
	if err != nil {
		return outcome{}, err
	}
	if n == 0 {
		return outcome{effect: effectPaid, order: id}, nil
	}
	return outcome{effect: effectDone, order: id, state: "PAID"}, nil
}

// orderNamed returns the order_id (or order) member of a payment's JSON body.
func orderNamed(body []byte) string {
	var p struct {
		OrderID json.RawMessage `json:"order_id"`
		Order   json.RawMessage `json:"order"`
	}
	if json.Unmarshal(body, &p) != nil {
		return ""
	}
	if id := scalar(p.OrderID); id != "" {
		return id
	}
	return scalar(p.Order)
}

// orderIn returns the serial in the id of an order that this shop made, 0 for
// any other text. A payment that names a foreign order is just noted.
func (s *Shop) orderIn(id string) int64 {
	digits, ok := strings.CutPrefix(id, s.run+"-")
	if !ok {
		return 0
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// idOf is the public form of a serial.
func (s *Shop) idOf(serial int64) string {
	return s.run + "-" + strconv.FormatInt(serial, 10)
}
