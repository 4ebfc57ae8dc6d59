package client

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"time"

	"github.com/oncewall/oncewall/client/api"
)

// operatorTimeout bounds one attempt of an operator's request.
const operatorTimeout = 15 * time.Second

// Operator reads and resolves records of anybody. It is safe for concurrent use.
type Operator struct{ via transport }

// NewOperator returns an operator for the bridge's admin listener at url. secret is
// one of secrets.api with role operator; c is nil for a client of its own.
func NewOperator(url, secret string, c *http.Client) (*Operator, error) {
	if url == "" || secret == "" {
		return nil, errors.New("client: url and secret: required")
	}
	o := &Operator{newTransport(url, secret, operatorTimeout, DefaultPause, c)}
	o.via.stamped = false
	return o, nil
}

// Get returns a record and the decisions about it.
func (o *Operator) Get(ctx context.Context, s api.Subject, withResult bool) (Record, error) {
	var out api.Record
	err := o.via.call(ctx, api.PathRecord, api.GetRecord{Subject: s, WithResult: withResult}, &out)
	return out, err
}

// Overdue returns a page of unresolved records whose lease is over, from cursor on
// (""; then the page's Next), at most limit of them (0: the bridge's default).
func (o *Operator) Overdue(ctx context.Context, cursor string, limit int) (api.OverduePage, error) {
	var out api.OverduePage
	err := o.via.call(ctx, api.PathOverdue, api.Overdue{Cursor: cursor, Limit: limit}, &out)
	return out, err
}

// Erase forgets a record, and returns when no worker of a gateway answers any more
// from its own memory, half a minute later, or at once where noWait is set; it ends
// early with ctx. A *ProblemError with code unresolved holds the record as it is.
func (o *Operator) Erase(ctx context.Context, e api.Erase, noWait bool) (api.Erased, error) {
	var out api.Erased
	err := o.via.call(ctx, api.PathErase, e, &out)
	if err == nil && !noWait {
		err = sleep(ctx, time.Duration(out.MemoriesEndMS)*time.Millisecond)
	}
	return out, err
}

// EraseBy carries out one part of an erasure by principal; call it again with the
// answer's Next until that is empty. It does not wait for the workers' memories:
// that is to be done once, after the last part.
func (o *Operator) EraseBy(ctx context.Context, e api.EraseBy) (api.ErasedBy, error) {
	var out api.ErasedBy
	err := o.via.call(ctx, api.PathEraseBy, e, &out)
	return out, err
}

// Report counts first requests and repeats by rule, of the whole hours since that
// long ago; 0: the bridge's default, a day.
func (o *Operator) Report(ctx context.Context, since time.Duration) (api.Report, error) {
	path := api.PathReport
	if since != 0 {
		path += "?since=" + since.String()
	}
	var out api.Report
	err := o.via.get(ctx, path, &out)
	return out, err
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Resolve carries out a decision. It is given a Decision of its own where it has
// none, so that repeating it on the way is safe. A *ProblemError with code
// conflict or lease-live holds the record as it is.
func (o *Operator) Resolve(ctx context.Context, r api.Resolve) (api.Resolved, error) {
	if len(r.Decision) == 0 {
		r.Decision = make([]byte, 24)
		rand.Read(r.Decision) // never fails: it ends the program instead
	}
	var out api.Resolved
	err := o.via.call(ctx, api.PathResolve, r, &out)
	return out, err
}
