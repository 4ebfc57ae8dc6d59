package stack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"
)

// Names of parts, counted from 0: the first of a kind has no number.

// GatewayPart is the name of the i-th gateway.
func GatewayPart(i int) string { return numbered("gateway", i) }

// BridgePart is the name of the i-th bridge.
func BridgePart(i int) string { return numbered("bridge", i) }

// Names of the parts that there is one of.
const (
	ShopPart  = "shop"
	EdgePart  = "edge"
	InnerPart = "inner"
)

func numbered(kind string, i int) string {
	if i == 0 {
		return kind
	}
	return fmt.Sprintf("%s-%d", kind, i+1)
}

// part is one process of the stack and how to start it.
type part struct {
	name  string
	ports []int
	cmd   command
	// config writes the files that cmd reads; nil: none.
	config func() error
	// ready makes one attempt to see whether the part serves.
	ready func(context.Context) error

	mu   sync.Mutex // guards what follows
	proc process
	// logged is the size of the log when proc was started: what follows is its own.
	logged int64
}

// start starts the part. It does not wait until it is ready.
func (p *part) start(dir string) error {
	for _, port := range p.ports {
		if err := awaitFree(port); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	if p.config != nil {
		if err := p.config(); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	if info, err := os.Stat(p.cmd.log); err == nil {
		p.logged = info.Size()
	}
	proc, err := launch(p.cmd)
	if err != nil {
		return fmt.Errorf("%s: %w", p.name, err)
	}
	p.proc = proc
	return writePID(dir, p.name, proc, p.ports)
}

// await returns when the part is ready, or says what it said when it is not.
func (p *part) await(ctx context.Context) error {
	for {
		if !p.proc.alive() {
			return fmt.Errorf("%s: ended before it was ready:\n%s", p.name, p.lastWords())
		}
		err := p.ready(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			if errors.Is(ctx.Err(), context.Canceled) {
				return ctx.Err()
			}
			return fmt.Errorf("%s: not ready in time: %w\n%s", p.name, err, p.lastWords())
		case <-time.After(pollEvery):
		}
	}
}

// lastWordsBytes bounds how much of a log is shown.
const lastWordsBytes = 16 << 10

// lastWords returns the end of what the part wrote since it was started.
func (p *part) lastWords() string {
	b, err := os.ReadFile(p.cmd.log)
	if err != nil {
		return err.Error()
	}
	b = b[min(p.logged, int64(len(b))):]
	if cut := len(b) - lastWordsBytes; cut > 0 {
		b = b[cut:]
	}
	if b = bytes.TrimSpace(b); len(b) == 0 {
		return "(it wrote nothing)"
	}
	return string(b)
}
