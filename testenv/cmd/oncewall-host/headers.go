package main

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/oncewall/oncewall/testenv/host"
)

// fromHTTP turns a header map into the host's headers. The order of lines with
// different names is lost in net/http: here it is that of the names.
func fromHTTP(h http.Header, skip ...string) host.Headers {
	names := make([]string, 0, len(h))
	for name := range h {
		names = append(names, name)
	}
	slices.Sort(names)
	var all host.Headers
	for _, name := range names {
		lower := strings.ToLower(name)
		if slices.Contains(skip, lower) {
			continue
		}
		for _, v := range h[name] {
			all.Add(lower, v)
		}
	}
	return all
}

// errUpgrade is a request for another protocol.
var errUpgrade = errors.New("upgrades and CONNECT are not supported")

// requestOf makes the host's request of a client's.
func requestOf(r *http.Request) (host.Request, error) {
	upgrade := r.Header.Get("Upgrade")
	// As Envoy does: a client that offers h2c is answered over HTTP/1.1.
	if upgrade != "" && !strings.EqualFold(upgrade, "h2c") || r.Method == http.MethodConnect {
		return host.Request{}, errUpgrade
	}
	out := host.Request{
		Method: r.Method, Path: pathOf(r), Authority: r.Host, NoAuthority: true,
		HTTP2: r.ProtoMajor == 2, HTTP10: r.ProtoMajor == 1 && r.ProtoMinor == 0,
		// The 100 is sent when the body is read; Envoy takes the header away.
		Headers: fromHTTP(r.Header, "expect", "upgrade", "http2-settings"),
		// Not 0 means a body, or that only its end will tell.
		Open:          r.ContentLength != 0,
		ClientAddress: r.RemoteAddr,
	}
	// net/http has taken the line away, and passes on no others.
	for name := range r.Trailer {
		out.Headers.Add("trailer", strings.ToLower(name))
	}
	if slices.Contains(r.TransferEncoding, "chunked") {
		out.Headers.Add("transfer-encoding", "chunked")
	}
	return out, nil
}

// pathOf is :path as the client sent it; of a target in absolute form, what
// follows the authority.
func pathOf(r *http.Request) string {
	if target := r.RequestURI; strings.HasPrefix(target, "/") || target == "*" {
		return target
	}
	return r.URL.RequestURI()
}

// toClient puts response headers into a header map. Framing is net/http's own.
func toClient(to http.Header, h host.Headers) {
	// Without the line net/http would guess a type.
	to["Content-Type"] = nil
	for _, p := range h {
		if name := http.CanonicalHeaderKey(p[0]); name != "Transfer-Encoding" {
			to[name] = append(to[name], p[1])
		}
	}
}

// toUpstream puts request headers into a header map, under names in lower case,
// which are valid on HTTP/1 as well: net/http does not see an Idempotency-Key
// then, which it would take for a permission to send a request again.
func toUpstream(h host.Headers) http.Header {
	to := http.Header{"User-Agent": nil} // no name of net/http's
	for _, p := range h {
		switch name := p[0]; {
		case strings.HasPrefix(name, ":"), slices.Contains(hopByHop, name):
		case name == "user-agent":
			to["User-Agent"] = append(to["User-Agent"], p[1])
		default:
			to[name] = append(to[name], p[1])
		}
	}
	return to
}

// announced are the trailers that a request says it will have, without values.
func announced(h host.Headers) http.Header {
	to := http.Header{}
	for _, line := range h.Values("trailer") {
		for name := range strings.SplitSeq(line, ",") {
			to[http.CanonicalHeaderKey(strings.TrimSpace(name))] = nil
		}
	}
	return to
}

// hopByHop are not passed on as they are: the transport writes its own.
var hopByHop = []string{"host", "connection", "keep-alive", "proxy-connection", "transfer-encoding", "content-length", "upgrade", "trailer"}
