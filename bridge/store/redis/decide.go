package redis

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/filter/wire"
)

// decision is what somebody other than a record's owner decides about it: an
// operator, or a bridge that has asked the backend.
type decision struct {
	name     store.Name
	owner    []byte // whose word it replaces
	fence    uint64
	letter   string // what reconcile.lua and resolve.lua take for it
	status   uint16
	result   []byte
	wait     time.Duration // Finding.Quiet, Resolution.By
	deadline time.Time
}

// decide runs a script of decisions. The verdict is 0 if there is an error.
func (s *Store) decide(ctx context.Context, script *script, d decision) (store.Verdict, error) {
	r := request{
		script: script, bucket: bucket(d.name), deadline: d.deadline, alone: len(d.result) > maxInline,
		args: []string{string(d.owner), strconv.FormatUint(d.fence, 10), d.letter, status(d.status),
			string(d.result), millis(d.wait), s.marker},
	}
	r.record, r.result, r.index = keys(d.name)
	reply := s.one(ctx, r)
	switch {
	case reply.Err != nil:
		return 0, reply.Err
	case reply.Code == wire.OK && reply.Restored:
		return store.Noted, nil
	case reply.Code == wire.OK:
		return store.Done, nil
	case reply.Code == wire.Stale:
		return store.Conflict, nil
	case reply.Code == wire.InFlight:
		return store.Live, nil
	case reply.Code == wire.OutcomeUnknown:
		return store.Withheld, nil
	}
	return 0, fmt.Errorf("%w: %w", store.ErrUnavailable, errAnswer)
}
