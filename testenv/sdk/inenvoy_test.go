package sdk

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// answerWithin is how long a client waits: a stream that hangs is a failure.
const answerWithin = 10 * time.Second

// inEnvoy runs requests in the real Envoy.
type inEnvoy struct {
	*envoy
	up     *upstream
	client *http.Client
}

func (p *inEnvoy) do(t *testing.T, a ask) (answer message, reached *message) {
	t.Helper()
	p.up.take()
	method, body := http.MethodGet, io.Reader(nil)
	if a.body != "" {
		method, body = http.MethodPost, io.MultiReader(strings.NewReader(a.body)) // of unknown length
	}
	r, err := http.NewRequestWithContext(t.Context(), method, "http://"+p.ports[a.filter]+a.path, body)
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range a.headers {
		r.Header[k] = v
	}
	if a.trailers != nil {
		// The server takes no trailer that is not announced.
		r.Trailer = http.Header{"X-Was": nil, "X-All": nil}
		for k, v := range a.trailers {
			r.Trailer[k] = v
		}
	}
	began := time.Now()
	response, err := p.client.Do(r)
	if err == nil {
		defer response.Body.Close()
		var b []byte
		b, err = io.ReadAll(response.Body)
		answer = message{status: response.StatusCode, headers: response.Header, body: string(b), trailers: response.Trailer}
	}
	if err != nil {
		if time.Since(began) >= answerWithin {
			t.Fatalf("no answer within %v: the stream hangs", answerWithin)
		}
		answer.cut = true
	}
	return answer, p.up.take()
}

func (p *inEnvoy) logged(t *testing.T, text string) {
	t.Helper()
	eventually(t, "Envoy's log has "+text, func() bool { return strings.Contains(p.log(), text) })
}

// TestEnvoy runs every test in one Envoy, then looks at the trace of its VMs.
func TestEnvoy(t *testing.T) {
	up, echo := startUpstream(t), startEcho(t)
	receiver := httpListener("receiver", plugin("shared", "receiver", "receiver", "first"))
	others := []obj{
		httpListener("http", plugin("http", "http", "", "http")),
		httpListener("sender", plugin("shared", "sender", "sender", "second")),
		httpListener("panics", plugin("panics", "panics", "", "http")),
		tcpListener("tcp", plugin("tcp", "tcp", "", "tcp")),
		tcpListener("tcp-held", plugin("tcp", "tcp", "", "hold")),
		tcpListener("panics-tcp", plugin("panics", "panics", "", "tcp")),
	}
	e := startEnvoy(t, up.address, echo, append(others, receiver)...)
	client := &http.Client{Timeout: answerWithin, Transport: &http.Transport{Protocols: cleartext()}}
	p := &inEnvoy{envoy: e, up: up, client: client}

	runTests(t, p, "http", "receiver", "sender", "panics")
	t.Run("tcp", func(t *testing.T) { testTCP(t, p) })
	t.Run("metrics", func(t *testing.T) { testMetrics(t, e) })
	client.CloseIdleConnections()
	t.Run("end of a plugin", func(t *testing.T) {
		// The VM lives on with a new plugin context, and the old one ends when it
		// says so.
		e.setListeners(t, append(others, httpListener("receiver", plugin("shared", "receiver", "receiver", "third")))...)
		p.logged(t, "leaving first")
		eventually(t, "the plugin context is deleted after proxy_done", func() bool {
			_, after, found := strings.Cut(e.log(), "[vm->host] env.proxy_done(")
			return found && strings.Contains(after, "[host->vm] proxy_on_delete(1)")
		})
	})
	t.Run("refused configuration", func(t *testing.T) {
		e.setListeners(t, append(others, httpListener("refused", plugin("shared", "refused", "none", "refuse")))...)
		eventually(t, "the configuration is refused", func() bool {
			return strings.Contains(e.get("/stats?filter=listener_manager.lds.update_rejected"), ": 1")
		})
	})
	t.Run("coverage", func(t *testing.T) {
		log := e.log()
		covered(t, nil, func(call string) bool { return strings.Contains(log, "[vm->host] env."+call+"(") },
			func(callback string) bool { return strings.Contains(log, "[host->vm] "+callback+"(") })
	})
}

func testMetrics(t *testing.T, e *envoy) {
	eventually(t, "the metrics are published", func() bool {
		stats := e.get("/stats?filter=wasmcustom.sdk_&usedonly")
		return strings.Contains(stats, "wasmcustom.sdk_requests: 8") && strings.Contains(stats, "wasmcustom.sdk_open: 0") &&
			strings.Contains(stats, "wasmcustom.sdk_sizes: P0")
	})
}
