// Command shop serves the backend of the local stack on loopback, HTTP/1.1 and
// h2c on one port. See package shop for what it answers.
//
// The port is -port or SHOP_PORT, 8090 by default; the guards that are on are
// -guards or SHOP_GUARDS, all by default. SIGTERM and SIGINT let the executions
// under way end, for at most 5 seconds.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/oncewall/oncewall/testenv/shop"
)

const drain = 5 * time.Second

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Getenv, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "shop:", err)
		os.Exit(1)
	}
}

// run serves until ctx ends. It prints the address once it listens.
func run(ctx context.Context, args []string, env func(string) string, out io.Writer) error {
	flags := flag.NewFlagSet("shop", flag.ContinueOnError)
	port := flags.String("port", cmp.Or(env("SHOP_PORT"), "8090"), "port on 127.0.0.1; 0 takes a free one")
	names := flags.String("guards", cmp.Or(env("SHOP_GUARDS"), "all"), "comma-separated: unique, state, fence; or all, none")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("argument %q: none is expected", flags.Arg(0))
	}
	guards, err := shop.ParseGuards(*names)
	if err != nil {
		return err
	}
	s, err := shop.New(shop.Options{Guards: guards})
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", *port))
	if err != nil {
		return errors.Join(err, s.Close())
	}
	fmt.Fprintf(out, "shop: listening on %s, guards %s\n", l.Addr(), guards)

	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	ending, cancel := context.WithTimeout(context.Background(), drain)
	defer cancel()
	s.Shutdown(ending) // what it leaves, Close ends
	return s.Close()
}
