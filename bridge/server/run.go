package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// Bounds on what a connection may take. The budgets of batches are far smaller;
// these keep a peer that stalls from holding a connection.
const (
	readHeaderTimeout = 5 * time.Second
	readTimeout       = 30 * time.Second
	writeTimeout      = readTimeout + MaxBudget
	// idleTimeout must exceed the idle timeout of Envoy's cluster: the side that
	// sends must be the one that closes, or a batch meets a closing connection.
	idleTimeout          = 10 * time.Minute
	maxHeaderBytes       = 16 << 10
	maxConcurrentStreams = 1024
	// maxReadFrame is HTTP/2's least. In larger frames a large result would come in
	// one, and of the updates of the window that reading it takes Envoy would think
	// that it is attacked (max_inbound_window_update_frames_per_data_frame_sent).
	maxReadFrame = 16 << 10
)

// Run serves batches on data, over TLS where tlsConfig is set, and the
// operator's side on admin, until ctx ends or a listener fails. It then drains:
// readiness fails, no connection is accepted any more, and batches under way are
// finished, for DrainTimeout at most. It returns nil after a drain, complete or
// not; settled says that nothing is under way any more, so that the store may be
// closed.
func (s *Server) Run(ctx context.Context, data, admin net.Listener, tlsConfig *tls.Config) (settled bool, err error) {
	dataServer := s.httpServer(s.DataHandler(), tlsConfig)
	adminServer := s.httpServer(s.AdminHandler(), nil)
	failed := make(chan error, 2)
	stopped := make(chan struct{})
	defer close(stopped)
	go s.heart.beat(s.start, stopped)
	go s.report.run(stopped, s.uncounted)
	go func() {
		if tlsConfig != nil {
			failed <- fmt.Errorf("data listener: %w", dataServer.ServeTLS(data, "", ""))
			return
		}
		failed <- fmt.Errorf("data listener: %w", dataServer.Serve(data))
	}()
	go func() { failed <- fmt.Errorf("admin listener: %w", adminServer.Serve(admin)) }()
	s.cfg.Log.Info("serving", "listen", data.Addr().String(), "admin_listen", admin.Addr().String(), "tls", tlsConfig != nil)

	select {
	case <-ctx.Done():
	case err = <-failed:
		s.cfg.Log.Error("listener failed", "error", err)
	}
	s.draining.Store(true)
	s.waits.drain()
	s.cfg.Log.Info("draining", "timeout", s.cfg.DrainTimeout.String())
	drain, cancel := context.WithTimeout(context.Background(), s.cfg.DrainTimeout)
	defer cancel()
	settled = true
	if shutdown := dataServer.Shutdown(drain); shutdown != nil {
		settled = false
		s.cfg.Log.Warn("drain cut short", "in_flight", s.inFlight.Load())
		dataServer.Close()
	}
	if settled {
		if err := s.report.flush(context.Background()); err != nil {
			s.uncounted(err)
		}
	}
	// The admin side goes last, so that a probe sees the drain.
	adminServer.Close()
	s.cfg.Log.Info("stopped")
	if errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	return settled && s.calls.Load() == 0, err
}

func (s *Server) httpServer(h http.Handler, tlsConfig *tls.Config) *http.Server {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	if tlsConfig != nil {
		protocols.SetHTTP2(true)
	} else {
		protocols.SetUnencryptedHTTP2(true)
	}
	return &http.Server{
		Handler:           h,
		TLSConfig:         tlsConfig,
		Protocols:         protocols,
		HTTP2:             &http.HTTP2Config{MaxConcurrentStreams: maxConcurrentStreams, MaxReadFrameSize: maxReadFrame},
		ReadHeaderTimeout: readHeaderTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		// What net/http says of single connections (a failed handshake, say) is
		// for whoever looks for it.
		ErrorLog: slog.NewLogLogger(s.cfg.Log.Handler(), slog.LevelDebug),
	}
}
