// Package scenario tells stories of the filter: one text says what clients,
// upstream and the way to the bridge do, and what comes of it. It is told three
// times, each time to the same end:
//
//   - natively, against the core (package filter) in a thin model of Envoy;
//   - in the harness (package testenv/host), with the compiled filter, where the
//     trace of every callback and host call must be the one in testdata/golden;
//   - in a real Envoy, with real sockets and in real time.
//
// The bridge is the real one in all three: its handler over the embedded store,
// on a virtual clock, in the first two, its program in the third. What may go
// wrong happens on the way to it.
//
// Texts lie in testdata/stories, the configurations that they name in
// testdata/rules. go test ./testenv/scenario -update writes the golden traces
// again; look at the difference before you keep it.
//
// # A story
//
//	story: A repeat gets the recorded answer, without a second run
//	rules: main
//
//	upstream: 201 body=done
//	a: POST /orders key=k1 body={"a":1}
//	a sees: 201 created body=done
//	b: as a
//	b sees: 201 replayed body=done idempotent-replayed=true
//	backend ran: 1
//
// Lines are read one after the other; # begins a comment line, and what is not
// known is an error with its line. Values with spaces stand in double quotes
// with Go's escapes: body="{ \"a\": 1 }". size=N is a body of N bytes.
//
// Before the first step:
//
//	story: TITLE                what it shows
//	rules: NAME                 testdata/rules/NAME.json
//	mode: on | off | both       allow_on_headers_stop_iteration. If not said, both,
//	                            and off neither in a real Envoy nor with a golden
//	                            trace
//	runs: core harness envoy    the runners that it is for; all if not said
//	each X: V | W | ...         told once for each value, which replaces {X}
//	envoy: V | W | ...          the values for which a real Envoy and a golden
//	                            trace are worth it; all if not said
//
// With the mode off the configuration is the same without request bodies: its
// rules do not compare them, and those with keys in them are left out. A step that
// is for one mode alone begins with "on only: " or "off only: ".
//
// # Clients
//
// A client is a name in lower case that sends one request:
//
//	a: METHOD /path [key=K] [user=U] [body=B | size=N] [name=value ...] [open] [h2]
//	a: as b [...]               b's request again, with changes
//	a sends: body=B             more of the body of an open request
//	a ends: body=B, a ends      the last of it
//	a leaves                    closes its connection or resets its stream
//	a waits                     no answer has begun
//	a sees: STATUS [CODE] [body=B | size=N] [has=TEXT] [name=value] [!name] [within=D]
//	a is cut                    its answer does not come to a proper end
//
// The word :authority=HOST is the host that the request is for.
//
// user is ada if not said, and nobody if empty; it travels as x-user-id. key=@b
// is the key that was issued to b. path=/x?y=1 replaces the path. CODE is the
// Idempotency-Status, - for none; a value * stands for any; several lines of one
// name are compared joined by commas; !name must not be there. A client that
// sees nothing for 10s hangs, which fails.
//
// # Upstream
//
// What it does with requests from now on, and with one that it holds:
//
//	upstream: STATUS [body=B | size=N] [name=value] [trailer.name=value] [after=D]
//	upstream: half STATUS ...   half of the body, then the connection breaks
//	upstream: holds | resets | refuses | absent
//	upstream answers a: STATUS ...
//	upstream begins a: STATUS ..., upstream sends a: body=B, upstream ends a[: body=B]
//	upstream resets a
//	backend ran: N              that many requests have arrived whole, no more
//	backend saw a: [body=B] [name=value] [!name]
//
// # The way to the bridge
//
//	bridge [OPERATION,...]: FAULT [once | twice]
//	bridge: answers             nothing is wrong any more
//	bridge has: N               N answers are held
//	bridge lets go [backwards]  sends what is held, the last first
//	bridge is quiet             every last word on a claim is acknowledged
//
// A fault meets batches with one of the operations (issue, claim, executed,
// complete, release, unknown, renew, wait, get), all if none is named; the newest line
// that fits counts. Unless it says otherwise the bridge does its work and only the
// answer suffers, which is the worse case:
//
//	loses       the batch is lost            swallows    the answer is lost
//	delays D    answered after D             crawls D    done and answered after D
//	holds       until the bridge lets go     refuses     connections are refused
//	garbage     200, stamped, no answer      empty       200, stamped, no body
//	half        half of it, as if all        cut         half of it, then a reset
//	miscounts   one result too few           too-large   over 32 MiB
//	unstamped   without the bridge's stamp   fails       the bridge's own 500
//	busy        Envoy's 503, nothing done    resets      reset instead of an answer
//	absent      Envoy sends nothing: it knows no healthy host, or (the real one)
//	            its circuit breaker is open
//
// # Time, counters, and what is never said
//
//	wait D                      time passes: virtual, or in Envoy real
//	stats: name=N ...           the filter's counters, without "idempotency."
//
// A request with the header x-observed is one that its rule only observes.
//
// Whatever a story says, each telling also fails when a request reaches upstream
// without the fence of a live grant (or the mark that says unprotected), when it
// does so although its key is known to be finished, when a claim's last word is
// not repeated until the bridge acknowledges it, when a stream or a timer is left
// behind, and when the filter panics.
package scenario
