package scenario

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/oncewall/oncewall/filter/wire"
	"github.com/oncewall/oncewall/testenv/stack"
)

// Town is a real Envoy with the filter, a real bridge behind a proxy that can
// spoil what passes, and an upstream that a story scripts. Stories are told in
// it one after the other.
type Town struct {
	stack    *stack.Stack
	upstream *door
	proxy    *door
	client   *http.Client // of the real bridge
	now      atomic.Pointer[envoyWorld]
	told     int
}

// townPatch points the gateway's clusters at the doors, and sets the mode.
// The runtime lets a story lower what circuit breakers allow.
const townPatch = `
layered_runtime: {layers: [{name: admin, admin_layer: {}}]}
static_resources:
  listeners:
  - name: gateway
    filter_chains:
    - name: gateway
      filters:
      - name: envoy.filters.network.http_connection_manager
        typed_config:
          http_filters:
          - name: oncewall
            typed_config: {config: {allow_on_headers_stop_iteration: %t}}
  clusters:
  - name: shop
    load_assignment: {endpoints: [{lb_endpoints: [{endpoint: {address: {socket_address: {port_value: %s}}}}]}]}
  - name: oncewall_bridge
    load_assignment: {endpoints: [{lb_endpoints: [{endpoint: {address: {socket_address: {port_value: %s}}}}]}]}
`

// OpenTown starts a town with a plugin configuration; dir takes its files.
func OpenTown(ctx context.Context, dir string, config []byte, flag bool) (*Town, error) {
	t := &Town{client: &http.Client{Transport: &http.Transport{Protocols: new(http.Protocols)}}}
	t.client.Transport.(*http.Transport).Protocols.SetUnencryptedHTTP2(true)
	var err error
	if t.upstream, err = openDoor(http.HandlerFunc(t.serveUpstream)); err != nil {
		return nil, err
	}
	if t.proxy, err = openDoor(http.HandlerFunc(t.serveBridge)); err != nil {
		return nil, errors.Join(err, t.Close())
	}
	rules, patch := filepath.Join(dir, "rules.json"), filepath.Join(dir, "patch.yaml")
	err = errors.Join(os.WriteFile(rules, config, 0o600),
		os.WriteFile(patch, fmt.Appendf(nil, townPatch, flag, t.upstream.port(), t.proxy.port()), 0o600))
	if err == nil {
		t.stack, err = stack.Start(ctx, stack.Options{Rules: rules, EnvoyPatch: patch, IssueLife: 30 * time.Second})
	}
	if err != nil {
		return nil, errors.Join(err, t.Close())
	}
	return t, nil
}

// Close ends the town.
func (t *Town) Close() error {
	var err error
	if t.stack != nil {
		err = t.stack.Close()
	}
	for _, d := range []*door{t.upstream, t.proxy} {
		if d != nil {
			d.shut()
		}
	}
	return err
}

// Tell tells one variant of a story.
func (t *Town) Tell(ctx context.Context, v *Variant) error {
	w := &envoyWorld{town: t, ctx: ctx, clients: map[string]*envoyClient{}, shut: map[string]bool{}, number: t.told, began: time.Now()}
	t.told++
	w.bridge = newBridge(func() time.Duration { return time.Since(w.began) }, w.serve)
	w.bridge.serveWait = func(batch []byte, h Lines) bridgeAnswer { return w.ask(wire.WaitPath, batch, h) }
	w.backend = newBackend(w.bridge)
	if err := w.loadStats(); err != nil {
		return err
	}
	w.zero = w.stats
	t.now.Store(w)
	defer w.close()
	return (&stage{w: w, backend: w.backend, bridge: w.bridge}).play(v)
}

// serveUpstream is upstream. Requests of earlier stories are left alone.
func (t *Town) serveUpstream(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	world := t.now.Load()
	if err != nil || world == nil || r.Header.Get(storyHeader) != strconv.Itoa(world.number) {
		panic(http.ErrAbortHandler)
	}
	x := &doorRequest{turn: newTurn(w, r), r: Request{Method: r.Method, Path: r.URL.RequestURI(), Headers: linesOf(r.Header), Body: body}}
	world.backend.arrive(x)
	x.serve()
}

// serveBridge is the way to the bridge.
func (t *Town) serveBridge(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	world := t.now.Load()
	if err != nil || world == nil {
		panic(http.ErrAbortHandler)
	}
	c := doorCall{newTurn(w, r)}
	world.bridge.arrive(body, linesOf(r.Header), c)
	c.serve()
}

// serve asks the real bridge.
func (w *envoyWorld) serve(batch []byte, h Lines) bridgeAnswer {
	return w.ask(wire.BatchPath, batch, h)
}

func (w *envoyWorld) ask(path string, batch []byte, h Lines) bridgeAnswer {
	unavailable := func(err error) bridgeAnswer { return bridgeAnswer{status: 502, body: []byte(err.Error())} }
	req, err := http.NewRequest(http.MethodPost, "http://"+w.town.stack.Bridge(0)+path, bytes.NewReader(batch))
	if err != nil {
		return unavailable(err)
	}
	for _, name := range []string{"content-type", "authorization"} {
		req.Header.Set(name, h.Get(name))
	}
	resp, err := w.town.client.Do(req)
	if err != nil {
		return unavailable(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return unavailable(err)
	}
	a := bridgeAnswer{status: resp.StatusCode, body: body}
	for _, name := range []string{"content-type", wire.StampHeader} {
		if v := resp.Header.Get(name); v != "" {
			a.headers = append(a.headers, [2]string{name, v})
		}
	}
	return a
}

// admin asks Envoy's admin.
func (t *Town) admin(ctx context.Context, method, path string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, method, "http://"+t.stack.GatewayAdmin(0)+path, nil)
	if err != nil {
		return "", err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("admin: %s: status %d: %s", path, resp.StatusCode, b)
	}
	return string(b), err
}

// breaker closes a cluster's circuit breaker for everything new, or puts it back
// to what the shipped configuration says.
func (t *Town) breaker(ctx context.Context, cluster string, shut bool) error {
	n := "1024"
	if shut {
		n = "0"
	}
	key := "circuit_breakers." + cluster + ".default."
	_, err := t.admin(ctx, http.MethodPost, "/runtime_modify?"+key+"max_requests="+n+"&"+key+"max_pending_requests="+n)
	return err
}

// statsOf reads Envoy's numbers whose names contain filter.
func (t *Town) statsOf(ctx context.Context, filter string) (map[string]int, error) {
	text, err := t.admin(ctx, http.MethodGet, "/stats?filter="+filter)
	if err != nil {
		return nil, err
	}
	stats := map[string]int{}
	for _, line := range strings.Split(text, "\n") {
		name, value, _ := strings.Cut(line, ": ")
		if n, err := strconv.Atoi(value); err == nil {
			stats[name] = n
		}
	}
	return stats, nil
}
