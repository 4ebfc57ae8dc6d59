package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// load is a slot's connections, ready to be used.
type load struct {
	c       *testCase
	senders []*sender
}

// sender is one connection and its keys.
type sender struct {
	client  *client
	request []byte
	digits  []byte // part of request
	next    uint64
	first   []byte // repeat: the body that every answer must have
	sent    int
}

// newLoad connects, and finishes the keys that are to be repeated. series must
// not have been used before.
func newLoad(ctx context.Context, c *testCase, addr, series string, connections int) (*load, error) {
	l := &load{c: c}
	for i := range connections {
		conn, err := dial(ctx, addr)
		if err != nil {
			l.close()
			return nil, err
		}
		s := &sender{client: conn}
		var at int
		s.request, at = c.request(fmt.Sprintf("%s-%03d", series, i))
		s.digits = s.request[at : at+keyDigits]
		l.senders = append(l.senders, s)
		if err := s.prime(c); err != nil {
			l.close()
			return nil, fmt.Errorf("%s: before the slot: %w", c.name, err)
		}
	}
	return l, nil
}

// prime sends the first request of a key that is to be repeated, and one repeat
// for good measure.
func (s *sender) prime(c *testCase) error {
	if !c.repeat {
		return nil
	}
	first := *c
	first.marker = "created"
	_ = s.client.c.SetDeadline(time.Now().Add(answerLimit))
	if err := errors.Join(s.client.do(s.request), s.client.check(&first)); err != nil {
		return err
	}
	s.first = bytes.Clone(s.client.answer.body)
	return s.send(c)
}

// send sends one request and judges its answer.
func (s *sender) send(c *testCase) error {
	if !c.repeat {
		s.next++
		putNumber(s.digits, s.next)
	}
	if err := s.client.do(s.request); err != nil {
		return err
	}
	if err := s.client.check(c); err != nil {
		return err
	}
	if c.repeat && !bytes.Equal(s.client.answer.body, s.first) {
		return errors.New("the body is not that of the first answer")
	}
	return nil
}

// run sends on every connection until the time is over or ctx ends. It returns
// the requests that were answered as expected and how long it took; a
// connection ends with its first fault.
func (l *load) run(ctx context.Context, d time.Duration) (requests int, took time.Duration, err error) {
	start := time.Now()
	end := start.Add(d)
	faults := make([]error, len(l.senders))
	var wg sync.WaitGroup
	for i, s := range l.senders {
		s.sent = 0
		_ = s.client.c.SetDeadline(end.Add(answerLimit))
		wg.Go(func() {
			for ctx.Err() == nil && time.Now().Before(end) {
				if err := s.send(l.c); err != nil {
					faults[i] = fmt.Errorf("connection %d, request %d: %w", i, s.sent+1, err)
					return
				}
				s.sent++
			}
		})
	}
	wg.Wait()
	for _, s := range l.senders {
		requests += s.sent
	}
	return requests, time.Since(start), errors.Join(append(faults, ctx.Err())...)
}

func (l *load) close() {
	for _, s := range l.senders {
		s.client.close()
	}
}
