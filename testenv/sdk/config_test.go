package sdk

import (
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

type (
	obj  = map[string]any
	list = []any
)

const typeURL = "type.googleapis.com/envoy.extensions."

// typed is a message in an Any.
func typed(name string, fields obj) obj {
	fields["@type"] = typeURL + name
	return fields
}

func text(s string) obj {
	return obj{"@type": "type.googleapis.com/google.protobuf.StringValue", "value": s}
}

// plugin is a Wasm filter's configuration. Filters with one VM id and program
// share a VM.
func plugin(program, vm, vmConfig, config string) obj {
	return obj{"config": obj{
		"name": vm + "." + config, "root_id": config, "configuration": text(config),
		"vm_config": obj{
			"runtime": "envoy.wasm.runtime.v8", "vm_id": vm, "configuration": text(vmConfig),
			"code": obj{"local": obj{"filename": wasm[program]}},
		},
	}}
}

func address(hostport string) obj {
	h, p, _ := net.SplitHostPort(hostport)
	port, _ := strconv.Atoi(p)
	return obj{"socket_address": obj{"address": h, "port_value": port}}
}

func listener(name string, filters ...any) obj {
	return obj{
		"@type": "type.googleapis.com/envoy.config.listener.v3.Listener",
		"name":  name, "address": address("127.0.0.1:0"),
		"filter_chains": list{obj{"filters": list(filters)}},
	}
}

func httpListener(name string, wasm obj) obj {
	return listener(name, obj{"name": "http", "typed_config": typed(
		"filters.network.http_connection_manager.v3.HttpConnectionManager", obj{
			"stat_prefix": name,
			"route_config": obj{"virtual_hosts": list{obj{
				"name": "all", "domains": list{"*"},
				"routes": list{obj{
					"match": obj{"prefix": "/"}, "route": obj{"cluster": "upstream"},
					"metadata": obj{"filter_metadata": obj{"sdk": obj{"colour": "blue"}}},
				}},
			}}},
			"http_filters": list{
				obj{"name": "wasm", "typed_config": typed("filters.http.wasm.v3.Wasm", wasm)},
				obj{"name": "router", "typed_config": typed("filters.http.router.v3.Router", obj{})},
			},
		})})
}

func tcpListener(name string, wasm obj) obj {
	return listener(name,
		obj{"name": "wasm", "typed_config": typed("filters.network.wasm.v3.Wasm", wasm)},
		obj{"name": "tcp", "typed_config": typed("filters.network.tcp_proxy.v3.TcpProxy", obj{
			"stat_prefix": name, "cluster": "echo"})})
}

func cluster(name, hostport string, http2 bool) obj {
	c := obj{"name": name, "connect_timeout": "5s", "load_assignment": obj{
		"cluster_name": name,
		"endpoints": list{obj{"lb_endpoints": list{obj{
			"endpoint": obj{"address": address(hostport)}}}}},
	}}
	if http2 {
		c["typed_extension_protocol_options"] = obj{
			"envoy.extensions.upstreams.http.v3.HttpProtocolOptions": typed(
				"upstreams.http.v3.HttpProtocolOptions",
				obj{"explicit_http_config": obj{"http2_protocol_options": obj{}}})}
	}
	return c
}

// writeJSON appears by a rename, as Envoy's file watch wants it.
func writeJSON(t *testing.T, path string, v any) {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	next := filepath.Join(filepath.Dir(path), "next")
	if err := os.WriteFile(next, b, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(next, path); err != nil {
		t.Fatal(err)
	}
}
