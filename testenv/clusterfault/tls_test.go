package clusterfault

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/oncewall/oncewall/bridge/store/redis"
	"github.com/oncewall/oncewall/testenv/rediscluster"
)

// authority signs certificates for 127.0.0.1.
type authority struct {
	*testing.T
	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pool *x509.CertPool
}

func newAuthority(t *testing.T) *authority {
	a := &authority{T: t, dir: t.TempDir(), pool: x509.NewCertPool()}
	a.key, a.cert = a.sign("ca", nil)
	a.pool.AddCert(a.cert)
	return a
}

func (a *authority) path(name string) string { return filepath.Join(a.dir, name) }

// sign writes name.crt and name.key; without an authority it makes one.
func (a *authority) sign(name string, extend []x509.ExtKeyUsage) (*ecdsa.PrivateKey, *x509.Certificate) {
	a.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, ExtKeyUsage: extend,
		IsCA: a.cert == nil, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	parent, signer := a.cert, a.key
	if parent == nil {
		parent, signer = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		a.Fatal(err)
	}
	secret, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		a.Fatal(err)
	}
	a.write(name+".crt", "CERTIFICATE", der)
	a.write(name+".key", "EC PRIVATE KEY", secret)
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		a.Fatal(err)
	}
	return key, cert
}

func (a *authority) write(name, kind string, der []byte) {
	a.Helper()
	if err := os.WriteFile(a.path(name), pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		a.Fatal(err)
	}
}

// The server asks for a client certificate, the client for the server's.
func TestTLS(t *testing.T) {
	t.Parallel()
	a := newAuthority(t)
	a.sign("server", []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth})
	a.sign("client", []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	l.Close()
	r := single(t, "--tls-port", strconv.Itoa(port), "--tls-auth-clients", "yes", "--tls-ca-cert-file", a.path("ca.crt"),
		"--tls-cert-file", a.path("server.crt"), "--tls-key-file", a.path("server.key"))
	pair, err := tls.LoadX509KeyPair(a.path("client.crt"), a.path("client.key"))
	if err != nil {
		t.Fatal(err)
	}
	address := []string{"127.0.0.1:" + strconv.Itoa(port)}
	s := r.open(redis.Config{Addresses: address, TLS: &tls.Config{RootCAs: a.pool, Certificates: []tls.Certificate{pair}}})
	if err := s.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := r.story(s, 0); err != nil {
		t.Error(err)
	}
	for name, c := range map[string]*tls.Config{
		"no client certificate": {RootCAs: a.pool},
		"unknown authority":     {Certificates: []tls.Certificate{pair}},
		"no TLS":                nil,
	} {
		if err := r.open(redis.Config{Addresses: address, TLS: c}).Ready(t.Context()); err == nil {
			t.Errorf("%s: ready", name)
		}
	}
}

// A cluster that speaks TLS with its clients and among its nodes, both sides with
// certificates: the store follows it through a failover, and nothing else comes
// in.
func TestTLSCluster(t *testing.T) {
	t.Parallel()
	a := newAuthority(t)
	a.sign("node", []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth})
	a.sign("client", []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth})
	r := start(t, rediscluster.Config{TLS: &rediscluster.TLS{
		Authority: a.path("ca.crt"), Cert: a.path("node.crt"), Key: a.path("node.key"),
	}})
	r.healthy()
	var addresses []string
	for _, n := range r.Nodes {
		addresses = append(addresses, "127.0.0.1:"+strconv.Itoa(n.TLSPort))
	}
	pair, err := tls.LoadX509KeyPair(a.path("client.crt"), a.path("client.key"))
	if err != nil {
		t.Fatal(err)
	}
	r.store = r.open(redis.Config{Addresses: addresses, TLS: &tls.Config{RootCAs: a.pool, Certificates: []tls.Certificate{pair}}})
	r.bridge = r.serve(r.store)
	r.healthy()
	for _, replicas := range []int64{0, 1} {
		if err := r.story(r.store, replicas); err != nil {
			t.Errorf("replicas %d: %v", replicas, err)
		}
	}
	manualFailover(r)
	for name, c := range map[string]*tls.Config{
		"no client certificate": {RootCAs: a.pool},
		"unknown authority":     {Certificates: []tls.Certificate{pair}},
		"no TLS":                nil,
	} {
		if err := r.open(redis.Config{Addresses: addresses, TLS: c}).Ready(t.Context()); err == nil {
			t.Errorf("%s: ready", name)
		}
	}
}
