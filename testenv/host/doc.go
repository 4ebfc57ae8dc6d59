// Package host runs a proxy-wasm filter without Envoy and shows what Envoy would
// do with it.
//
// It loads any filter binary of ABI 0.2.0 or 0.2.1, plays scripted clients,
// upstreams and callout clusters against it on a virtual clock, and records
// every callback and host call in a [Trace]:
//
//	bin, err := host.Compile(ctx, wasm)
//	h, err := host.New(ctx, host.Options{Binary: bin, PluginConfig: config,
//		Clusters: map[string]*host.Cluster{"upstream": host.Answer(200, "ok")}})
//	s := h.Worker(0).Request(host.Request{Path: "/orders"})
//	s.Response().Status // 200
//
// # Two layers
//
// The VM layer is a [Binary] and its instances: WASI and the proxy-wasm host
// calls, with the answers of proxy-wasm-cpp-host as Envoy builds it, V8's
// memory limit of 1 GiB and no more clock or randomness than the host gives. The
// Envoy layer is a [Host]: one Envoy process with one HTTP connection manager
// whose chain is this filter and the router.
//
// # Time and order
//
// Nothing happens by itself. Each call of a method here (a request, a chunk, an
// upstream's answer, [Host.Advance]) is one event of Envoy's loop; what follows
// from it runs before the method returns. An upstream's answer given inside its
// handler is an event of its own, after the current one. Timers fire only in
// Advance, in the order of their times. A Host and everything made from it
// belong to one goroutine at a time; a program that serves real traffic takes
// one lock around every method, advances by the time that has passed, and wakes
// for [Host.Next].
//
// # Faults of the filter
//
// What a filter may not do fails the test by [Options].T or Fail rather than
// being answered: a pointer outside the memory, a header map type that does not
// exist, continuing what is not paused. [Options].Lenient gives Envoy's status
// instead. What the model lacks fails the test either way, and an import that
// Envoy does not provide fails Compile.
//
// # What is modelled
//
//   - VMs: one per worker and the main thread's; several root contexts in one VM
//     after [Host.Reconfigure]; on_done that answers false, and proxy_done; the
//     end of the process ([Host.Shutdown]; Close alone calls nothing); traps,
//     failure policies, reload with backoff.
//   - Decoding and encoding: the pauses of headers with and without
//     allow_on_headers_stop_iteration, the four statuses of bodies, trailers,
//     added trailers, buffer limits (413, 500, reset, stall), back-pressure.
//   - Local replies: through the filter's own callbacks, direct, or reset; gRPC;
//     what Envoy adds, drops and does not validate.
//   - The router: attempts, retries (5xx, gateway-error, reset,
//     connect-failure, refused-stream, retriable-4xx), route, per-try and idle timeouts, response
//     flags and code details, x-envoy headers.
//   - HTTP callouts, owned by the root context; synthetic answers; refusals.
//   - TCP connections through the filter and the TCP proxy ([Worker.Connect]).
//   - gRPC callouts and streams; shared data and queues; metrics; properties;
//     filter state; foreign functions compress, uncompress, clear_route_cache,
//     declare_property, set_envoy_filter_state.
//
// # What is not
//
//   - Bytes on the wire: HTTP/1 and HTTP/2 differ here only in where the end of a
//     body is seen, in the size of chunks, in the buffer limit, in what a reset is
//     called, in trailers and in hop-by-hop headers
//     (what a request's connection header names).
//
//   - Other filters, except the two hooks Earlier and Later; access log formats;
//     local_reply_config; internal redirects; shadowing; upgrades; metadata frames.
//
//   - CEL expressions (expr_create, expr_evaluate, expr_delete), signatures
//     (verify_signature, sign): a call fails the test.
//
//   - Connection pools: a cluster has hosts or none, refuses or not, and a
//     limit of requests.
//
//   - Jitter: backoffs are exactly their base interval.
//
//   - Statistics other than the filter's own metrics.
//
//   - Capability restrictions, and ABI 0.1.0.
//
//   - Whole protobuf messages as properties ("metadata" alone): maps come as
//     pairs.
//
// The measured facts behind the model are named in its tests, whose probe
// (testdata/probe) runs in Envoy as well.
package host
