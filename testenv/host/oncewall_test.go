package host_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/oncewall/oncewall/filter/wire"
	"github.com/oncewall/oncewall/testenv/host"
	"github.com/oncewall/oncewall/testenv/wasmbuild"
)

// oncewall is the plugin of the present sources.
var oncewall = sync.OnceValues(func() (*host.Binary, error) {
	path, err := wasmbuild.Plugin()
	if err != nil {
		return nil, err
	}
	wasm, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return host.Compile(context.Background(), wasm, host.CompileOptions{CacheDir: filepath.Join(outDir, "wazero-cache")})
})

// bridge answers every operation of a batch by f, as a bridge does.
func bridge(t testing.TB, f func(op *wire.Operation) wire.Result) *host.Cluster {
	return &host.Cluster{HTTP2: true, Handle: func(x *host.Exchange) {
		var b wire.Batch
		if err := wire.DecodeBatch(x.Body, &b); err != nil {
			t.Fatal(err)
		}
		var a wire.Answer
		for i := range b.Ops {
			a.Results = append(a.Results, f(&b.Ops[i]))
		}
		body, err := wire.AppendAnswer(nil, &a)
		if err != nil {
			t.Fatal(err)
		}
		x.Respond(200, host.H("content-type", wire.ContentType, wire.StampHeader, "1"), body)
	}}
}

// The filter of this project claims a key, forwards the request with its fence,
// and records the response before it answers.
func TestClaim(t *testing.T) {
	bin, err := oncewall()
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := os.ReadFile(filepath.Join("..", "stack", "shop.json"))
	if err != nil {
		t.Fatal(err)
	}
	var asked []wire.Kind
	h, err := host.New(context.Background(), host.Options{
		T: t, Binary: bin, PluginConfig: cfg, AllowOnHeadersStopIteration: true,
		Clusters: map[string]*host.Cluster{
			"upstream": host.Answer(201, "made"),
			"oncewall_bridge": bridge(t, func(op *wire.Operation) wire.Result {
				asked = append(asked, op.Kind)
				if op.Kind == wire.Claim {
					return wire.Result{Code: wire.Created, Fence: 1, Attempt: 1, LeaseMS: 10000}
				}
				return wire.Result{Code: wire.OK}
			}),
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	h.Trace().Reset()
	s := h.Request(host.Request{Method: "POST", Path: "/orders", Body: []byte(`{"a":1}`),
		Headers: host.H("idempotency-key", `"abc"`, "content-type", "application/json", "x-user-id", "u1")})
	h.Advance(time.Second)
	if r := s.Response(); r.Status != 201 || string(r.Body) != "made" || !r.Complete {
		t.Fatalf("%+v", r)
	}
	if !slices.Equal(asked, []wire.Kind{wire.Claim, wire.Complete}) {
		t.Fatal(asked)
	}
	if fence := s.Upstream().Headers.Get("idempotency-fence"); fence != "1" {
		t.Fatal(fence)
	}
	if n := h.Counter("idempotency.created"); n != 1 {
		t.Fatalf("idempotency.created %d\n%s", n, h.Trace())
	}
}
