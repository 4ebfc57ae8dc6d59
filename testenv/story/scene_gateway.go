package story

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/oncewall/oncewall/filter/rules"
	"github.com/oncewall/oncewall/filter/wire"
	"github.com/oncewall/oncewall/testenv/stack"
)

func number(s string) uint64 {
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// GatewayKilled: an Envoy dies with a request in its hands. Its claim is good
// until the lease ends; then another gateway's claim is newer, and the dead one's
// work is refused wherever it turns up.
func GatewayKilled(ctx context.Context, w *World) Result {
	s := w.begin(ctx, w.Town, "An Envoy is killed with a request in flight")
	second := NewClient(s.stack.Gateway(1), HTTP1, 8)
	defer second.Close()
	key := w.Key("crash")
	note := Post("/notes", key)

	answer := s.later(second, note.With("x-shop-delay", "900ms"))
	s.arrived(key, 1)
	claimed := time.Now()
	s.must(s.stack.Kill(stack.GatewayPart(1)))
	s.row("SIGKILL while the shop is at work", Exactly(1, Lost), key, 1, answer())
	s.row("a retry through the other gateway", Exactly(1, "409 in-flight"), key, 1, s.send(note))
	restarted := make(chan error, 1)
	go func() { restarted <- s.stack.StartPart(ctx, stack.GatewayPart(1)) }()

	got := s.retryUntil(s.door, note, 3*notesLease, "409 in-flight")
	s.row("retries: only the lease's end lets one run", Exactly(1, "201 created").Rest("409 in-flight"), key, 2, got...)
	held := time.Since(claimed)
	s.holds(held > notesLease/2, got, "the retry ran %s after the claim, in a lease of %s", held, notesLease)
	old, young := s.newerOwner(key)

	code, err := s.lateCompletion(key, "notes", number(old))
	s.must(err)
	s.add(Row{Step: "the dead Envoy's completion turns up", Saw: code, Expected: "stale", Ran: 2, WantRan: 2, OK: code == "stale" || s.over})
	late := s.sendTo(NewClient(s.stack.Shop(), HTTP1, 1), note.With("idempotency-fence", old))
	s.rowUncounted("its request turns up at the shop", Exactly(1, "409 unmarked"), late)
	s.holds(strings.Contains(string(late.Body), "stale-fence"), []Answer{late}, "the shop refuses the fence %s below %s", old, young)

	s.must(<-restarted)
	key = w.Key("back")
	s.row("the killed Envoy is back", Exactly(1, "201 created"), key, 1, s.sendTo(second, Post("/notes", key)))
	return s.end()
}

// lateCompletion sends the bridge a completion of ada's key under a fence, as a
// gateway would that was thought dead, and returns the bridge's word.
func (s *stage) lateCompletion(key, scope string, fence uint64) (string, error) {
	if s.over {
		return "", nil
	}
	secret, err := os.ReadFile(filepath.Join(s.stack.Dir(), "bridge.secret"))
	if err != nil {
		return "", err
	}
	result, err := wire.AppendResponse(nil, &wire.Response{Status: 201, Body: []byte("late")})
	if err != nil {
		return "", err
	}
	batch, err := wire.AppendBatch(nil, &wire.Batch{
		Namespace: "edge",
		Policies: []wire.Policy{{
			Generation: "late", TTLMS: 60_000, LeaseMS: notesLease.Milliseconds(), MaxAttempts: 3, Recovery: wire.Reacquire,
		}},
		Ops: []wire.Operation{{
			Kind: wire.Complete, BudgetMS: 1000, Scope: scope, Principal: headerPrincipal("x-user-id", "ada"), Key: key,
			Owner: make([]byte, wire.OwnerBytes), Fence: fence, Status: 201, Result: result,
		}},
	})
	if err != nil {
		return "", err
	}
	b, err := s.bridgeCall(batch, strings.TrimSpace(string(secret)))
	if err != nil {
		return "", err
	}
	var a wire.Answer
	if err := wire.DecodeAnswer(b, &a); err != nil || len(a.Results) != 1 {
		return "", fmt.Errorf("bridge: %d results: %w", len(a.Results), orNone(err))
	}
	if a.Results[0].Code == wire.Stale {
		return "stale", nil
	}
	return fmt.Sprintf("code %d %s", a.Results[0].Code, a.Results[0].Text), nil
}

func (s *stage) bridgeCall(batch []byte, secret string) ([]byte, error) {
	c := NewClient(s.stack.Bridge(0), HTTP2, 1)
	defer c.Close()
	r := Request{method: "POST", path: wire.BatchPath, body: batch}
	a := c.Send(s.ctx, r.With("content-type", wire.ContentType).With("authorization", "Bearer "+secret))
	if a.Err != nil || a.Status != 200 {
		return nil, fmt.Errorf("bridge: %s", a)
	}
	return a.Body, nil
}

// headerPrincipal encodes a principal as the filter does: kind, then issuer and
// value, each with its length.
func headerPrincipal(header, value string) string {
	b := []byte{byte(rules.PrincipalHeader)}
	for _, s := range []string{header, value} {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(s)))
		b = append(b, s...)
	}
	return string(b)
}
