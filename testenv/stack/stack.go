package stack

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// readyLimit bounds the start of all parts together. Envoy compiles the plugin
// for some seconds of one core, and a busy machine has no core to spare; a part
// that refuses its configuration ends by itself long before.
const readyLimit = 90 * time.Second

// faultGrace is how long, after one part has failed to start, the others may go
// on, so that a fault in a second part's configuration is told in the same run.
const faultGrace = 2 * time.Second

// Stack is a running stack. Its methods are safe for concurrent use; two that
// start or stop the same part exclude each other.
type Stack struct {
	opts  Options
	ports Ports
	dir   string
	temp  bool // dir is removed by Close
	prog  programs

	parts []*part
	// begun are the parts that this Stack started; others were there before.
	begun []*part
	lock  *os.File // held by detached stacks while they start
}

// Start starts a stack, or what is missing of one, and returns when all of it is
// ready. On failure it returns everything that was wrong and leaves nothing
// running that it started. A configuration that cannot be used is refused before
// anything is started, as far as that can be known without Envoy.
func Start(ctx context.Context, o Options) (*Stack, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	s := &Stack{opts: o}
	if err := s.prepare(ctx); err != nil {
		return nil, errors.Join(err, s.cleanUp())
	}
	if err := s.startAll(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if s.lock != nil {
		_ = s.lock.Close()
	}
	return s, nil
}

// prepare settles everything that must be known before a part is started.
func (s *Stack) prepare(ctx context.Context) error {
	if err := s.pickPorts(); err != nil {
		return err
	}
	if !s.opts.PartsJudge {
		if err := s.preflight(); err != nil {
			return err
		}
	}
	if err := s.makeDir(); err != nil {
		return err
	}
	var err error
	if s.prog, err = findPrograms(ctx, s.opts); err != nil {
		return err
	}
	if s.parts, err = s.plan(s.prog); err != nil {
		return err
	}
	if err := distinct(s.parts); err != nil {
		return err
	}
	for _, p := range s.parts {
		p.proc, _ = readPID(s.dir, p.name)
	}
	return nil
}

// pickPorts takes the options' ports, or free ones.
func (s *Stack) pickPorts() error {
	if s.opts.Ports != nil {
		s.ports = *s.opts.Ports
		return nil
	}
	ports, err := pickFree(s.opts)
	s.ports = ports
	return err
}

// makeDir makes the folder of logs and, for a stack that outlives us, keeps
// other starts and stops of it away.
func (s *Stack) makeDir() error {
	if s.opts.Dir == "" {
		parent := filepath.Join(s.opts.Root, "build/out/test")
		if err := os.MkdirAll(parent, 0o755); err != nil {
			return err
		}
		dir, err := os.MkdirTemp(parent, "stack-")
		s.dir, s.temp = dir, true
		return err
	}
	s.dir = s.opts.Dir
	if err := os.MkdirAll(s.dir, 0o755); err != nil {
		return err
	}
	if !s.opts.Detached {
		return nil
	}
	var err error
	s.lock, err = lockDir(s.dir)
	return err
}

// lockDir makes sure that one process at a time changes a detached stack.
func lockDir(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("stack: another make up or make down is at work in %s", dir)
	}
	return f, nil
}

// startAll starts what does not run yet, Redis first, and waits for all of it.
func (s *Stack) startAll(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyLimit)
	defer cancel()
	var missing, others []*part
	for _, p := range s.parts {
		if !p.proc.alive() {
			missing = append(missing, p)
		}
		if !isRedis(p.name) {
			others = append(others, p)
		}
	}
	if err := vacant(missing); err != nil {
		return err
	}
	if err := s.startRedis(ctx); err != nil {
		return err
	}
	var rest []*part
	for _, p := range others {
		if !p.proc.alive() {
			rest = append(rest, p)
		}
	}
	if err := s.startParts(rest); err != nil {
		return err
	}
	return awaitAll(ctx, others)
}

// vacant looks at all ports before anything is started, so that everything that
// stands in the way is told at once. It also removes the logs of earlier runs.
func vacant(parts []*part) error {
	var faults []error
	for _, p := range parts {
		for _, port := range p.ports {
			if err := awaitFree(port); err != nil {
				faults = append(faults, fmt.Errorf("%s: %w", p.name, err))
			}
		}
		if err := os.Remove(p.cmd.log); err != nil && !errors.Is(err, os.ErrNotExist) {
			faults = append(faults, err)
		}
	}
	return errors.Join(faults...)
}

// startParts starts parts without waiting until they are ready.
func (s *Stack) startParts(parts []*part) error {
	var faults []error
	for _, p := range parts {
		// Even when start fails, so that what it began is ended.
		s.begun = append(s.begun, p)
		if err := p.start(s.dir); err != nil {
			faults = append(faults, err)
		}
	}
	return errors.Join(faults...)
}

// awaitAll waits for every part and returns the faults of all that failed.
func awaitAll(ctx context.Context, parts []*part) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	results := make(chan error)
	for _, p := range parts {
		go func() { results <- p.await(ctx) }()
	}
	var faults []error
	for range parts {
		err := <-results
		switch {
		case err == nil:
		case errors.Is(err, context.Canceled) && len(faults) > 0:
			// Given up because of another part's fault, which is told.
		default:
			faults = append(faults, err)
			time.AfterFunc(faultGrace, cancel)
		}
	}
	return errors.Join(faults...)
}

// Close ends every part that this Stack started, in reverse order, and removes
// the folder if Start made it.
func (s *Stack) Close() error {
	return errors.Join(stopAll(s.dir, s.begun), s.cleanUp())
}

func (s *Stack) cleanUp() error {
	if s.lock != nil {
		_ = s.lock.Close()
	}
	if s.temp {
		return os.RemoveAll(s.dir)
	}
	return nil
}

// stopAll ends parts: Envoys first, so that no request meets a missing bridge,
// then the others together.
func stopAll(dir string, parts []*part) error {
	var first, rest []*part
	for _, p := range parts {
		if isEnvoy(p.name) {
			first = append(first, p)
		} else {
			rest = append(rest, p)
		}
	}
	return errors.Join(stopTogether(dir, first), stopTogether(dir, rest))
}

func stopTogether(dir string, parts []*part) error {
	faults := make([]error, len(parts))
	var wg sync.WaitGroup
	for i, p := range parts {
		wg.Go(func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			if err := p.proc.stop(termGrace); err != nil {
				faults[i] = fmt.Errorf("%s: %w", p.name, err)
				return
			}
			if err := os.Remove(pidFile(dir, p.name)); err != nil && !errors.Is(err, os.ErrNotExist) {
				faults[i] = err
			}
		})
	}
	wg.Wait()
	return errors.Join(faults...)
}
