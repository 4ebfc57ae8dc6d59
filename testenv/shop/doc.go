// Package shop is the backend of the local stack: what stands behind the
// gateway, counts how often it really ran, and misbehaves on request.
//
// # What runs
//
// Every request to a path other than the shop's own (/executions, /guards,
// /sale, /outcome, /compensations, /healthz) is an execution. The shop counts
// it, reads its body, waits for x-shop-delay, applies its effect to an SQL
// database and answers 201 with a JSON body that no other execution shares. Any
// method and any path is accepted, so that a path spelled oddly is counted
// rather than lost. A GET answers 200 and, like a HEAD, has no effect. A gRPC
// call of /shop.Shop/Order is an execution too.
//
// The caller going away does not stop an execution: a real backend's
// transaction commits whether or not anybody is still listening.
//
// # What is counted
//
// GET /executions?key=K lists every request that reached a handler with the
// raw key K, whatever its answer and whoever its principal was: K is the JSON
// body's transfer_id below /transfers, type:id below /callbacks/psp, and the
// Idempotency-Key header, unquoted, everywhere else. GET /executions?tag=T
// lists those that carried x-shop-tag: T, with any key or none. A request is
// counted when its headers arrive; a key that comes from the body counts once
// the body has. DELETE /executions empties the list.
//
// The list holds the newest 200,000 requests or 256 MiB of them, whichever is
// less. The answer's "forgotten" says how many older ones were dropped, of any
// key: while it is 0, every count is exact. The database keeps 200,000 rows a
// table, in memory, and dies with the process.
//
// # The last line of defence
//
// Three guards, each switchable (see [Guards]), are what a backend should do
// for itself. They tell one principal's keys from another's, and one route's
// from another's.
//
//   - unique: the key is inserted under a unique index in the transaction of
//     the effect. A second execution of the key has no effect: it answers 201
//     with "effect":"already-done" and the order of the first.
//   - state: an order moves to PAID only WHERE state = 'UNPAID'. A second
//     payment, of whatever key, answers 409.
//   - fence: Idempotency-Fence must not be lower than the highest seen for the
//     key. A stale owner answers 409 with Idempotency-Outcome: not-executed.
//
// A request without a key passes the first, one without a fence the third.
//
// # The probe
//
// GET /outcome?route=/payments&principal=P&key=K&fence=F tells a gateway what
// became of a key, in the form of docs/backend.md: "final" with the answer of
// the execution that had the effect; otherwise, with the guards unique and fence
// on, it raises the key's fence in the transaction that looks, and promises
// "not-executed" up to F. With one of them off it can only say what it sees.
//
// POST /compensations?route=/payments&principal=P&key=K&fence=F stands for what must
// be undone elsewhere before a key is free again. It undoes nothing and answers 204.
// GET /compensations?key=K lists the calls; PUT /compensations?status=503 makes
// later ones fail.
//
// # The flash sale
//
// PUT /sale?items=100 opens a sale; a POST to any path that ends in /sale, such
// as /checkout/sale or /orders/sale, buys for the buyer in x-user-id. It has
// two steps, as shops have: reserve, then order. Stock is reserved for a buyer
// by one atomic statement, and once only, however often he asks: the first 100
// distinct buyers hold a reservation, everybody later gets 409 sold-out. So
// stock itself is never oversold by a race, and needs no gateway. What goes
// wrong is the second step: with the guards off, each execution of a buyer who
// holds a reservation inserts an order. Duplicates that reach the shop
// therefore make more than 100 orders; when each buyer's request runs once,
// there are exactly 100. With the guards on, the order is inserted only by the
// execution that moves the reservation from RESERVED to ORDERED (guard state)
// or that is first to insert the buyer (guard unique). GET /sale reports it.
package shop
