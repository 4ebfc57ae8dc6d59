package config

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"sync"
	"time"
)

// ReadFiles reads the certificates that c names, to report all that is wrong with
// them before anything starts. Its error is a [Faults].
func (c *Config) ReadFiles() error {
	rep := &report{}
	if _, err := c.TLS.Server(); err != nil {
		rep.add("", "%v", err)
	}
	if c.Redis != nil {
		if _, err := c.Redis.TLS.Client(); err != nil {
			rep.add("", "%v", err)
		}
	}
	if _, err := c.Tracing.Client(); err != nil {
		rep.add("", "%v", err)
	}
	return rep.err()
}

// Server returns the TLS configuration of the data listener, nil where none is
// configured. The certificate is read again when a handshake finds its file
// changed, so that renewing it needs no restart; the client authorities are read
// once.
func (t TLS) Server() (*tls.Config, error) {
	if t.CertFile == "" {
		return nil, nil
	}
	pair := &keyPair{certFile: t.CertFile, keyFile: t.KeyFile}
	if _, err := pair.get(nil); err != nil {
		return nil, fmt.Errorf("tls: %w", err)
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: pair.get}
	if t.ClientCAFile != "" {
		pool, err := readPool(t.ClientCAFile)
		if err != nil {
			return nil, fmt.Errorf("tls.client_ca_file: %w", err)
		}
		c.ClientCAs = pool
		c.ClientAuth = tls.RequireAndVerifyClientCert
	}
	return c, nil
}

// Client returns the TLS configuration towards Redis, nil where TLS is not
// enabled.
func (t RedisTLS) Client() (*tls.Config, error) {
	if !t.Enabled {
		return nil, nil
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: t.ServerName}
	if t.CAFile != "" {
		pool, err := readPool(t.CAFile)
		if err != nil {
			return nil, fmt.Errorf("store.redis.tls.ca_file: %w", err)
		}
		c.RootCAs = pool
	}
	if t.CertFile != "" {
		pair := &keyPair{certFile: t.CertFile, keyFile: t.KeyFile}
		if _, err := pair.get(nil); err != nil {
			return nil, fmt.Errorf("store.redis.tls: %w", err)
		}
		c.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return pair.get(nil) }
	}
	return c, nil
}

func readPool(file string) (*x509.CertPool, error) {
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%s: no certificate in it", file)
	}
	return pool, nil
}

// keyPair is a certificate and its key on disk.
type keyPair struct {
	certFile, keyFile string

	mu      sync.Mutex
	current *tls.Certificate
	changed time.Time // of certFile, when current was read
}

// get returns the pair, read again if its certificate's file has changed. A pair
// that can no longer be read (a renewal half written) leaves the old one in use.
func (p *keyPair) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	info, err := os.Stat(p.certFile)
	if err == nil && p.current != nil && info.ModTime().Equal(p.changed) {
		return p.current, nil
	}
	if err == nil {
		var pair tls.Certificate
		if pair, err = tls.LoadX509KeyPair(p.certFile, p.keyFile); err == nil {
			p.current, p.changed = &pair, info.ModTime()
		}
	}
	if p.current != nil {
		return p.current, nil
	}
	return nil, err
}
