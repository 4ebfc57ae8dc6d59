package host

import (
	"slices"
	"strings"
)

// maxNominated bounds how many headers a connection header may name.
const maxNominated = 9

// nominated removes what an HTTP/1 request's connection header names, whatever
// it is. Of te it leaves trailers. False means that the request is refused: the
// removal of these would hide where a request comes from.
func nominated(h *Headers) bool {
	names := strings.Split(strings.ToLower(h.Get("connection")), ",")
	if len(names) > maxNominated {
		return false
	}
	for _, name := range names {
		switch name = strings.TrimSpace(name); {
		case name == "" || name == "connection":
		case strings.HasPrefix(name, ":"), slices.Contains([]string{"x-forwarded-for", "x-forwarded-host", "x-forwarded-proto"}, name):
			return false
		case name == "te" && slices.ContainsFunc(strings.Split(h.Get("te"), ","), func(v string) bool {
			return strings.TrimSpace(strings.ToLower(v)) == "trailers"
		}):
			h.put("te", "trailers")
		default:
			h.Del(name)
		}
	}
	return true
}

// refusal is the answer to a request that the connection manager does not show
// to any filter; nil where it does.
func (s *Stream) refusal() *Reply {
	switch {
	case !s.http2 && (s.reqHeaders.bytes() > maxHeaderBytes || len(s.reqHeaders) > maxHeaders):
		return &Reply{Status: 431, Body: "Request Header Fields Too Large", Details: "http1.headers_too_large"}
	case s.refused:
		return &Reply{Status: 400, Body: "Bad Request", Details: "http1.connection_header_rejected", Flags: FlagDownstreamProtocolError}
	case s.http10:
		return &Reply{Status: 426, Body: "Upgrade Required", Details: "low_version", Flags: FlagDownstreamProtocolError}
	case strings.Contains(s.reqHeaders.Get(":path"), "#"):
		return &Reply{Status: 400, Details: "path_normalization_failed"}
	}
	return nil
}
