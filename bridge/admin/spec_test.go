package admin_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/pb33f/libopenapi"
	validator "github.com/pb33f/libopenapi-validator"

	"github.com/oncewall/oncewall/bridge/admin"
	"github.com/oncewall/oncewall/testenv/apitest"
)

// spec is the description, as a judge of what really goes over the wire.
func spec(t *testing.T) validator.Validator {
	t.Helper()
	v, errs := newSpec()
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	return v
}

func newSpec() (validator.Validator, []error) {
	document, err := libopenapi.NewDocument(admin.OpenAPI)
	if err != nil {
		return nil, []error{err}
	}
	return validator.NewValidator(document)
}

// client sends requests whose answers are always judged by the description, and
// which are judged themselves unless they are wrong on purpose.
type client struct {
	*testing.T
	*apitest.Bridge
	spec validator.Validator
}

func start(t *testing.T, edit ...func(*admin.Config)) *client {
	return &client{t, apitest.Start(t, edit...), spec(t)}
}

// answer is what came back: the parts that tests look at.
type answer struct {
	status int
	header http.Header
	text   string
	doc    map[string]any
}

// code is the document's.
func (a *answer) code() string { s, _ := a.doc["code"].(string); return s }

func (a *answer) number(name string) int64 {
	n, _ := a.doc[name].(json.Number)
	i, _ := n.Int64()
	return i
}

// post sends a valid request.
func (c *client) post(secret, path string, body any) *answer {
	c.Helper()
	return c.send(secret, path, body, true)
}

// wrong sends a request that the description refuses, and fails if it does not.
func (c *client) wrong(secret, path string, body any) *answer {
	c.Helper()
	return c.send(secret, path, body, false)
}

func (c *client) send(secret, path string, body any, valid bool) *answer {
	c.Helper()
	text, ok := body.(string)
	if !ok {
		b, err := json.Marshal(body)
		if err != nil {
			c.Fatal(err)
		}
		text = string(b)
	}
	base := c.Data
	if strings.HasPrefix(path, admin.OperatorPrefix) {
		base = c.Admin
	}
	request := func() *http.Request {
		r, err := http.NewRequest(http.MethodPost, base+path, strings.NewReader(text))
		if err != nil {
			c.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", "Bearer "+secret)
		return r
	}
	if ok, errs := c.spec.ValidateHttpRequest(request()); ok != valid {
		c.Fatalf("%s: the description finds the request valid: %v, want %v: %v", path, ok, valid, errs)
	}
	resp, err := http.DefaultClient.Do(request())
	if err != nil {
		c.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		c.Fatal(err)
	}
	resp.Body = io.NopCloser(bytes.NewReader(raw))
	if ok, errs := c.spec.ValidateHttpResponse(request(), resp); !ok {
		c.Fatalf("%s: an answer beside the description: %v\n%s", path, errs, raw)
	}
	a := &answer{status: resp.StatusCode, header: resp.Header, text: string(raw)}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&a.doc); err != nil {
		c.Fatalf("%s: %v: %s", path, err, raw)
	}
	if (a.status != http.StatusOK) != (resp.Header.Get("Content-Type") == "application/problem+json") || a.header.Get("Cache-Control") != "no-store" {
		c.Errorf("%s: %d with headers %v", path, a.status, a.header)
	}
	return a
}

// want fails unless a has the status and the code.
func (c *client) want(a *answer, status int, code string) *answer {
	c.Helper()
	if a.status != status || a.code() != code {
		c.Fatalf("%d %q, want %d %q: %s", a.status, a.code(), status, code, a.text)
	}
	return a
}

// TestDescriptionIsValid: a description that is wrong judges nothing.
func TestDescriptionIsValid(t *testing.T) {
	if ok, errs := spec(t).ValidateDocument(); !ok {
		for _, e := range errs {
			t.Errorf("%s: %s", e.Message, e.Reason)
			for _, s := range e.SchemaValidationErrors {
				t.Errorf("  %s", s.Reason)
			}
		}
	}
}
