package store

import "github.com/oncewall/oncewall/filter/wire"

// A record may be named under an earlier secret or an earlier scope. An operation
// with Next asks for the record under such a name: where there is one, the
// operation is carried out on it. Where there is none, the store makes a marker
// that holds Next, in the same step, and answers Moved; from then on every
// operation on that name is answered Moved, with what the marker holds. So nobody
// claims under an earlier name what somebody else looks for under a later one.

// Moved answers an operation that was not carried out because the record is to be
// found, or made, under another name: Reply.Moved. It never leaves the bridge.
const Moved wire.Code = 200

// PointerBytes is the length of Operation.Next: a name, and what vouches for it.
const PointerBytes = len(Name{}) + 16
