package host

import (
	"encoding/binary"
	"math"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/oncewall/oncewall/testenv/host/abi"
)

// dotted shows a property's path.
func dotted(path string) string { return strings.ReplaceAll(path, "\x00", ".") }

// property finds an attribute: what Options.Properties say, else the model's,
// else filter state that the filter has set.
func (x *fctx) property(path string) ([]byte, Status) {
	if path == "" {
		return nil, StatusSerializationFailure
	}
	parts := strings.Split(path, "\x00")
	if v, ok := walk(x.vm.h.o.Properties, parts); ok {
		return serialize(v)
	}
	if v, ok := walk(x.attributes(parts[0]), parts[1:]); ok && v != nil {
		if _, group := v.(map[string]any); group && len(parts) == 1 {
			if parts[0] == "metadata" {
				return nil, StatusOK // an empty protobuf message
			}
			return nil, StatusSerializationFailure // the groups cannot be listed
		}
		return serialize(v)
	}
	if v, ok := x.filterState()["wasm."+parts[0]]; ok && len(parts) == 1 {
		return v, StatusOK
	}
	return nil, StatusNotFound
}

// walk goes down a tree. A function stands for the value that it returns.
func walk(v any, parts []string) (any, bool) {
	for _, p := range parts {
		switch t := v.(type) {
		case map[string]any:
			next, ok := t[p]
			if !ok {
				return nil, false
			}
			v = next
		case map[string]map[string]any:
			next, ok := t[p]
			if !ok {
				return nil, false
			}
			v = next
		case stateTree:
			next, ok := t[p]
			if !ok {
				return nil, false
			}
			v = next
		case headerTree:
			vs := Headers(t).Values(p)
			if vs == nil {
				return nil, false
			}
			v = strings.Join(vs, ",")
		default:
			return nil, false
		}
	}
	return v, v != nil
}

// headerTree is a header map as a property: repeated headers are joined.
type headerTree Headers

// stateTree is filter state as a property: its values have a serialized form, it
// itself has none.
type stateTree map[string][]byte

// attributes gives the tree below a first name; nil where there is none. The
// leaves that are not known yet are nil.
func (x *fctx) attributes(first string) any {
	h, s := x.vm.h, x.stream
	switch first {
	case "plugin_name":
		return h.o.Name
	case "plugin_root_id":
		return h.o.RootID
	case "plugin_vm_id":
		return h.o.VMID
	}
	if x.conn != nil {
		return x.conn.attributes(first)
	}
	if s == nil {
		return nil
	}
	switch first {
	case "connection_id":
		return s.conn
	case "request":
		return s.requestAttributes()
	case "response":
		return s.responseAttributes()
	case "connection":
		return connectionAttributes(s.conn)
	case "source":
		if host, port, err := net.SplitHostPort(s.clientAddress); err == nil {
			n, _ := strconv.ParseInt(port, 10, 64)
			return map[string]any{"address": net.JoinHostPort(host, port), "port": n}
		}
		return sourceAttributes(s.conn)
	case "destination":
		return destinationAttributes()
	case "upstream":
		return s.upstreamAttributes()
	case "metadata":
		return map[string]any{"filter_metadata": map[string]any{}}
	case "filter_state":
		return stateTree(x.filterState())
	case "xds":
		return map[string]any{
			"node":             map[string]any{"id": "", "cluster": ""},
			"route_name":       h.o.Route.Name,
			"cluster_name":     h.o.Route.Cluster,
			"route_metadata":   metadata(h.o.Route.Metadata),
			"cluster_metadata": metadata(clusterMetadata(h.o.Clusters[h.o.Route.Cluster])),
		}
	}
	return nil
}

// filterState is where the context's filter state is kept; nil for contexts
// without a stream or connection.
func (x *fctx) filterState() map[string][]byte {
	switch {
	case x.stream != nil:
		return x.stream.state
	case x.conn != nil:
		return x.conn.state
	}
	return nil
}

func connectionAttributes(id uint64) map[string]any {
	return map[string]any{"id": id, "mtls": false, "requested_server_name": ""}
}

func sourceAttributes(id uint64) map[string]any {
	port := 40000 + id%20000
	return map[string]any{"address": clientIP + ":" + strconv.FormatUint(port, 10), "port": int64(port)}
}

func destinationAttributes() map[string]any {
	return map[string]any{"address": "127.0.0.1:10000", "port": int64(10000)}
}

func clusterMetadata(c *Cluster) map[string]map[string]any {
	if c == nil {
		return nil
	}
	return c.Metadata
}

func metadata(m map[string]map[string]any) map[string]any {
	return map[string]any{"filter_metadata": m}
}

func (s *Stream) requestAttributes() map[string]any {
	h := s.reqHeaders
	path, query, _ := strings.Cut(h.Get(":path"), "?")
	m := map[string]any{
		"path": h.Get(":path"), "url_path": path, "query": query, "host": h.Get(":authority"),
		"scheme": h.Get(":scheme"), "method": h.Get(":method"), "headers": headerTree(h),
		"id": h.Get("x-request-id"), "protocol": "HTTP/1.1", "size": int64(s.reqBytes),
		"total_size": int64(s.reqBytes + h.bytes()), "time": s.h.o.Start.Add(s.began),
	}
	for _, name := range []string{"referer", "user-agent"} {
		if v, ok := h.Lookup(name); ok {
			m[strings.ReplaceAll(name, "user-agent", "useragent")] = v
		}
	}
	if s.http2 {
		m["protocol"] = "HTTP/2"
	}
	if s.over {
		m["duration"] = s.h.now - s.began
	}
	return m
}

func (s *Stream) responseAttributes() map[string]any {
	m := map[string]any{"flags": int64(s.flags), "total_size": int64(0), "size": int64(s.sent)}
	if s.status != 0 {
		m["code"] = int64(s.status)
	}
	if s.detailed || s.details != "" {
		m["code_details"] = s.details
	}
	m["headers"] = headerTree{}
	if s.respHeaders != nil {
		m["headers"] = headerTree(*s.respHeaders)
		m["total_size"] = int64(len(s.response.Body) + s.respHeaders.bytes())
	}
	if s.enc.trailers != nil {
		m["trailers"] = headerTree(*s.enc.trailers)
	}
	return m
}

func (s *Stream) upstreamAttributes() map[string]any {
	m := map[string]any{"request_attempt_count": uint64(s.attempts)}
	if s.attempts > 0 {
		if c := s.h.o.Clusters[s.h.o.Route.Cluster]; c != nil && !c.NoHosts {
			m["cx_pool_ready_duration"] = time.Duration(0)
			m["transport_failure_reason"] = ""
			if c.Refuse {
				m["transport_failure_reason"] = "delayed connect error: Connection refused"
			}
			if !s.router.overflowed {
				m["address"] = "127.0.0.1:8090"
				m["port"] = int64(8090)
			}
		}
	}
	return m
}

// serialize gives a property's bytes.
func serialize(v any) ([]byte, Status) {
	number := func(n uint64) ([]byte, Status) { return binary.LittleEndian.AppendUint64(nil, n), StatusOK }
	switch t := v.(type) {
	case string:
		return []byte(t), StatusOK
	case []byte:
		return t, StatusOK
	case bool:
		return []byte{byte(bit(t))}, StatusOK
	case int:
		return number(uint64(t))
	case int64:
		return number(uint64(t))
	case uint64:
		return number(t)
	case float64:
		return number(math.Float64bits(t))
	case time.Duration:
		return number(uint64(t))
	case time.Time:
		return number(uint64(t.UnixNano()))
	case headerTree:
		return abi.EncodePairs(t), StatusOK
	case map[string]any:
		return serializeMap(t)
	case map[string]map[string]any:
		all := map[string]any{}
		for k, v := range t {
			all[k] = v
		}
		return serializeMap(all)
	case []any:
		var pairs [][2]string
		for _, e := range t {
			b, st := serialize(e)
			if st != StatusOK {
				return nil, st
			}
			pairs = append(pairs, [2]string{string(b), ""})
		}
		return abi.EncodePairs(pairs), StatusOK
	}
	return nil, StatusSerializationFailure
}

// serializeMap gives pairs in the order of their names.
func serializeMap(m map[string]any) ([]byte, Status) {
	var pairs [][2]string
	for _, k := range sortedKeys(m) {
		b, st := serialize(m[k])
		if st != StatusOK {
			return nil, st
		}
		pairs = append(pairs, [2]string{k, string(b)})
	}
	return abi.EncodePairs(pairs), StatusOK
}
