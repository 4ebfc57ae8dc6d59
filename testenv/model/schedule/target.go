package schedule

import (
	"encoding/hex"
	"fmt"
	"time"

	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/testenv/model/table"
)

// A Target is a store with the power over what lies beneath it.
type Target interface {
	Store() store.Store
	Inspector() store.Inspector
	Limits() table.Limits
	// Read returns the record of n.
	Read(n store.Name) (table.Record, error)
	// Now is the store's clock in microseconds.
	Now() (int64, error)
	// Exact says that the clock stands still unless Pass or SetBack move it.
	Exact() bool
	// Pass lets d pass for the records of names; a negative d sets their clock back.
	Pass(d time.Duration, names []store.Name) error
	// Lose takes that part of n's record away.
	Lose(what Verb, n store.Name) error
}

// places are the Redis keys of a record, spelt out once more: they are a contract
// with every record that is stored already.
type places struct{ record, result, index, member string }

func placesOf(n store.Name) places {
	member := hex.EncodeToString(n[:])
	tag := fmt.Sprintf("ow:{b%d}:", int(n[0])*4+int(n[1]>>6))
	return places{tag + member, tag + member + ":r", tag + "idx", member}
}
