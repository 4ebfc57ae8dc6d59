// Command story plays the story of Oncewall: it starts the local stack on free
// ports, sends requests through the real Envoy, prints what every client saw and
// how often the backend really ran, and ends everything again. It exits 0 only
// if every count is right.
//
// Environment: STORE, CONCURRENCY and ENVOY as for `make up`; NO_COLOR.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/oncewall/oncewall/testenv/stack"
	"github.com/oncewall/oncewall/testenv/story"
)

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	err := play(ctx)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx) // the signal; what it broke off is no news
	}
	cancel()
	if err != nil {
		fmt.Fprintln(os.Stderr, "story:", err)
		os.Exit(1)
	}
}

// errWrong ends a story whose table says what is wrong.
var errWrong = errors.New("a count is wrong, see above")

func play(ctx context.Context) (err error) {
	env, err := stack.FromEnv(os.Getenv)
	if err != nil {
		return err
	}
	began := time.Now()
	fmt.Println("Starting Envoys, bridges and shops on free ports of loopback ...")
	w, err := story.Open(ctx, stack.Options{Store: env.Store, Envoy: env.Envoy, Concurrency: env.Concurrency})
	if err != nil {
		return err
	}
	// Also on a failure and after Ctrl-C. Even after SIGKILL the parts end: they
	// are children that the kernel ends with us.
	defer func() { err = errors.Join(err, w.Close()) }()
	fmt.Printf("Started in %s, store %s. \"ran\" is how often the backend really ran for the scene's key, so far.\n\n",
		time.Since(began).Round(100*time.Millisecond), w.Store)

	p := story.NewPrinter(os.Stdout, os.Getenv)
	p.Header()
	rows := 0
	for _, scene := range story.Scenes() {
		r := scene.Play(ctx, w)
		p.Result(r)
		rows += len(r.Rows)
		if !r.OK() {
			return errors.Join(errWrong, r.Err)
		}
	}
	fmt.Printf("\nAll %d rows are as they must be. %s in all.\n", rows, time.Since(began).Round(100*time.Millisecond))
	return nil
}
