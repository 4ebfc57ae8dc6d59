package admin_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	validator "github.com/pb33f/libopenapi-validator"

	"github.com/oncewall/oncewall/bridge/admin"
	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/client/api"
	"github.com/oncewall/oncewall/filter/wire"
	"github.com/oncewall/oncewall/testenv/apitest"
)

// fuzzed is a bridge whose answers are judged by the description.
type fuzzed struct {
	*apitest.Bridge
	spec validator.Validator
}

func startFuzz(f *testing.F) *fuzzed {
	v, errs := newSpec()
	if len(errs) > 0 {
		f.Fatal(errs)
	}
	return &fuzzed{apitest.Start(f), v}
}

func (b *fuzzed) base(path string) (url, secret string) {
	if strings.HasPrefix(path, admin.OperatorPrefix) {
		return b.Admin, apitest.Operator
	}
	return b.Data, apitest.Consumer
}

// send returns the answer; one that the description does not have, or that blames
// the bridge, is a fault.
func (b *fuzzed) send(t *testing.T, path string, body []byte) (status int, text []byte) {
	t.Helper()
	url, secret := b.base(path)
	request := func() *http.Request {
		r, err := http.NewRequest(http.MethodPost, url+path, bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", "Bearer "+secret)
		return r
	}
	resp, err := http.DefaultClient.Do(request())
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err = io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body = io.NopCloser(bytes.NewReader(text))
	if ok, errs := b.spec.ValidateHttpResponse(request(), resp); !ok {
		t.Fatalf("%s: an answer beside the description: %v\n%s", path, errs, text)
	}
	if resp.StatusCode >= 500 {
		t.Fatalf("%s: %d: %s", path, resp.StatusCode, text)
	}
	return resp.StatusCode, text
}

// FuzzBody: whatever is sent to whichever route, the answer is a described one and
// nobody panics.
func FuzzBody(f *testing.F) {
	b := startFuzz(f)
	routes := slices.DeleteFunc(paths(f), func(path string) bool { return path == api.PathReport }) // it has no body
	for i, body := range []any{
		api.Claim{Key: key('a')}, api.Get{Target: key('a').Target, Key: secretKey}, api.Overdue{Limit: 3},
		api.Complete{Key: key('a'), Fence: 7, Result: api.Result{Status: 201, Headers: []api.Header{{Name: "a", Value: "b"}}, Body: []byte("x")}},
		api.GetRecord{Subject: subject()},
		api.Resolve{Subject: subject(), Fence: 9, Action: "extend", ExtendMS: 5, Reason: "r"},
	} {
		text, err := json.Marshal(body)
		if err != nil {
			f.Fatal(err)
		}
		for route := range routes {
			f.Add(uint8(route), text)
		}
		f.Add(uint8(i), text[:len(text)-1])
	}
	for _, text := range []string{"", "{}", "[]", "null", `{"namespace":null}`, `{"fence":1e309}`, `{"fence":-1}`, "\xff", `{"a":{"a":{"a":{}}}}`} {
		f.Add(uint8(1), []byte(text))
		f.Add(uint8(len(routes)-1), []byte(text))
	}
	f.Fuzz(func(t *testing.T, route uint8, body []byte) {
		b.send(t, routes[int(route)%len(routes)], body)
	})
}

// FuzzRequest: no path, method, type or secret gets further than it may.
func FuzzRequest(f *testing.F) {
	b := startFuzz(f)
	f.Add("POST", "/v1/keys/claim", "application/json", "Bearer "+apitest.Consumer, true)
	f.Add("POST", "/v1/records/get", "application/json", "Bearer "+apitest.Operator, false)
	f.Add("GET", "/v1/keys/../records/get", "", "", true)
	f.Add("DELETE", "/v1/keys/%2e%2e/records/overdue", "application/json;charset=x", "bearer x", false)
	f.Add("POST", "//v1/records/resolve", "application/json", "Bearer "+apitest.Consumer, false)
	f.Add("POST", "/v1/keys/get?key=K", "APPLICATION/JSON", "BEARER "+apitest.Operator, true)
	f.Fuzz(func(t *testing.T, method, path, kind, authorization string, data bool) {
		base := b.Admin
		if data {
			base = b.Data
		}
		if !strings.HasPrefix(path, "/") {
			path = "/" + path
		}
		r, err := http.NewRequest(method, base+path, strings.NewReader("{}"))
		if err != nil {
			return // no request at all
		}
		r.Header.Set("Content-Type", kind)
		r.Header.Set("Authorization", authorization)
		client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
		resp, err := client.Do(r)
		if err != nil {
			return // the library refuses to send it
		}
		defer resp.Body.Close()
		body, _ := io.ReadAll(resp.Body)
		operator := strings.HasPrefix(r.URL.Path, admin.OperatorPrefix)
		secret := apitest.Consumer
		if operator {
			secret = apitest.Operator
		}
		scheme, presented, _ := strings.Cut(strings.TrimSpace(authorization), " ")
		entitled := operator != data && strings.EqualFold(scheme, "bearer") && presented == secret
		problem := strings.HasPrefix(resp.Header.Get("Content-Type"), "application/problem+json")
		mine := operator || strings.HasPrefix(r.URL.Path, admin.ConsumerPrefix)
		switch {
		case resp.StatusCode >= 500:
			t.Fatalf("%s %q: %d: %s", method, path, resp.StatusCode, body)
		case !mine:
		case resp.StatusCode == http.StatusOK && !entitled:
			t.Fatalf("%s %q with %q on data %v: %s", method, path, authorization, data, body)
		case problem && method != http.MethodHead && !json.Valid(body):
			t.Fatalf("%s %q: a problem that is no JSON: %q", method, path, body)
		}
	})
}

// FuzzResolve: an operator's decision is carried out where its fence is the
// record's, and changes nothing where it is not.
func FuzzResolve(f *testing.F) {
	b := startFuzz(f)
	f.Add(int64(0), "complete", 201, int64(0), "seen at the bank", []byte("body"))
	f.Add(int64(0), "executed", 204, int64(0), "seen", []byte(nil))
	f.Add(int64(0), "release", 0, int64(0), "never arrived", []byte(nil))
	f.Add(int64(0), "extend", 0, int64(1000), "still running", []byte(nil))
	f.Add(int64(-1), "release", 0, int64(0), "stale view", []byte(nil))
	f.Add(int64(1), "complete", 200, int64(0), "newer", []byte("x"))
	f.Add(int64(0), "complete", 99, int64(-5), "", []byte("x"))
	n := uint64(0)
	f.Fuzz(func(t *testing.T, off int64, action string, status int, extend int64, reason string, body []byte) {
		n++
		name := store.Name{byte(n), byte(n >> 8), byte(n >> 16), byte(n >> 24), 9}
		policy := wire.Policy{TTLMS: 60_000, LeaseMS: 1000, Recovery: wire.Hold}
		op := store.Operation{Kind: wire.Claim, Name: name, Owner: owner('f'), Policy: &policy, Deadline: time.Now().Add(10 * time.Second)}
		claim := b.Store.Do(t.Context(), []store.Operation{op})[0]
		if claim.Code != wire.Created {
			t.Fatalf("%+v", claim)
		}
		b.Store.Advance(time.Second)
		in := api.Resolve{
			Subject: api.Subject{Name: hex.EncodeToString(name[:])}, Fence: claim.Fence + uint64(off),
			Action: action, ExtendMS: extend, Reason: reason, Status: status,
		}
		if action == "complete" {
			in.Status, in.Result = 0, &api.Result{Status: status, Body: body}
		}
		text, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		got, answer := b.send(t, api.PathResolve, text)
		after, err := b.Store.Get(t.Context(), name, false)
		if err != nil {
			t.Fatal(err)
		}
		changed := after.State != store.Processing || after.Fence != claim.Fence || !after.LeaseOver
		switch {
		case off != 0 && got == http.StatusOK:
			t.Fatalf("decided for fence %d off: %s", off, answer)
		case got != http.StatusOK && changed:
			t.Fatalf("%d, and the record is %+v now: %s", got, after, answer)
		case got == http.StatusOK && !changed && action != "extend":
			t.Fatalf("200, and the record is as it was: %s", answer)
		case off != 0 && got != http.StatusConflict && got != http.StatusBadRequest && got != http.StatusRequestEntityTooLarge:
			t.Fatalf("fence %d off: %d: %s", off, got, answer)
		}
	})
}
