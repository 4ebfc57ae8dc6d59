// Package admin is the bridge's JSON API: message consumers and cron jobs claim
// and complete keys by it on the data listener, operators read, list and resolve
// records on the admin listener. openapi.yaml describes it; its documents are
// those of client/api.
//
// What it holds to:
//
//   - a caller is known by a bearer secret, and its role decides which paths there
//     are; a role that nobody has is off;
//   - a consumer's principals are its own: their kind is the API's and their issuer
//     the consumer's id, so that it never meets a client of the gateway or another
//     consumer, and its namespaces and scopes are those that it is allowed;
//   - operations go through the server's own validation, naming and sealing;
//   - a key, a principal, a result or a secret enters no URL, log or metric;
//   - no decision of an operator takes effect without an audit entry.
package admin
