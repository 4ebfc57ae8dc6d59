package shop

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"
)

// IdleTimeout is how long the shop keeps an idle connection. It must exceed
// the upstream idle timeout of the proxy in front (60s in the shipped Envoy
// configurations): the side that sends requests must be the one that closes,
// or a request meets a connection that is just being closed.
const IdleTimeout = 75 * time.Second

func (s *Shop) newServer() *http.Server {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true)
	return &http.Server{
		Handler:           s,
		Protocols:         protocols,
		HTTP2:             &http.HTTP2Config{MaxConcurrentStreams: 1000},
		IdleTimeout:       IdleTimeout,
		ReadHeaderTimeout: 30 * time.Second,
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, connKey{}, c)
		},
	}
}

// Serve answers HTTP/1.1 and h2c connections of l until Shutdown or Close, and
// then returns nil.
func (s *Shop) Serve(l net.Listener) error {
	if err := s.server.Serve(listener{l}); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// Shutdown stops accepting and waits for the executions under way until ctx
// ends. Close must follow.
func (s *Shop) Shutdown(ctx context.Context) error { return s.server.Shutdown(ctx) }

// Close ends what is left, delayed executions included, and the database.
func (s *Shop) Close() error {
	s.stop()
	return errors.Join(s.server.Close(), s.db.Close())
}

type listener struct{ net.Listener }

func (l listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return newConn(c), nil
}
