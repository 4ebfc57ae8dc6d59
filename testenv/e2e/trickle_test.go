package e2e

import (
	"bufio"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oncewall/oncewall/testenv/stack"
	"github.com/oncewall/oncewall/testenv/story"
)

// trickleLease is as short as the rules below allow, with room for a busy machine.
const trickleLease = 5 * time.Second

// trickleRules claim before the body is here: by its digest, its beginning, or
// without it. Without the flag the last is the only one.
const trickleRules = `{
  "namespace": "edge",
  "bridge": {"cluster": "oncewall_bridge", "wait_cluster": "oncewall_bridge_wait", "authority": "oncewall", "timeout": "1s"},
  "envoy": {"allow_on_headers_stop_iteration": %t, "buffer_limit": "1MiB"},
  "defaults": {"principal": {"header": "x-user-id", "trusted": true}, "upstream_timeout": "1s", "unavailable": "reject",
    "recovery": {"action": "reacquire", "backend_checks_fence": true, "lease": "5s"}},
  "rules": [%s
    {"name": "none", "match": {"path": {"prefix": "/orders/none"}}, "fingerprint": {"body": "none", "max_body": "1KiB"}},
    {"name": "held", "match": {"path": {"prefix": "/orders/held"}}, "fingerprint": {"body": "none", "max_body": "1KiB"}, "recovery": {"action": "hold", "lease": "5s"}}
  ]
}`

const trickleBodyRules = `
    {"name": "digest", "match": {"path": {"prefix": "/orders/digest"}}, "fingerprint": {"body": "raw", "max_body": "1KiB", "over": "content_digest"}},
    {"name": "prefix", "match": {"path": {"prefix": "/orders/prefix"}}, "fingerprint": {"body": "raw", "max_body": "1KiB", "over": "prefix"}},`

// trickledBody is longer than what those rules read of it.
var trickledBody = strings.Repeat("0123456789abcdef", 256)

// TestTrickledUpload uploads for longer than two leases what was claimed before it
// came: nobody else gets the key meanwhile, and its end is recorded.
func TestTrickledUpload(t *testing.T) {
	t.Parallel()
	for _, flag := range []bool{true, false} {
		t.Run(fmt.Sprintf("flag %t", flag), func(t *testing.T) {
			dir := t.TempDir()
			o := stack.Options{Gateways: 2, Rules: filepath.Join(dir, "rules.json")}
			cases, body := []string{"digest", "prefix", "none", "held"}, trickleBodyRules
			if !flag {
				cases, body = cases[2:], ""
				o.EnvoyPatch = filepath.Join(dir, "patch.yaml")
				write(t, o.EnvoyPatch, flagOff)
			}
			write(t, o.Rules, fmt.Sprintf(trickleRules, flag, body))
			s := start(t, o)
			var all []*upload
			for _, name := range cases {
				all = append(all, trickle(t, s, name))
			}
			doors := []*story.Client{door(t, s), client(t, s.Gateway(1), story.HTTP1)}
			began, asked := time.Now(), 0
			eventually(t, "the end of two leases", 20*trickleLease, func() bool {
				asked++
				for _, u := range all {
					u.say(t, u.rest[:1])
					u.rest = u.rest[1:]
					// On a busy machine the bridge may come too late for one of so many.
					if a := doors[asked%2].Send(t.Context(), u.again); a.Kind() != "409 in-flight" && a.Kind() != "503 unavailable" {
						t.Fatalf("%s, after %s: %s", u.name, time.Since(began), a)
					}
				}
				return time.Since(began) > 2*trickleLease+time.Second
			})
			for _, u := range all {
				t.Run(u.name, func(t *testing.T) { u.end(t, s, doors) })
			}
		})
	}
}

// upload is one that goes on.
type upload struct {
	name, key string
	conn      net.Conn
	rest      string
	again     story.Request
}

func (u *upload) say(t *testing.T, text string) {
	t.Helper()
	if _, err := io.WriteString(u.conn, text); err != nil {
		t.Fatal(err)
	}
}

// trickle begins an upload through the first gateway, far enough to be claimed.
func trickle(t *testing.T, s *stack.Stack, name string) *upload {
	t.Helper()
	sum := sha256.Sum256([]byte(trickledBody))
	digest := "sha-256=:" + base64.StdEncoding.EncodeToString(sum[:]) + ":"
	u := &upload{name: name, key: "trickled-" + name, rest: trickledBody[1500:]}
	u.again = story.Post("/orders/"+name, u.key).With("content-digest", digest).Body(trickledBody)
	conn, err := net.DialTimeout("tcp", s.Gateway(0), rawLimit)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	u.conn = conn
	u.say(t, fmt.Sprintf("POST /orders/%s HTTP/1.1\r\nhost: shop\r\nx-user-id: ada\r\nidempotency-key: %s\r\ncontent-type: application/json\r\ncontent-digest: %s\r\ncontent-length: %d\r\n\r\n%s",
		name, u.key, digest, len(trickledBody), trickledBody[:1500]))
	eventually(t, "the backend has its beginning", 20*time.Second, func() bool {
		x, err := story.Shop{Addr: s.Shop()}.Executions(t.Context(), u.key)
		return err == nil && x.Count == 1
	})
	return u
}

// end sends the rest, or breaks off.
func (u *upload) end(t *testing.T, s *stack.Stack, doors []*story.Client) {
	if u.name == "held" {
		_ = u.conn.Close()
		for _, c := range doors {
			wantKind(t, "cut", retryWhile(t, c, u.again, "409 in-flight", 30*time.Second), "409 outcome-unknown")
		}
		wantRuns(t, s, u.key, 1)
		return
	}
	u.say(t, u.rest)
	if err := u.conn.SetReadDeadline(time.Now().Add(rawLimit)); err != nil {
		t.Fatal(err)
	}
	first := readRaw(bufio.NewReader(u.conn), "POST")
	if first.err != nil || first.status != 201 || !slices.Equal(first.header("idempotency-status"), []string{"created"}) || len(first.header("idempotency-recorded")) != 0 {
		t.Fatalf("the upload: %s", first)
	}
	for _, c := range doors {
		// Without the flag the answer is kept as it passes.
		a := retryWhile(t, c, u.again, "409 in-flight", 30*time.Second)
		wantKind(t, "repeat", a, "201 replayed")
		if string(a.Body) != string(first.body) {
			t.Errorf("the replay is another answer")
		}
	}
	wantRuns(t, s, u.key, 1)
}
