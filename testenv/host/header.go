package host

import "strings"

// Headers are name and value pairs in order. Names are lower case; a name may
// occur more than once.
type Headers [][2]string

// H makes Headers of names and values in turn. It panics on an odd count.
func H(pairs ...string) Headers {
	h := make(Headers, 0, len(pairs)/2)
	for i := 0; i < len(pairs); i += 2 {
		h = append(h, [2]string{strings.ToLower(pairs[i]), pairs[i+1]})
	}
	return h
}

// Get returns the first value of name, "" where there is none.
func (h Headers) Get(name string) string {
	v, _ := h.Lookup(name)
	return v
}

// Lookup returns the first value of name.
func (h Headers) Lookup(name string) (value string, ok bool) {
	for i := range h {
		if strings.EqualFold(h[i][0], name) {
			return h[i][1], true
		}
	}
	return "", false
}

// Has reports whether name occurs.
func (h Headers) Has(name string) bool {
	_, ok := h.Lookup(name)
	return ok
}

// Values returns every value of name in order.
func (h Headers) Values(name string) []string {
	var vs []string
	for i := range h {
		if strings.EqualFold(h[i][0], name) {
			vs = append(vs, h[i][1])
		}
	}
	return vs
}

// Clone returns a copy.
func (h Headers) Clone() Headers { return append(Headers(nil), h...) }

// Add adds a pair as Envoy's addCopy does: the name in lower case, pseudo
// headers before all others, and a second value of a header that Envoy keeps in
// a fixed slot joined to the first one.
func (h *Headers) Add(name, value string) {
	name = strings.ToLower(name)
	if sep, ok := inline[name]; ok {
		for i := range *h {
			if (*h)[i][0] == name {
				if value != "" {
					if (*h)[i][1] != "" {
						(*h)[i][1] += sep
					}
					(*h)[i][1] += value
				}
				return
			}
		}
	}
	h.insert(name, value)
}

// Set replaces every value of name by one, at the end of the list.
func (h *Headers) Set(name, value string) {
	name = strings.ToLower(name)
	h.Del(name)
	h.insert(name, value)
}

// put changes the value of name where it stands, else adds it: the way Envoy's
// own code sets the headers it keeps in fixed slots.
func (h *Headers) put(name, value string) {
	for i := range *h {
		if (*h)[i][0] == name {
			(*h)[i][1] = value
			return
		}
	}
	h.insert(name, value)
}

// Del removes every value of name.
func (h *Headers) Del(name string) {
	kept := (*h)[:0]
	for _, p := range *h {
		if !strings.EqualFold(p[0], name) {
			kept = append(kept, p)
		}
	}
	*h = kept
}

// delPseudo removes the names that begin with a colon.
func (h *Headers) delPseudo() {
	for len(*h) > 0 && strings.HasPrefix((*h)[0][0], ":") {
		*h = (*h)[1:]
	}
}

func (h *Headers) insert(name, value string) {
	p := [2]string{name, value}
	if !strings.HasPrefix(name, ":") {
		*h = append(*h, p)
		return
	}
	at := 0
	for at < len(*h) && strings.HasPrefix((*h)[at][0], ":") {
		at++
	}
	*h = append(*h, p)
	copy((*h)[at+1:], (*h)[at:])
	(*h)[at] = p
}

// bytes is the size that Envoy reports for a header map.
func (h Headers) bytes() int {
	n := 0
	for _, p := range h {
		n += len(p[0]) + len(p[1])
	}
	return n
}

// inline are the headers that Envoy keeps in fixed slots: another value is
// joined with the separator instead of becoming another line.
var inline = func() map[string]string {
	m := map[string]string{}
	for _, n := range strings.Fields(`:authority :method :path :scheme :status :protocol accept accept-encoding
		accept-language authorization access-control-request-headers access-control-request-method
		access-control-request-private-network cache-control connection content-encoding content-length content-type
		access-control-allow-origin access-control-allow-credentials access-control-allow-headers
		access-control-allow-methods access-control-expose-headers access-control-max-age date etag expect
		grpc-accept-encoding grpc-message grpc-status grpc-timeout if-match if-modified-since if-none-match if-range
		if-unmodified-since keep-alive last-modified location origin proxy-connection referer server te
		transfer-encoding upgrade user-agent vary via x-client-trace-id x-envoy-attempt-count
		x-envoy-decorator-operation x-envoy-downstream-service-cluster x-envoy-downstream-service-node
		x-envoy-expected-rq-timeout-ms x-envoy-external-address x-envoy-force-trace x-envoy-hedge-on-per-try-timeout
		x-envoy-internal x-envoy-ip-tags x-envoy-max-retries x-envoy-original-path x-envoy-overloaded
		x-envoy-retry-grpc-on x-envoy-retry-on x-envoy-upstream-alt-stat-name x-envoy-upstream-rq-per-try-timeout-ms
		x-envoy-upstream-rq-timeout-alt-response x-envoy-upstream-rq-timeout-ms x-envoy-upstream-service-time
		x-forwarded-client-cert x-forwarded-for x-forwarded-host x-forwarded-port x-forwarded-proto x-request-id`) {
		m[n] = ","
	}
	return m
}()
