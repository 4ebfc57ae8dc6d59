package e2e

import (
	"bytes"
	"context"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/redis/rueidis"

	"github.com/oncewall/oncewall/testenv/stack"
	"github.com/oncewall/oncewall/testenv/story"
)

// TestNothingOfARequestStays sends requests whose every part carries a word of its
// own, through every kind of answer and a bridge's death, and then looks for the
// words where they must not be: in the logs and metrics of every part, and in all
// that Redis holds.
func TestNothingOfARequestStays(t *testing.T) {
	w := world(t)
	c := door(t, w.Town)
	mark := strings.ReplaceAll(w.Key("mark"), "-", "")
	words := map[string]string{}
	word := func(of string) string {
		words[of] = mark + of
		return words[of]
	}
	request := func(path, key string) story.Request {
		return story.Post(path, word(key)).As(word("principal")).Body(`{"card":"`+word("body")+`"}`).
			With("x-private", word("header")).With("authorization", "Bearer "+word("credential")).
			With("x-shop-body", word("answer")).With("x-shop-header", "x-answer: "+word("answerheader"))
	}
	first := request("/orders", "first")
	for i, v := range []struct {
		r    story.Request
		kind string
	}{
		{first, "201 created"},
		{first, "201 replayed"},
		{first.Body(`{"card":"` + word("otherbody") + `"}`), "422 key-reused"},
		{request("/orders", "large").With("x-shop-body-bytes", "300000"), "201 created"},
		{request("/uploads", "cut").With("x-shop-fault", "close-after"), "503 outcome-unknown"},
		{request("/uploads", "cut"), "409 outcome-unknown"},
		{request("/checkout", "forged"), "400 key-not-issued"},
		{request("/orders", "odd").Key(word("odd") + " x"), "400 key-invalid"},
	} {
		got := c.Send(t.Context(), v.r)
		// What a cut answer becomes is Envoy's to say.
		if got.Kind() != v.kind && v.kind != "503 outcome-unknown" {
			t.Errorf("request %d: %s, want %s", i, got.Kind(), v.kind)
		}
	}
	if err := w.Town.Kill(stack.BridgePart(0)); err != nil {
		t.Fatal(err)
	}
	away := c.Send(t.Context(), request("/orders", "away"))
	unprotected := c.Send(t.Context(), request("/uploads", "unprotected"))
	if err := w.Town.StartPart(t.Context(), stack.BridgePart(0)); err != nil {
		t.Fatal(err)
	}
	wantKind(t, "store away", away, "503 unavailable")
	wantKind(t, "unprotected", unprotected, "201 unprotected")

	places := map[string][]byte{"what Redis holds": everything(t, w.Town.Redis())}
	for _, part := range w.Town.Parts() {
		b, err := os.ReadFile(w.Town.Log(part))
		if err != nil {
			t.Fatal(err)
		}
		places[filepath.Base(w.Town.Log(part))] = b
	}
	for name, url := range map[string]string{
		"the bridge's metrics": "http://" + w.Town.BridgeAdmin(0) + "/metrics",
		"Envoy's stats":        "http://" + w.Town.GatewayAdmin(0) + "/stats",
	} {
		places[name] = page(t, url)
	}
	// It would be in vain to look in empty places.
	if !bytes.Contains(places["what Redis holds"], []byte("\x01\x01\x05stack")) {
		t.Error("no result sealed under the stack's secret is in Redis")
	}
	if !bytes.Contains(places["the bridge's metrics"], []byte("oncewall_bridge_operations_total")) {
		t.Error("no metrics")
	}
	for place, content := range places {
		for of, word := range words {
			if bytes.Contains(content, []byte(word)) {
				t.Errorf("%s: the word of %q is there", place, of)
			}
		}
		if len(content) == 0 && !strings.HasPrefix(place, "redis") {
			t.Logf("%s is empty", place)
		}
	}
}

// everything returns every key and value of every node, as bytes.
func everything(t *testing.T, nodes []string) []byte {
	t.Helper()
	var all []byte
	for _, addr := range nodes {
		node, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{addr}, ForceSingleClient: true, DisableCache: true})
		if err != nil {
			t.Fatal(err)
		}
		defer node.Close()
		if slices.Contains(strings.Fields(info(t, node)), "role:slave") {
			continue // it holds what its master holds
		}
		for cursor := uint64(0); ; {
			page, err := node.Do(t.Context(), node.B().Scan().Cursor(cursor).Count(1000).Build()).AsScanEntry()
			if err != nil {
				t.Fatal(err)
			}
			for _, key := range page.Elements {
				all = append(append(all, key...), '\n')
				all = append(all, value(t.Context(), node, key)...)
			}
			if cursor = page.Cursor; cursor == 0 {
				break
			}
		}
	}
	return all
}

func info(t *testing.T, node rueidis.Client) string {
	t.Helper()
	s, err := node.Do(t.Context(), node.B().Info().Section("replication").Build()).ToString()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// value returns what a key of either type holds; nothing where it has ended.
func value(ctx context.Context, node rueidis.Client, key string) []byte {
	if s, err := node.Do(ctx, node.B().Get().Key(key).Build()).AsBytes(); err == nil {
		return s
	}
	fields, err := node.Do(ctx, node.B().Hgetall().Key(key).Build()).AsStrMap()
	var all []byte
	if err == nil {
		for name, v := range fields {
			all = append(append(append(all, name...), '='), v...)
		}
		return all
	}
	members, _ := node.Do(ctx, node.B().Zrange().Key(key).Min("0").Max("-1").Build()).AsStrSlice()
	return []byte(strings.Join(members, "\n"))
}

func page(t *testing.T, url string) []byte {
	t.Helper()
	r, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	var b bytes.Buffer
	if _, err := b.ReadFrom(r.Body); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
