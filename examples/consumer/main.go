// Command consumer is an example: it takes messages from a queue and has their
// effect once, however often a message is delivered and whenever the process dies.
//
//	consumer --bridge http://127.0.0.1:8081 --secret-file FILE --queue DIR --sink DIR
//
// The queue is a folder of JSON files, {"type":"payment.due","id":"4711","amount":250},
// and deleting a file acknowledges it. The sink is where the effect is: it refuses
// a fence lower than one it has seen, and it knows what it has done under a key.
// Both stand for whatever a real consumer has.
//
// --die makes it stop for ever at one point, for tests that kill it there.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/oncewall/oncewall/client"
)

// message is what the queue holds.
type message struct {
	Type   string `json:"type"`
	ID     string `json:"id"`
	Amount int    `json:"amount"`
}

// key names the business action, not the delivery: the same payment is the same
// key whoever sends it how often. The length keeps ("a", "b:c") and ("a:b", "c")
// apart.
func (m message) key() string { return fmt.Sprintf("%d:%s:%s", len(m.Type), m.Type, m.ID) }

// consumer has the effects of messages.
type consumer struct {
	client *client.Client
	sink   sink
	die    string
}

// handle has the effect of one message, or learns that it was had before.
func (c *consumer) handle(ctx context.Context, m message) (client.Result, error) {
	return c.client.Do(ctx, m.key(), func(ctx context.Context, fence uint64) (client.Result, error) {
		fmt.Println("claimed", m.ID, fence)
		c.stop("claimed")
		receipt, err := c.sink.apply(m.key(), fence, m.Amount)
		if errors.Is(err, errFence) {
			// The sink has seen a newer owner, and so has done nothing for this one.
			return client.Result{}, errors.Join(client.ErrNotExecuted, err)
		}
		if err != nil {
			return client.Result{}, err
		}
		fmt.Println("applied", m.ID, fence)
		c.stop("applied")
		return client.Result{Status: 200, Body: []byte(receipt)}, nil
	})
}

// stop stands still for ever at the point that --die names; the claim is renewed
// meanwhile, as in a process that is merely slow.
func (c *consumer) stop(at string) {
	if c.die == at {
		select {}
	}
}

// drain handles messages until the queue is empty.
func (c *consumer) drain(ctx context.Context, queue string) error {
	for {
		files, err := filepath.Glob(filepath.Join(queue, "*.json"))
		if err != nil || len(files) == 0 {
			return err
		}
		for _, file := range files {
			if err := c.deliver(ctx, file); err != nil {
				return fmt.Errorf("%s: %w", filepath.Base(file), err)
			}
		}
	}
}

// deliver handles one message and acknowledges it. A message that another
// consumer has is left in the queue for now.
func (c *consumer) deliver(ctx context.Context, file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var m message
	if err := json.Unmarshal(text, &m); err != nil {
		return err
	}
	result, err := c.handle(ctx, m)
	var p *client.ProblemError
	if errors.As(err, &p) {
		switch p.Code {
		case "in-flight", "outcome-unknown":
			fmt.Println("waiting", m.ID)
			return pause(ctx, max(p.RetryAfter(), 100*time.Millisecond))
		case "response-not-kept", "key-used", "key-expired":
			// It has run; its receipt is not to be had.
			fmt.Println("done before", m.ID)
			return os.Remove(file)
		}
	}
	if err != nil {
		return err
	}
	fmt.Println("done", m.ID, string(result.Body))
	c.stop("done")
	return os.Remove(file)
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

func main() {
	bridge := flag.String("bridge", "http://127.0.0.1:8081", "the bridge's data `listener`")
	secretFile := flag.String("secret-file", "", "`file` with a secret of role consumer")
	queue := flag.String("queue", "", "`folder` of messages")
	sinkDir := flag.String("sink", "", "`folder` of effects")
	namespace := flag.String("namespace", "jobs", "`namespace` of the keys")
	lease := flag.Duration("lease", 30*time.Second, "how `long` a claim is trusted without news")
	die := flag.String("die", "", "stop for ever when `claimed`, applied or done")
	flag.Parse()
	if err := run(*bridge, *secretFile, *queue, *sinkDir, *namespace, *lease, *die); err != nil {
		fmt.Fprintln(os.Stderr, "consumer:", err)
		os.Exit(1)
	}
}

func run(bridge, secretFile, queue, sinkDir, namespace string, lease time.Duration, die string) error {
	secret, err := os.ReadFile(secretFile)
	if err != nil {
		return err
	}
	c, err := client.New(client.Config{
		URL: bridge, Secret: strings.TrimRight(string(secret), "\r\n"),
		Namespace: namespace, Scope: "payments", Principal: "payments-consumer",
		Timeout: min(client.DefaultTimeout, lease/3),
		// Reacquire, because the sink checks fences. A sink that cannot wants Hold.
		Policy: client.Policy{TTL: 24 * time.Hour, Lease: lease, Recovery: client.Reacquire, MaxAttempts: 10},
	})
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return (&consumer{client: c, sink: sink{sinkDir}, die: die}).drain(ctx, queue)
}
