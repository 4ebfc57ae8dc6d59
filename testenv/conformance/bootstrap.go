package conformance

import (
	"strconv"
	"time"

	"github.com/oncewall/oncewall/testenv/host"
)

// object is a JSON object of Envoy's configuration.
type object = map[string]any

const typeURL = "type.googleapis.com/"

func typed(name string, o object) object {
	o["@type"] = typeURL + name
	return o
}

func address(port int) object {
	return object{"socket_address": object{"address": "127.0.0.1", "port_value": port}}
}

func seconds(d time.Duration) string {
	return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) + "s"
}

// bootstrap is the configuration of one Envoy for all scenarios that share it.
// The listeners that are watched stand in the file lds.
func bootstrap(listeners, clusters []any, lds string) object {
	return object{
		"node":  object{"id": "conformance", "cluster": "conformance"},
		"admin": object{"address": address(0)},
		"static_resources": object{
			"listeners": listeners,
			"clusters":  clusters,
		},
		"dynamic_resources": object{
			"lds_config": object{"path_config_source": object{"path": lds}, "resource_api_version": "V3"},
		},
	}
}

// clusterConfig is a cluster of a scenario; port is that of its scripted server.
func clusterConfig(name string, c Cluster, port int) object {
	o := object{
		"name": name, "type": "STATIC", "connect_timeout": "2s",
		"load_assignment": object{"cluster_name": name, "endpoints": []any{}},
	}
	if !c.NoHosts {
		o["load_assignment"].(object)["endpoints"] = []any{object{"lb_endpoints": []any{object{"endpoint": object{"address": address(port)}}}}}
	}
	if c.HTTP2 {
		o["typed_extension_protocol_options"] = object{"envoy.extensions.upstreams.http.v3.HttpProtocolOptions": typed(
			"envoy.extensions.upstreams.http.v3.HttpProtocolOptions",
			object{"explicit_http_config": object{"http2_protocol_options": object{}}})}
	}
	if c.MaxRequests != 0 {
		n := max(c.MaxRequests, 0)
		o["circuit_breakers"] = object{"thresholds": []any{object{"max_requests": n, "max_connections": 1024, "max_pending_requests": max(n, 0)}}}
	}
	if c.BufferLimit != 0 {
		o["per_connection_buffer_limit_bytes"] = c.BufferLimit
	}
	return o
}

// listenerConfig is the listener of a scenario: the probe and the router.
func listenerConfig(sc *Scenario, wasm, accessLog, config string, port int) object {
	s := &sc.Setup
	filters := []any{}
	if s.Deny {
		filters = append(filters, object{"name": "deny", "typed_config": typed("envoy.extensions.filters.http.rbac.v3.RBAC",
			object{"rules": object{"action": "ALLOW", "policies": object{}}})})
	}
	filters = append(filters, object{"name": "probe", "typed_config": typed("envoy.extensions.filters.http.wasm.v3.Wasm",
		object{"config": pluginConfig(sc, wasm, config)})})
	if s.Abort != 0 {
		filters = append(filters, object{"name": "abort", "typed_config": typed("envoy.extensions.filters.http.fault.v3.HTTPFault",
			object{"abort": object{"http_status": s.Abort, "percentage": object{"numerator": 100}}})})
	}
	filters = append(filters, object{"name": "router", "typed_config": typed("envoy.extensions.filters.http.router.v3.Router", object{})})
	hcm := object{
		"stat_prefix": sc.Name, "codec_type": "AUTO", "http_filters": filters,
		"use_remote_address": s.UseRemote,
		"route_config":       routeConfig(sc),
		"access_log": []any{object{"name": "file", "typed_config": typed("envoy.extensions.access_loggers.file.v3.FileAccessLog", object{
			"path": accessLog,
			"log_format": object{"text_format_source": object{"inline_string": sc.Name +
				" %REQ(x-client)% %RESPONSE_CODE% %RESPONSE_CODE_DETAILS% %RESPONSE_FLAGS% %FILTER_STATE(wasm.decision:PLAIN)%\n"}},
		})}},
	}
	switch {
	case s.StreamIdle == host.None:
		hcm["stream_idle_timeout"] = "0s"
	case s.StreamIdle != 0:
		hcm["stream_idle_timeout"] = seconds(s.StreamIdle)
	}
	l := object{
		"name": sc.Name, "address": address(port), "enable_reuse_port": false,
		"filter_chains": []any{object{"filters": []any{object{"name": "hcm", "typed_config": typed(
			"envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager", hcm)}}}},
	}
	if s.BufferLimit != 0 {
		l["per_connection_buffer_limit_bytes"] = s.BufferLimit
	}
	if s.StreamWindow != 0 {
		hcm["http2_protocol_options"] = object{"initial_stream_window_size": s.StreamWindow}
	}
	return l
}

func pluginConfig(sc *Scenario, wasm, config string) object {
	s := &sc.Setup
	p := object{
		"name": sc.Name, "root_id": sc.Name,
		"vm_config": object{
			"vm_id": sc.vmID(), "runtime": "envoy.wasm.runtime.v8",
			"code": object{"local": object{"filename": wasm}},
		},
		"configuration": typed("google.protobuf.StringValue", object{"value": config}),
	}
	if s.AllowStop {
		p["allow_on_headers_stop_iteration"] = true
	}
	switch s.Failure {
	case host.FailClosed:
		p["failure_policy"] = "FAIL_CLOSED"
	case host.FailOpen:
		p["failure_policy"] = "FAIL_OPEN"
	case host.FailReload:
		p["failure_policy"] = "FAIL_RELOAD"
		if s.ReloadBackoff != 0 {
			p["reload_config"] = object{"backoff": object{"base_interval": seconds(s.ReloadBackoff)}}
		}
	}
	return p
}

func routeConfig(sc *Scenario) object {
	r := &sc.Setup.Route
	route := object{"match": object{"prefix": "/"}}
	if r.Name != "" {
		route["name"] = r.Name
	}
	if r.Metadata != nil {
		all := object{}
		for ns, kv := range r.Metadata {
			all[ns] = kv
		}
		route["metadata"] = object{"filter_metadata": all}
	}
	if d := r.DirectResponse; d != nil {
		route["direct_response"] = object{"status": d.Status, "body": object{"inline_string": d.Body}}
	} else {
		cluster := "upstream"
		if r.Cluster != "" {
			cluster = r.Cluster
		}
		action := object{"cluster": sc.cluster(cluster)}
		switch {
		case r.Timeout == host.None:
			action["timeout"] = "0s"
		case r.Timeout != 0:
			action["timeout"] = seconds(r.Timeout)
		}
		if r.RetryOn != "" {
			retry := object{"retry_on": r.RetryOn, "num_retries": max(r.NumRetries, 1)}
			if r.PerTryTimeout != 0 {
				retry["per_try_timeout"] = seconds(r.PerTryTimeout)
			}
			action["retry_policy"] = retry
		}
		route["route"] = action
	}
	vhost := object{"name": "all", "domains": []any{"*"}, "routes": []any{route}}
	if r.AttemptCount {
		vhost["include_request_attempt_count"] = true
	}
	var add []any
	for _, p := range r.ResponseHeadersToAdd {
		add = append(add, object{"header": object{"key": p[0], "value": p[1]}})
	}
	if add != nil {
		vhost["response_headers_to_add"] = add
	}
	return object{"name": "routes", "validate_clusters": false, "virtual_hosts": []any{vhost}}
}
