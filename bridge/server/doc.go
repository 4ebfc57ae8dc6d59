// Package server is the bridge's data and admin side: it takes batches of
// operations from the filter over HTTP, hands them to a [store.Store] and
// answers each batch at its deadline.
//
// What it holds to, whatever arrives:
//
//   - every answer of the data handler carries wire.StampHeader, errors too;
//   - an operation that is not valid is answered wire.Invalid and costs its
//     neighbours nothing;
//   - a batch is answered when its smallest budget is nearly spent, with
//     wire.Unavailable for what the store has not answered by then;
//   - no key, principal, header value or body enters a log or a metric.
//
// The server keeps no state of a request between batches: any bridge may answer
// any batch.
package server
