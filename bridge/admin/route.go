package admin

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/oncewall/oncewall/bridge/strict"
	"github.com/oncewall/oncewall/client/api"
	"github.com/oncewall/oncewall/filter/wire"
)

// A call is one request of a known caller.
type call struct {
	*API
	caller Caller
	ctx    context.Context
	body   io.Reader // ends with an http.MaxBytesError where it is too large
	query  url.Values
	trace  string // the request's traceparent, where it is sampled
}

// A route serves one path. It returns a document for status 200, or a problem.
type route struct {
	limit int64 // bytes of the body; 0: it is a GET
	serve func(*call) (any, *api.Problem)
}

// routes serves paths by POST, or GET, to callers with the role.
func (a *API) routes(operator bool, table map[string]route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		operation := "unknown"
		defer func() {
			if v := recover(); v != nil {
				a.cfg.Log.Error("API handler panicked", "operation", operation, "panic", fmt.Sprint(v), "stack", string(debug.Stack()))
				a.write(w, operation, nil, problem(internal))
			}
		}()
		// Callers come first: who is none learns not even which paths there are.
		caller, ok := a.known(r, operator)
		if !ok {
			w.Header().Set("WWW-Authenticate", `Bearer realm="oncewall"`)
			a.write(w, operation, nil, problem(unauthorized))
			return
		}
		at, ok := table[r.URL.Path]
		if !ok {
			a.write(w, operation, nil, problem(notFound))
			return
		}
		operation = r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]
		if operator && at.limit > 0 {
			operation = "record-" + operation
		}
		method := http.MethodPost
		if at.limit == 0 {
			method = http.MethodGet
		}
		if r.Method != method {
			w.Header().Set("Allow", method)
			a.write(w, operation, nil, problem(methodNotAllowed))
			return
		}
		if t, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); at.limit > 0 && (err != nil || t != "application/json") {
			a.write(w, operation, nil, problem(unsupportedType))
			return
		}
		places := a.consuming
		if operator {
			places = a.operating
		}
		if !places.take(caller.ID) {
			a.write(w, operation, nil, problem(tooMany))
			return
		}
		defer places.leave(caller.ID)
		c := &call{API: a, caller: caller, ctx: r.Context(), query: r.URL.Query(), trace: traceOf(r), body: http.MaxBytesReader(w, r.Body, at.limit)}
		document, p := at.serve(c)
		a.write(w, operation, document, p)
	})
}

// traceOf returns the traceparent of a sampled request (W3C Trace Context, level
// 1); "" is none.
func traceOf(r *http.Request) string {
	if l := r.Header["Traceparent"]; len(l) == 1 && wire.SampledTrace(l[0]) {
		return l[0]
	}
	return ""
}

// read decodes the body, which is one JSON document without unknown members.
func (c *call) read(into any) *api.Problem {
	b, err := io.ReadAll(c.body)
	if err == nil {
		if err = strict.Decode(b, into); err == nil {
			return nil
		}
	}
	var large *http.MaxBytesError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &large):
		p := problem(tooLarge)
		p.Detail = fmt.Sprintf("The body may have %d bytes.", large.Limit)
		return p
	case errors.As(err, &kind):
		return invalid(fmt.Sprintf("%s: must be %s", cmp.Or(memberName(kind.Field), "body"), kindName(kind.Type.Kind().String())))
	case errors.Is(err, strict.ErrMember):
		// The name is the caller's own text, and might be anything.
		return invalid("body: a member that this request does not have")
	case errors.Is(err, strict.ErrText), errors.Is(err, strict.ErrDuplicate):
		return invalid("body: " + err.Error())
	}
	return invalid("body: not a JSON document of this request's form")
}

// memberName is a member's path in the document. encoding/json puts the Go names of
// structs that others embed into it, which no document has.
func memberName(path string) string {
	parts := slices.DeleteFunc(strings.Split(path, "."), func(s string) bool { return s != "" && s[0] >= 'A' && s[0] <= 'Z' })
	return strings.Join(parts, ".")
}

func kindName(kind string) string {
	switch {
	case strings.Contains(kind, "int"):
		return "a whole number in its range"
	case kind == "slice":
		return "base64 text or a list"
	case kind == "struct":
		return "an object"
	}
	return "a " + kind
}

func (a *API) write(w http.ResponseWriter, operation string, document any, p *api.Problem) {
	h, status := w.Header(), http.StatusOK
	h.Set("Content-Type", "application/json")
	if p != nil {
		document, status = p, p.Status
		h.Set("Content-Type", "application/problem+json")
		if p.Retryable && p.RetryAfterMS > 0 {
			h.Set("Retry-After", strconv.FormatInt((p.RetryAfterMS+999)/1000, 10))
		}
	}
	body, err := json.Marshal(document)
	if err != nil {
		panic(err) // documents hold strings, numbers and bytes
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	w.Write(body)
	a.requests.WithLabelValues(operation, strconv.Itoa(status)).Inc()
}
