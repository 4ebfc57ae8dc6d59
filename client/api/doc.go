// Package api holds the JSON documents of the bridge's API, as
// bridge/admin/openapi.yaml describes them. Client and bridge share them.
//
// Durations are whole milliseconds, in members that end in _ms. Bytes are
// standard base64 with padding. A fence is a whole number below 2^53, so that
// every JSON reader keeps it exactly.
package api
