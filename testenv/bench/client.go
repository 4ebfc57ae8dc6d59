package bench

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"time"
)

// client is one keep-alive connection. It does little more than compare bytes:
// what it costs is taken from the processes that are measured.
type client struct {
	c      net.Conn
	r      *bufio.Reader
	answer answer
}

// answer is what the last response said. Its bytes are valid until the next.
type answer struct {
	status  int
	marker  []byte // idempotency-status
	body    []byte
	closing bool // Envoy ends the connection
}

// answerLimit bounds the wait for one answer.
const answerLimit = 15 * time.Second

func dial(ctx context.Context, addr string) (*client, error) {
	var d net.Dialer
	c, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	return &client{c: c, r: bufio.NewReaderSize(c, 16<<10)}, nil
}

func (c *client) close() { _ = c.c.Close() }

// do sends a request and reads its answer.
func (c *client) do(request []byte) error {
	if _, err := c.c.Write(request); err != nil {
		return err
	}
	return c.read()
}

var errNoLength = errors.New("answer: no content-length")

// read reads one response, whose length must be declared: the shop and the
// filter declare it.
func (c *client) read() error {
	a := &c.answer
	a.marker, a.closing = a.marker[:0], false
	line, err := c.line()
	if err != nil {
		return err
	}
	// HTTP/1.1 201 Created
	if len(line) < 12 || !bytes.HasPrefix(line, []byte("HTTP/1.1 ")) {
		return fmt.Errorf("answer: status line %q", line)
	}
	if a.status, err = strconv.Atoi(string(line[9:12])); err != nil {
		return fmt.Errorf("answer: status line %q", line)
	}
	length := -1
	for {
		if line, err = c.line(); err != nil {
			return err
		}
		if len(line) == 0 {
			break
		}
		name, value, _ := bytes.Cut(line, []byte(": "))
		switch string(name) { // Envoy writes names in lower case
		case "content-length":
			if length, err = strconv.Atoi(string(value)); err != nil {
				return fmt.Errorf("answer: content-length %q", value)
			}
		case "idempotency-status":
			a.marker = append(a.marker, value...)
		case "connection":
			a.closing = string(value) == "close"
		}
	}
	if length < 0 {
		return errNoLength
	}
	if cap(a.body) < length {
		a.body = make([]byte, length)
	}
	a.body = a.body[:length]
	_, err = io.ReadFull(c.r, a.body)
	return err
}

func (c *client) line() ([]byte, error) {
	line, err := c.r.ReadSlice('\n')
	return bytes.TrimRight(line, "\r\n"), err
}

// check compares the last answer with what the case expects.
func (c *client) check(want *testCase) error {
	a := &c.answer
	switch {
	case a.status != want.status:
		return fmt.Errorf("status %d, want %d: %.200q", a.status, want.status, a.body)
	case string(a.marker) != want.marker:
		return fmt.Errorf("idempotency-status %q, want %q", a.marker, want.marker)
	case a.closing:
		return errors.New("the connection was closed")
	}
	return nil
}
