package server

import (
	"bytes"
	"context"
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/filter/wire"
)

// TestTLS serves both protocols over TLS and nothing in clear.
func TestTLS(t *testing.T) {
	// Only for its certificate and a client that trusts it.
	donor := httptest.NewTLSServer(nil)
	defer donor.Close()
	s, err := New(Config{Store: answering(store.Reply{Code: wire.OK}), Keys: testRing(t)})
	if err != nil {
		t.Fatal(err)
	}
	data, admin := listen(t), listen(t)
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		_, err := s.Run(ctx, data, admin, &tls.Config{Certificates: donor.TLS.Certificates})
		done <- err
	}()
	body := encode(t, &wire.Batch{Namespace: "edge"})
	for major, h2 := range map[int]bool{1: false, 2: true} {
		transport := donor.Client().Transport.(*http.Transport).Clone()
		transport.Protocols = new(http.Protocols)
		transport.Protocols.SetHTTP1(!h2)
		transport.Protocols.SetHTTP2(h2)
		resp, err := (&http.Client{Transport: transport}).Post("https://"+data.Addr().String()+wire.BatchPath, wire.ContentType, bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusOK || resp.ProtoMajor != major || resp.Header.Get(wire.StampHeader) == "" {
			t.Errorf("%s: status %d", resp.Proto, resp.StatusCode)
		}
		transport.CloseIdleConnections()
	}
	resp, err := http.Post("http://"+data.Addr().String()+wire.BatchPath, wire.ContentType, bytes.NewReader(body))
	if err == nil {
		resp.Body.Close()
		if resp.StatusCode == http.StatusOK {
			t.Error("a batch was answered in clear")
		}
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
