// Package wire holds what the filter and the bridge say to each other and what
// they keep: batches of operations, the bridge's answers, the recorded response
// and the envelope in which it is stored.
//
// A batch travels as the body of one HTTP POST to [BatchPath]: one version byte
// ([Version]), the length of what follows, and a [Batch] in the protocol buffers
// wire format (field numbers stand in batch.go, answer.go and response.go); the
// answer has the same shape with [Answer]. Every answer of a bridge, errors included,
// carries the header [StampHeader]; an answer without it was made by something
// else on the way (Envoy makes up 503 and 504 itself) and counts as a transport
// failure.
//
// The package has no I/O, no clock and no state. It builds natively and for
// wasip1.
package wire
