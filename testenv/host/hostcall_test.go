package host_test

import (
	"strings"
	"testing"
	"time"

	"github.com/oncewall/oncewall/testenv/host"
)

// The scripts of this file end in a reply, so that nothing else is traced.
func (s *scene) try(ops string, lines ...string) {
	s.t.Helper()
	s.Trace().Reset()
	s.get("rqh=" + ops + ",reply:200:d:")
	for _, l := range lines {
		s.saw(l)
	}
}

// Header maps outside their time: bad argument, in proxy_on_log not found; pairs
// of a map that does not exist are none.
func TestHeaderMapsOutsideTheirTime(t *testing.T) {
	s := start(t)
	s.try("get:2::status,add:2:a:b,size:2,pairs:2,get:6:a,get:0:none,size:0",
		`(response, "") = bad_argument`, `proxy_add_header_map_value(response, "a", "b") = bad_argument`,
		`proxy_get_header_map_size(response) = bad_argument`, `proxy_get_header_map_pairs(response) = ok 0 pairs`,
		`proxy_get_header_map_value(call, "a") = bad_argument`, `proxy_get_header_map_value(request, "none") = not_found`)
	s.Trace().Reset()
	s.get("log=get:0::path,get:0:%3apath,get:1:a,get:2:%3astatus,add:0:a:b")
	s.saw(`proxy_get_header_map_value(request, ":path") = ok "/"`)
	s.saw(`proxy_get_header_map_value(request_trailers, "a") = not_found`)
	s.saw(`proxy_get_header_map_value(response, ":status") = ok "200"`)
	s.saw(`proxy_add_header_map_value(request, "a", "b") = bad_argument`)
}

// A header is replaced as a whole; adding to a fixed slot joins, to any other
// makes a line; setting pairs replaces the map, and too many empty it.
func TestHeaderMapChanges(t *testing.T) {
	s := start(t)
	q := s.Request(host.Request{Headers: host.H("x-a", "1", "x-a", "2", "accept", "x",
		"x-probe", "rqh=rep:0:X-A:3,add:0:accept:y,add:0:x-b:1,add:0:x-b:2,del:0:x-probe,del:0:none")})
	h := q.Upstream().Headers
	if got := strings.Join(h.Values("x-a"), "|") + " " + strings.Join(h.Values("accept"), "|") + " " + strings.Join(h.Values("x-b"), "|"); got != "3 x,y 1|2" {
		t.Fatal(got)
	}
	if h.Has("x-probe") {
		t.Fatal(h)
	}
	q = s.get("rqh=setpairs:0:%3amethod=GET:%3apath=/new:%3aauthority=a:%3ascheme=http:x-forwarded-proto=http")
	if h := q.Upstream().Headers; h.Get(":path") != "/new" || h.Has("x-probe") {
		t.Fatal(h)
	}
}

// Buffers outside their time: a body is empty; the configuration of the plugin
// and a call's body are not found.
func TestBuffersOutsideTheirTime(t *testing.T) {
	s := start(t, func(o *host.Options) { o.VMConfig = []byte("vm!") })
	s.try("buf:0:0:9,buf:7:0:9,buf:4:0:9,buf:6:1:9,buf:6:9:9,bufst:6,setbuf:6:0:3:x,setbuf:4:0:0:x",
		`proxy_get_buffer_bytes(request_body, 0, 9) = ok 0 bytes`, `(plugin_configuration, 0, 9) = not_found`,
		`(call_body, 0, 9) = not_found`, `(vm_configuration, 1, 9) = ok 2 bytes`, `(vm_configuration, 9, 9) = ok 0 bytes`,
		`proxy_get_buffer_status(vm_configuration) = ok 3`, `proxy_set_buffer_bytes(vm_configuration, 0, 3, 1 bytes) = bad_argument`,
		`proxy_set_buffer_bytes(call_body, 0, 0, 1 bytes) = not_found`)
}

// Section 6: metrics are shared by all VMs; a name twice is one metric; counters
// take no 0 and nothing negative; histograms only record.
func TestMetrics(t *testing.T) {
	s := start(t, func(o *host.Options) { o.Workers = 2 })
	s.try("def:0:c,def:0:c,inc:c:2,inc:c:0,inc:c:-1,val:c,def:1:g,inc:g:-5,rec:g:7,val:g,def:2:h,rec:h:12,inc:h:1,val:h,inc:none:1",
		`proxy_define_metric(counter, "c") = ok 4`, `proxy_define_metric(counter, "c") = ok 8`, `proxy_increment_metric(8, 0) = bad_argument`,
		`proxy_increment_metric(8, -1) = bad_argument`, `proxy_get_metric(8) = ok 2`, `proxy_define_metric(gauge, "g") = ok 5`,
		`proxy_increment_metric(5, -5) = ok`, `proxy_get_metric(5) = ok 7`, `proxy_record_metric(6, 12) = ok`,
		`proxy_increment_metric(6, 1) = bad_argument`, `proxy_get_metric(6) = bad_argument`, `proxy_increment_metric(0, 1) = not_found`)
	s.Worker(1).Request(host.Request{Headers: host.H("x-probe", "rqh=def:0:c,inc:c:3,val:c,1")})
	s.saw("proxy_get_metric(4) = ok 5")
	if s.Counter("c") != 5 || s.Gauge("g") != 7 || len(s.Histogram("h")) != 1 {
		t.Fatal(s.Counter("c"), s.Gauge("g"), s.Histogram("h"))
	}
}

// Shared data across workers, with its compare-and-swap.
func TestSharedData(t *testing.T) {
	s := start(t, func(o *host.Options) { o.Workers = 2 })
	s.try("shget:k,shset:k:v1:9,shget:k", `proxy_get_shared_data("k") = not_found`, `proxy_set_shared_data("k", "v1", 9) = ok`,
		`proxy_get_shared_data("k") = ok "v1" cas 1`)
	s.Worker(1).Request(host.Request{Headers: host.H("x-probe", "rqh=shset:k:bad:7,shget:k,shset:k:v2:last,1")})
	s.saw(`proxy_set_shared_data("k", "bad", 7) = cas_mismatch`)
	s.saw(`proxy_set_shared_data("k", "v2", 1) = ok`)
	if v, _ := s.SharedData("k"); string(v) != "v2" {
		t.Fatal(string(v))
	}
}

// Shared queues: the root context that registered last is told of each entry in
// an event of its own.
func TestSharedQueue(t *testing.T) {
	s := start(t, func(o *host.Options) {
		o.Workers, o.VMID = 2, "vm"
		o.PluginConfig = []byte("configure=qreg:q,1;queue=qpop:last,qpop:last")
	})
	s.get("rqh=qres:vm:q,qres:other:q,qres::none,qpush:1:entry,qpush:9:x,qpop:9,1")
	s.saw(`proxy_resolve_shared_queue("vm", "q") = ok 1`)
	s.saw(`proxy_resolve_shared_queue("other", "q") = not_found`)
	s.saw(`proxy_resolve_shared_queue("", "none") = not_found`)
	s.saw(`proxy_enqueue_shared_queue(9, "x") = not_found`)
	s.saw(`proxy_dequeue_shared_queue(9) = not_found`)
	if got := s.Trace().Of("worker1"); !strings.Contains(got, `proxy_dequeue_shared_queue(1) = ok "entry"`) ||
		!strings.Contains(got, "proxy_dequeue_shared_queue(1) = empty") {
		t.Fatal(got)
	}
}

// Section 5, properties and filter state.
func TestProperties(t *testing.T) {
	s := start(t, func(o *host.Options) {
		o.Name, o.RootID, o.VMID = "n", "r", "v"
		o.Route.Name = "route1"
		o.Route.Metadata = map[string]map[string]any{"ns": {"key": "val", "flag": true, "num": 1.5}}
		o.Properties = map[string]any{"metadata": map[string]any{"filter_metadata": map[string]any{
			"envoy.filters.http.jwt_authn": map[string]any{"payload": map[string]any{"sub": "user-42"}}}}}
	})
	q := s.get("rqh=prop:plugin_name,prop:plugin_root_id,prop:plugin_vm_id,prop:request|url_path,prop:request|method," +
		"prop:xds|route_name,prop:xds|cluster_name,prop:xds|route_metadata|filter_metadata|ns|key,prop:xds|route_metadata|filter_metadata|ns|flag," +
		"prop:xds|route_metadata|filter_metadata|ns|num,prop:metadata|filter_metadata|envoy.filters.http.jwt_authn|payload|sub," +
		"prop:metadata|filter_metadata|envoy.filters.http.jwt_authn|payload|none,prop:route_name,prop:cluster_name,prop:node,prop:listener_direction," +
		"prop:filter_state,prop:request,prop:response|headers,prop:response|code,prop:connection|mtls,setprop:decision:replayed,prop:decision")
	for path, want := range map[string]string{
		"plugin_name": `ok "n"`, "plugin_root_id": `ok "r"`, "plugin_vm_id": `ok "v"`, "request.url_path": `ok "/"`, "request.method": `ok "GET"`,
		"xds.route_name": `ok "route1"`, "xds.cluster_name": `ok "upstream"`, "xds.route_metadata.filter_metadata.ns.key": `ok "val"`,
		"xds.route_metadata.filter_metadata.ns.flag":                         `ok "\x01"`,
		"xds.route_metadata.filter_metadata.ns.num":                          `ok "\x00\x00\x00\x00\x00\x00\xf8?"`,
		"metadata.filter_metadata.envoy.filters.http.jwt_authn.payload.sub":  `ok "user-42"`,
		"metadata.filter_metadata.envoy.filters.http.jwt_authn.payload.none": `not_found`,
		"route_name": "not_found", "cluster_name": "not_found", "node": "not_found", "listener_direction": "not_found",
		"request": "serialization_failure", "response.headers": `ok "\x00\x00\x00\x00"`,
		"filter_state": "serialization_failure", "response.code": "not_found", "connection.mtls": `ok "\x00"`, "decision": `ok "replayed"`,
	} {
		s.saw(`proxy_get_property("` + path + `") = ` + want)
	}
	if v, _ := q.FilterState("wasm.decision"); string(v) != "replayed" {
		t.Fatal(string(v))
	}
	s.Trace().Reset()
	s = start(t, config("configure=setprop:a:b,prop:request|method,1"))
	s.Reconfigure([]byte("configure=setprop:a:b,1"))
	s.saw(`proxy_set_property("a", "b") = not_found`)
}

// Section 5, foreign functions: unknown names are not found; compress is zlib;
// filter state takes registered names only.
func TestForeignFunctions(t *testing.T) {
	s := start(t, func(o *host.Options) {
		o.Foreign = map[string]func([]byte) ([]byte, host.Status){"mine": func(b []byte) ([]byte, host.Status) { return b, host.StatusOK }}
	})
	s.try("ff:none:x,ff:mine:echo,ff:uncompress:junk,ff:compress:aaaa,ff:clear_route_cache:,"+
		"ff:set_envoy_filter_state:%0a%0cenvoy.string%12%05hello,ff:set_envoy_filter_state:%0a%01x%12%01y,ff:declare_property:%0a%01p,ff:declare_property:%0a%01p",
		`proxy_call_foreign_function("none", 1 bytes) = not_found`, `("mine", 4 bytes) = ok 4 bytes`,
		`("uncompress", 4 bytes) = serialization_failure`, `("compress", 4 bytes) = ok`, `("clear_route_cache", 0 bytes) = ok`,
		`("set_envoy_filter_state", 21 bytes) = ok`, `("set_envoy_filter_state", 6 bytes) = not_found`,
		`("declare_property", 3 bytes) = ok`, `("declare_property", 3 bytes) = bad_argument`)
}

// What Envoy answers with a status, or leaves undefined, fails the test; with
// Lenient, Envoy's answer is given.
func TestMisuseIsLoud(t *testing.T) {
	for _, c := range []struct{ op, fault, status string }{
		{"get:9:a", "no such header map", "bad_argument"},
		{"buf:9:0:1", "no such buffer", "bad_argument"},
		{"cont:7", "no such stream type", "bad_argument"},
		{"log:9:x", "no such log level", "bad_argument"},
		{"def:9:x", "no such metric type", "bad_argument"},
		{"badptr", "outside the memory", "invalid_memory_access"},
		{"0;log=reply:500:d:x", "stack is full", "ok"},
	} {
		var fault error
		s := start(t, func(o *host.Options) { o.T, o.Fail = nil, func(err error) { fault = err } })
		s.get("rqh=" + c.op + ",1")
		if fault == nil || !strings.Contains(fault.Error(), c.fault) || !strings.HasPrefix(fault.Error(), "worker0: proxy_") {
			t.Errorf("%s: %v", c.op, fault)
		}
		s.Close()
		s = start(t, func(o *host.Options) { o.Lenient = true })
		s.get("rqh=" + c.op + ",1")
		s.saw("= " + c.status)
	}
	var fault error
	s := start(t, func(o *host.Options) { o.T, o.Lenient, o.Fail = nil, true, func(err error) { fault = err } })
	defer s.Close()
	s.get("rqh=ff:expr_create:x,1")
	if fault == nil || !strings.Contains(fault.Error(), "not modelled") {
		t.Fatal(fault)
	}
}

// The clock is virtual; logs keep what is at the level or above.
func TestClockAndLog(t *testing.T) {
	at := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	s := start(t, func(o *host.Options) { o.Start = at })
	s.Advance(time.Hour)
	s.try("time,level,log:1:quiet,log:3:loud", "proxy_get_current_time_nanoseconds() = ok +1h0m0s",
		"proxy_get_log_level() = ok info", "! debug: quiet", "! warn: loud")
	if !s.Now().Equal(at.Add(time.Hour)) || s.LogText() != "worker0 warn: loud\n" {
		t.Fatal(s.Now(), s.LogText())
	}
}

// A run is the same twice: clock and randomness come from the options.
func TestRunsAreRepeatable(t *testing.T) {
	run := func() string {
		s := start(t)
		s.get("rqh=get:0:x-request-id,call:bridge:/:100,1;cb=eff:0,cont:0")
		s.Advance(time.Second)
		return s.Trace().String()
	}
	if a, b := run(), run(); a != b || !strings.Contains(a, "x-request-id") {
		t.Fatalf("%s\n%s", a, b)
	}
}
