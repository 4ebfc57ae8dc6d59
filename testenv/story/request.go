package story

import "slices"

// Request is one request of a scene. Its methods return changed copies.
type Request struct {
	method, path string
	header       [][2]string // in lower case
	body         []byte
	chunked      bool
}

// Post is a POST of a small order by the buyer ada, under an idempotency key;
// none if key is empty.
func Post(path, key string) Request {
	r := Request{method: "POST", path: path, body: []byte(`{"item":"lamp","amount":1}`)}
	r = r.With("content-type", "application/json").As("ada")
	if key != "" {
		r = r.With("idempotency-key", key)
	}
	return r
}

// With adds a header line; name is in lower case.
func (r Request) With(name, value string) Request {
	r.header = append(slices.Clip(r.header), [2]string{name, value})
	return r
}

// Without removes a header.
func (r Request) Without(name string) Request {
	r.header = slices.DeleteFunc(slices.Clone(r.header), func(h [2]string) bool { return h[0] == name })
	return r
}

// As says who sends the request. No principal is sent if name is empty.
func (r Request) As(name string) Request {
	r = r.Without("x-user-id")
	if name != "" {
		r = r.With("x-user-id", name)
	}
	return r
}

// Key replaces the idempotency key.
func (r Request) Key(key string) Request {
	return r.Without("idempotency-key").With("idempotency-key", key)
}

// Body replaces the body.
func (r Request) Body(body string) Request {
	r.body = []byte(body)
	return r
}

// Method replaces the method.
func (r Request) Method(method string) Request {
	r.method = method
	return r
}

// Chunked sends the body without saying beforehand how long it is.
func (r Request) Chunked() Request {
	r.chunked = true
	return r
}
