package store

import "context"

// Tally is how often something was seen in an hour. It holds nothing of a request.
type Tally struct {
	Namespace string
	Scope     string // "": of scopes for which there was no room
	Class     string
	N         int64
}

// Tallies are counts of one hour on their way to the store.
type Tallies struct {
	Hour int64 // Unix time in hours
	List []Tally
	// Writer and Number name this addition: repeated, it is made once. The numbers of
	// a writer grow.
	Writer string
	Number int64
}

// Reporter is a store that keeps counts for reports, by hours, for
// [ReportHours]. Implementations are safe for concurrent use. An error wraps
// ErrUnavailable.
type Reporter interface {
	// AddTallies adds counts. At most MaxTallies go at once.
	AddTallies(ctx context.Context, t Tallies) error
	// Tallies sums the hours from and to, both included, by namespace, scope and class.
	Tallies(ctx context.Context, from, to int64) ([]Tally, error)
}

// Bounds of reports.
const (
	// ReportHours is for how long counts are kept.
	ReportHours = 35 * 24
	// MaxTallies bounds one addition.
	MaxTallies = 256
	// MaxTallied bounds the counts of one hour. What has no room is counted with the
	// namespace and the scope left out.
	MaxTallied = 10_000
)
