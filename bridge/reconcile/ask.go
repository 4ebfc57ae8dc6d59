package reconcile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"github.com/oncewall/oncewall/bridge/seal"
	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/filter/wire"
)

// about is what a record's requests may name; false: its principal has no form
// that this version reads.
func about(who *seal.Subject, fence uint64) (*About, bool) {
	_, _, principal, ok := wire.DecodePrincipal(who.Principal)
	return &About{
		Namespace: who.Namespace, Scope: who.Scope, Key: who.Key, Principal: principal,
		Fence: strconv.FormatUint(fence, 10),
	}, ok
}

// do makes a request and reads its answer: status and at most limit bytes of body.
// An error says nothing of address, header or body.
func (r *Reconciler) do(ctx context.Context, q *Request, a *About, limit int64) (int, []byte, error) {
	ctx, cancel := context.WithTimeout(ctx, q.Timeout)
	defer cancel()
	u, err := q.URL.URL(a)
	if err != nil {
		return 0, nil, err
	}
	req, err := http.NewRequestWithContext(ctx, q.Method, u.String(), nil)
	if err != nil {
		return 0, nil, errors.New("not a request that can be made")
	}
	req.Header.Set("User-Agent", "oncewall")
	for _, h := range q.Headers {
		req.Header.Set(h.Name, h.Value.Expand(a))
	}
	// The transport alone: no redirect is followed, no cookie kept.
	res, err := r.cfg.Transport.RoundTrip(req)
	if err != nil {
		if ctx.Err() != nil {
			return 0, nil, fmt.Errorf("no answer within %s", q.Timeout)
		}
		return 0, nil, errors.New("not reached, or the connection broke")
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, limit+1))
	switch {
	case err != nil && ctx.Err() != nil:
		return 0, nil, fmt.Errorf("no whole answer within %s", q.Timeout)
	case err != nil:
		return 0, nil, errors.New("the answer broke off")
	case int64(len(body)) > limit:
		return 0, nil, fmt.Errorf("an answer of more than %d bytes", limit)
	}
	return res.StatusCode, body, nil
}

// probe asks the backend about one record.
func (r *Reconciler) probe(ctx context.Context, s *scope, a *About) (answer, error) {
	status, body, err := r.do(ctx, &s.Probe.Request, a, s.Probe.MaxAnswer)
	if err != nil {
		return answer{}, err
	}
	if status != http.StatusOK {
		return answer{}, fmt.Errorf("status %d, want 200", status)
	}
	return parseAnswer(body)
}

// maxCompensationAnswer is how much of an answer is read, so that its connection
// can be used again.
const maxCompensationAnswer = 64 << 10

// compensate calls the compensation of one record; nil: it is done.
func (r *Reconciler) compensate(ctx context.Context, c *Compensation, a *About) error {
	status, _, err := r.do(ctx, &c.Request, a, maxCompensationAnswer)
	if err == nil && status/100 != 2 {
		err = fmt.Errorf("status %d, want 2xx", status)
	}
	return err
}

// envelope is a response in the form in which results are stored.
func (r *Reconciler) envelope(name store.Name, response *wire.Response) ([]byte, error) {
	encoded, err := wire.AppendResponse(nil, response)
	if err != nil {
		return nil, err
	}
	if r.cfg.WriteUnsealed {
		return wire.AppendEnvelope(nil, wire.Envelope{Seal: wire.SealNone, Payload: encoded})
	}
	return r.cfg.Sealer.Seal(seal.Result, name, encoded)
}
