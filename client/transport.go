package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/oncewall/oncewall/client/api"
)

// stamp is the header that a bridge sets on every answer of its data listener. One
// without it was made by something else on the way.
const stamp = "oncewall-bridge"

// maxAnswer bounds what is read of an answer.
const maxAnswer = 64 << 20

// ProblemError is the bridge's refusal.
type ProblemError struct{ api.Problem }

func (e *ProblemError) Error() string {
	text := "client: " + e.Code + ": " + e.Title
	if e.Detail != "" {
		text += ": " + e.Detail
	}
	return text
}

// RetryAfter is when the same request may be answered otherwise; 0: not known.
func (e *ProblemError) RetryAfter() time.Duration {
	return time.Duration(e.RetryAfterMS) * time.Millisecond
}

// transport sends requests and repeats those that fail on the way.
type transport struct {
	base, secret   string
	timeout, pause time.Duration
	http           *http.Client
	stamped        bool // answers carry the stamp
}

func newTransport(base, secret string, timeout, pause time.Duration, c *http.Client) transport {
	if c == nil {
		// Redirections would carry the secret elsewhere.
		c = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	}
	return transport{strings.TrimRight(base, "/"), secret, timeout, pause, c, true}
}

// get is call for a path with a query, by GET.
func (t *transport) get(ctx context.Context, path string, out any) error {
	_, err := t.repeated(ctx, http.MethodGet, path, nil, out)
	return err
}

func (t *transport) call(ctx context.Context, path string, in, out any) error {
	_, err := t.timed(ctx, path, in, out)
	return err
}

// timed is call that also says when the attempt was sent that was answered.
func (t *transport) timed(ctx context.Context, path string, in, out any) (sent time.Time, err error) {
	body, err := json.Marshal(in)
	if err != nil {
		return sent, err
	}
	return t.repeated(ctx, http.MethodPost, path, body, out)
}

// repeated makes attempts. Those that got no answer of a bridge, or that the store was away for, are
// repeated until ctx ends: every operation may be repeated by its owner.
func (t *transport) repeated(ctx context.Context, method, path string, body []byte, out any) (sent time.Time, err error) {
	for pause := t.pause; ; pause = min(2*pause, maxPause) {
		sent = time.Now()
		again, err := t.once(ctx, method, path, body, out)
		if err == nil || !again {
			return sent, err
		}
		wait := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			wait.Stop()
			return sent, errors.Join(context.Cause(ctx), err)
		case <-wait.C:
		}
	}
}

// once makes one attempt. again says that another may succeed.
func (t *transport) once(ctx context.Context, method, path string, body []byte, out any) (again bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, t.timeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, t.base+path, bytes.NewReader(body))
	if err != nil {
		return false, err
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	r.Header.Set("Authorization", "Bearer "+t.secret)
	resp, err := t.http.Do(r)
	if err != nil {
		return true, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return true, err
	}
	if t.stamped && resp.Header.Get(stamp) == "" {
		return true, fmt.Errorf("client: status %d, and not from a bridge", resp.StatusCode)
	}
	if resp.StatusCode == http.StatusOK {
		if out == nil {
			return false, nil
		}
		return false, json.Unmarshal(answer, out)
	}
	var p ProblemError
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if kind != "application/problem+json" || json.Unmarshal(answer, &p.Problem) != nil || p.Code == "" {
		return resp.StatusCode >= 500, fmt.Errorf("client: status %d without a problem document", resp.StatusCode)
	}
	return mayRepeat(p.Code), &p
}

// mayRepeat reports whether a refusal says nothing of the record.
func mayRepeat(code string) bool {
	return code == "unavailable" || code == "too-many-requests" || code == "internal"
}
