package host_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oncewall/oncewall/testenv/host"
)

// Section 5: context ids are consecutive in a VM; each root context gets
// create, vm_start and configure in this order, in every VM.
func TestStartOrder(t *testing.T) {
	s := start(t, config("trace"), func(o *host.Options) { o.Workers, o.VMConfig = 2, []byte("vm") })
	s.get("")
	s.get("")
	if q := s.get(""); q.ContextID() != 4 {
		t.Fatal(q.ContextID())
	}
	s = start(t, func(o *host.Options) { o.Canary = true })
	if err := s.Reconfigure([]byte("x")); err != nil {
		t.Fatal(err)
	}
	want := []string{"proxy_on_context_create(ctx=2, root=0)", "proxy_on_vm_start(ctx=2, size=0)", "proxy_on_configure(ctx=2, size=1)"}
	s.callbacks(want...)
}

// Section 5: a configuration change makes a new root context in the live VM; old
// streams stay with the old one, which gets done and delete after the drain.
// What is still paused then is cut.
func TestReconfigure(t *testing.T) {
	s := start(t, config("one"))
	old := s.get("rqh=call:bridge:/:0,1")
	if err := s.Reconfigure([]byte("two")); err != nil {
		t.Fatal(err)
	}
	s.get("")
	s.callbacks("proxy_on_context_create(ctx=2, root=1)", "proxy_on_request_headers(ctx=2",
		"proxy_on_context_create(ctx=3, root=0)", "proxy_on_vm_start(ctx=3", "proxy_on_configure(ctx=3",
		"proxy_on_context_create(ctx=4, root=3)", "proxy_on_request_headers(ctx=4", "proxy_on_response_headers(ctx=4",
		"proxy_on_response_body(ctx=4", "proxy_on_response_body(ctx=4", "proxy_on_log(ctx=4", "proxy_on_done(ctx=4", "proxy_on_delete(ctx=4")
	x := s.Pending("bridge")[0]
	s.Drain()
	s.callbacks(append(append([]string(nil), streamEnd...), "proxy_on_done(ctx=1)", "proxy_on_delete(ctx=1)")...)
	// Section 3: a root context that goes cancels its calls, without a callback.
	if !x.Aborted || old.Response().Reset == "" {
		t.Fatalf("aborted %t, %+v", x.Aborted, old.Response())
	}
	x.Respond(200, nil, nil)
	s.callbacks()
}

// Section 5: a configuration that the filter refuses keeps Envoy from starting,
// and on an update changes nothing.
func TestRefusedConfiguration(t *testing.T) {
	bin, err := probe()
	if err != nil {
		t.Fatal(err)
	}
	refused := host.Options{Binary: bin, PluginConfig: []byte("configure=0")}
	if _, err := host.New(context.Background(), refused); err == nil || !strings.Contains(err.Error(), "proxy_on_configure answered false") {
		t.Fatal(err)
	}
	s := start(t)
	if err := s.Reconfigure([]byte("configure=0")); err == nil {
		t.Fatal("accepted")
	}
	s.callbacks()
	ended(t, s.get(""), 200, "ok", "via_upstream", "-")
}

// fatal is a test that is told of its failure and goes on.
type fatal struct{ told []string }

func (f *fatal) Helper()                      {}
func (f *fatal) Cleanup(func())               {}
func (f *fatal) Fatalf(text string, a ...any) { f.told = append(f.told, fmt.Sprintf(text, a...)) }

// A start that fails says what the filter logged, and fails the test that it
// belongs to, so that nobody goes on with a nil Host.
func TestStartFailsTheTest(t *testing.T) {
	bin, err := probe()
	if err != nil {
		t.Fatal(err)
	}
	const log = "main info: why not"
	o := host.Options{Binary: bin, PluginConfig: []byte("configure=log:2:why not,0")}
	if _, err := host.New(context.Background(), o); err == nil || !strings.Contains(err.Error(), log) {
		t.Errorf("%v, without %q", err, log)
	}
	told := &fatal{}
	o.T = told
	if h, err := host.New(context.Background(), o); h != nil || err == nil || len(told.told) != 1 || !strings.Contains(told.told[0], log) {
		t.Errorf("%v %v, told %q", h, err, told.told)
	}
	told = &fatal{}
	if _, err := host.New(context.Background(), host.Options{T: told}); err == nil || len(told.told) != 1 {
		t.Errorf("%v, told %q", err, told.told)
	}
}

// The end of the process: workers before the main thread, and in each done and
// delete of the root context, after those of streams that it cuts. Close alone
// is silent.
func TestShutdown(t *testing.T) {
	s := start(t, silentUpstream, func(o *host.Options) { o.Workers = 2 })
	q := s.get("")
	s.Trace().Reset()
	s.Shutdown()
	var got []string
	for _, e := range s.Trace().Entries() {
		if strings.HasPrefix(e.Text, "> ") {
			got = append(got, e.VM+" "+strings.TrimPrefix(e.Text, "> proxy_"))
		}
	}
	want := []string{"worker0 on_log(ctx=2)", "worker0 on_done(ctx=2)", "worker0 on_delete(ctx=2)",
		"worker0 on_done(ctx=1)", "worker0 on_delete(ctx=1)", "worker1 on_done(ctx=1)", "worker1 on_delete(ctx=1)",
		"main on_done(ctx=1)", "main on_delete(ctx=1)"}
	if !slices.Equal(got, want) || q.Response().Reset == "" || !q.Upstream().Aborted {
		t.Errorf("got %q, want %q; %+v", got, want, q.Response())
	}
	s.Trace().Reset()
	s.Close()
	if n := len(s.Trace().Entries()); n > 0 {
		t.Errorf("Close: %s", s.Trace())
	}

	s = start(t, config("done=0"))
	s.Shutdown()
	s.callbacks("proxy_on_done(ctx=1)")
}

// A root context that answers proxy_on_done with false lives on: its callouts
// are delivered, until proxy_done.
func TestDoneLater(t *testing.T) {
	s := start(t, config("configure=tick:100,1;done=0;tick3=done"))
	if err := s.Reconfigure([]byte("two")); err != nil {
		t.Fatal(err)
	}
	s.Drain()
	s.Advance(250 * time.Millisecond)
	s.callbacks("proxy_on_context_create(ctx=2", "proxy_on_vm_start(ctx=2", "proxy_on_configure(ctx=2", "proxy_on_done(ctx=1)",
		"proxy_on_tick(ctx=1)", "proxy_on_tick(ctx=1)")
	s.Advance(time.Second)
	s.saw("proxy_done() = ok")
	s.callbacks("proxy_on_tick(ctx=1)", "proxy_on_delete(ctx=1)")

	s = start(t)
	s.get("rqh=done")
	s.saw("proxy_done() = not_found")
}

// Fact 2: a trap in a callout's callback answers nobody: the paused stream hangs
// until its timers, under every policy, and so does every other stream of the VM.
func TestTrapInCallout(t *testing.T) {
	for _, p := range []host.FailurePolicy{host.FailClosed, host.FailOpen, host.FailReload} {
		s := start(t, func(o *host.Options) { o.FailurePolicy = p })
		other := s.get("rqh=1")
		q := s.get("rqh=call:bridge:/:0,1;cb=panic")
		s.Pending("bridge")[0].Respond(200, nil, nil)
		s.saw("= trap: ")
		s.Advance(time.Minute)
		if q.Done() || other.Done() || !s.Worker(0).Failed() {
			t.Fatal(q.Response(), other.Response())
		}
		s.Trace().Reset()
		s.Advance(5 * time.Minute)
		// The idle timeout's 504 meets the dead VM on its way and becomes its 503.
		ended(t, q, 503, "", "wasm_fail_stream", "SI")
		// Section 4: no callbacks after a trap, not even the log's.
		s.callbacks()
	}
}

// Fact 10 and section 5: after a trap in the request headers, the request gets
// 503; later ones 503 for ever, or past the filter, or a new VM after the
// backoff.
func TestFailurePolicies(t *testing.T) {
	for _, c := range []struct {
		name        string
		policy      host.FailurePolicy
		early, late int // status of a request at once, and after the backoff
	}{
		{"unspecified", host.Unspecified, 503, 503},
		{"closed", host.FailClosed, 503, 503},
		{"open", host.FailOpen, 200, 200},
		{"reload", host.FailReload, 503, 200},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := start(t, func(o *host.Options) { o.FailurePolicy, o.ReloadBackoff = c.policy, 5*time.Second })
			s.Advance(time.Second)
			ended(t, s.get("rqh=panic"), 503, "", "wasm_fail_stream", "-")
			s.Trace().Reset()
			if got := s.get("").Response().Status; got != c.early {
				t.Errorf("at once: %d, want %d", got, c.early)
			}
			s.callbacks()
			s.Advance(5 * time.Second)
			if got := s.get("").Response().Status; got != c.late {
				t.Errorf("later: %d, want %d", got, c.late)
			}
			if c.policy == host.FailReload {
				s.callbacks(append([]string{"proxy_on_context_create(ctx=1", "proxy_on_vm_start(ctx=1", "proxy_on_configure(ctx=1"},
					then(create, rqh, rsh, rsb, rsb)...)...)
			} else {
				s.callbacks()
			}
		})
	}
}

// Section 5: a stream whose upstream is in flight when its VM dies gets 503 when
// the response comes; a trap in the response's headers is 503 though upstream
// executed; one in the body truncates.
func TestTrapAndResponse(t *testing.T) {
	s := start(t, silentUpstream)
	q, up := s.ask("")
	s.get("rqh=panic")
	up.Respond(200, nil, []byte("ok"))
	ended(t, q, 503, "", "wasm_fail_stream", "-")

	s = start(t)
	q = s.get("rsh=panic")
	ended(t, q, 503, "", "wasm_fail_stream", "-")
	if q.Upstream() == nil {
		t.Fatal("not executed")
	}

	s = start(t, silentUpstream)
	q, up = s.ask("rsb2=panic")
	up.SendHeaders(200, nil, false)
	up.Send([]byte("half"), false)
	up.Send([]byte("rest"), true)
	if r := q.Response(); r.Status != 200 || string(r.Body) != "half" || r.Complete || r.Reset == "" {
		t.Fatalf("%+v", r)
	}
}

// Fact 11: workers have VMs of their own: a trap in one leaves the others.
func TestTrapIsOfOneWorker(t *testing.T) {
	s := start(t, func(o *host.Options) { o.Workers = 2 })
	s.get("rqh=panic")
	ended(t, s.get(""), 503, "", "wasm_fail_stream", "-")
	if got := s.Worker(1).Request(host.Request{}).Response().Status; got != 200 {
		t.Fatal(got)
	}
}
