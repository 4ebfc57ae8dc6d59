package stack

import (
	"context"
	"fmt"
	"path/filepath"
	"syscall"
)

// Stop ends a part as an operator would: SIGTERM, and SIGKILL if that takes
// more than 8 s. Others are left alone.
func (s *Stack) Stop(name string) error {
	return s.with(name, func(p *part) error { return p.proc.stop(termGrace) })
}

// Kill ends a part at once, as a crash would.
func (s *Stack) Kill(name string) error {
	return s.with(name, func(p *part) error { return p.proc.stop(0) })
}

// Pause stops a part where it is (SIGSTOP): its port stays open and answers
// nothing. Resume lets it go on.
func (s *Stack) Pause(name string) error {
	return s.with(name, func(p *part) error { return p.proc.signal(syscall.SIGSTOP) })
}

// Resume ends Pause.
func (s *Stack) Resume(name string) error {
	return s.with(name, func(p *part) error { return p.proc.signal(syscall.SIGCONT) })
}

// StartPart starts a part that was stopped or killed, as it was before, and
// returns when it is ready. One that runs is left alone.
func (s *Stack) StartPart(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(ctx, readyLimit)
	defer cancel()
	return s.with(name, func(p *part) error {
		if p.proc.alive() {
			return nil
		}
		if err := p.start(s.dir); err != nil {
			return err
		}
		return p.await(ctx)
	})
}

// SetProgram lets a bridge run another program from its next start on; "" is the
// built one.
func (s *Stack) SetProgram(bridge, program string) error {
	if program == "" {
		program = filepath.Join(s.opts.Root, "build/out/oncewall")
	}
	return s.with(bridge, func(p *part) error {
		p.cmd.argv = append([]string{program}, p.cmd.argv[1:]...)
		return nil
	})
}

// PID returns the process id of a part, 0 if it does not run.
func (s *Stack) PID(name string) int {
	pid := 0
	_ = s.with(name, func(p *part) error {
		if p.proc.alive() {
			pid = p.proc.pid
		}
		return nil
	})
	return pid
}

func (s *Stack) with(name string, do func(*part) error) error {
	for _, p := range s.parts {
		if p.name == name {
			p.mu.Lock()
			defer p.mu.Unlock()
			return do(p)
		}
	}
	return fmt.Errorf("stack: no part is named %q", name)
}

// Dir returns the folder of logs, pid files and generated configurations.
func (s *Stack) Dir() string { return s.dir }

// Log returns the path of a part's log.
func (s *Stack) Log(name string) string { return logFile(s.dir, name) }

// Parts returns the names of the parts in the order in which they start.
func (s *Stack) Parts() []string {
	names := make([]string, len(s.parts))
	for i, p := range s.parts {
		names[i] = p.name
	}
	return names
}

// Gateway returns the address of the i-th gateway, counted from 0.
func (s *Stack) Gateway(i int) string { return Addr(s.ports.Gateway + i) }

// GatewayAdmin returns the address of the i-th gateway's Envoy admin.
func (s *Stack) GatewayAdmin(i int) string { return Addr(s.ports.EnvoyAdmin + i) }

// Bare returns the address of the listener without the filter ([Options.Bare]).
func (s *Stack) Bare() string { return Addr(s.ports.Gateway + bareOffset) }

// Edge returns the address of the Envoy before the gateways ([Options.Edge]).
func (s *Stack) Edge() string { return Addr(s.ports.Gateway + edgeOffset) }

// Inner returns the address of the Envoy before the shop ([Options.Inner]).
func (s *Stack) Inner() string { return Addr(s.ports.Gateway + midOffset) }

// Bridge returns the address of the i-th bridge's data port.
func (s *Stack) Bridge(i int) string { return Addr(s.ports.Bridge + 2*i) }

// BridgeAdmin returns the address of the i-th bridge's admin port.
func (s *Stack) BridgeAdmin(i int) string { return Addr(s.ports.BridgeAdmin + 2*i) }

// Shop returns the address of the shop.
func (s *Stack) Shop() string { return Addr(s.ports.Shop) }

// Redis returns the addresses of the nodes ([Options.Store] is Cluster).
func (s *Stack) Redis() []string {
	addrs := make([]string, len(s.ports.Redis))
	for i, port := range s.ports.Redis {
		addrs[i] = Addr(port)
	}
	return addrs
}
