package config

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// authority signs certificates of a test into files.
type authority struct {
	t    *testing.T
	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	file string
}

func newAuthority(t *testing.T, name string) *authority {
	a := &authority{t: t, dir: t.TempDir()}
	a.cert, a.key, a.file, _ = a.make(name, nil)
	return a
}

// make writes a certificate for 127.0.0.1; signed by itself where parent is nil.
func (a *authority) make(name string, parent *authority) (*x509.Certificate, *ecdsa.PrivateKey, string, string) {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, BasicConstraintsValid: true, IsCA: parent == nil,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	issuer, signer := template, key
	if parent != nil {
		issuer, signer = parent.cert, parent.key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, issuer, &key.PublicKey, signer)
	if err != nil {
		a.t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		a.t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		a.t.Fatal(err)
	}
	certFile, keyFile := filepath.Join(a.dir, name+".crt"), filepath.Join(a.dir, name+".key")
	for file, block := range map[string]*pem.Block{certFile: {Type: "CERTIFICATE", Bytes: der}, keyFile: {Type: "PRIVATE KEY", Bytes: keyDER}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			a.t.Fatal(err)
		}
	}
	return cert, key, certFile, keyFile
}

// greet connects a client to a server and returns what each side made of it.
func greet(t *testing.T, server, client *tls.Config) (got string, serverErr, clientErr error) {
	t.Helper()
	l, err := tls.Listen("tcp", "127.0.0.1:0", server)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	done := make(chan error, 1)
	go func() {
		conn, err := l.Accept()
		if err == nil {
			_, err = io.WriteString(conn, "hello")
			conn.Close()
		}
		done <- err
	}()
	conn, err := tls.Dial("tcp", l.Addr().String(), client)
	if err != nil {
		return "", <-done, err
	}
	defer conn.Close()
	b, err := io.ReadAll(conn)
	got = conn.ConnectionState().PeerCertificates[0].Subject.CommonName + " says " + string(b)
	return got, <-done, err
}

func TestMutualTLS(t *testing.T) {
	ca, other := newAuthority(t, "ca"), newAuthority(t, "other")
	_, _, serverCert, serverKey := ca.make("bridge", ca)
	server, err := TLS{CertFile: serverCert, KeyFile: serverKey, ClientCAFile: ca.file}.Server()
	if err != nil {
		t.Fatal(err)
	}
	client := func(a *authority) *tls.Config {
		t.Helper()
		_, _, cert, key := a.make("envoy", a)
		c, err := RedisTLS{Enabled: true, CAFile: ca.file, CertFile: cert, KeyFile: key}.Client()
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	if got, _, err := greet(t, server, client(ca)); err != nil || got != "bridge says hello" {
		t.Errorf("own authority: %q, %v", got, err)
	}
	if _, err, _ := greet(t, server, client(other)); err == nil {
		t.Error("a client of another authority was let in")
	}
	none, err := RedisTLS{Enabled: true, CAFile: ca.file}.Client()
	if err != nil {
		t.Fatal(err)
	}
	if _, err, _ := greet(t, server, none); err == nil {
		t.Error("a client without a certificate was let in")
	}
	stranger, err := RedisTLS{Enabled: true, CAFile: other.file}.Client()
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := greet(t, server, stranger); err == nil {
		t.Error("the client trusts a server of another authority")
	}
}

// TestRenewedCertificate: a new file is used by the next connection; half a pair
// leaves the old one in use.
func TestRenewedCertificate(t *testing.T) {
	ca := newAuthority(t, "ca")
	_, _, certFile, keyFile := ca.make("bridge", ca)
	server, err := TLS{CertFile: certFile, KeyFile: keyFile}.Server()
	if err != nil {
		t.Fatal(err)
	}
	serial := func() string {
		t.Helper()
		cert, err := server.GetCertificate(nil)
		if err != nil {
			t.Fatal(err)
		}
		return cert.Leaf.SerialNumber.String()
	}
	first := serial()
	oldKey, err := os.ReadFile(keyFile)
	if err != nil {
		t.Fatal(err)
	}
	ca.make("bridge", ca)
	newKey, _ := os.ReadFile(keyFile)
	os.WriteFile(keyFile, oldKey, 0o600)
	os.Chtimes(certFile, time.Now(), time.Now().Add(time.Second))
	if serial() != first {
		t.Error("a certificate was used without its key")
	}
	os.WriteFile(keyFile, newKey, 0o600)
	if serial() == first {
		t.Error("the renewed certificate is not used")
	}
}

func TestReadFiles(t *testing.T) {
	ca := newAuthority(t, "ca")
	_, _, cert, key := ca.make("bridge", ca)
	good := Config{TLS: TLS{cert, key, ca.file}, Redis: &Redis{TLS: RedisTLS{Enabled: true, CAFile: ca.file, CertFile: cert, KeyFile: key}}}
	if err := good.ReadFiles(); err != nil {
		t.Fatal(err)
	}
	bad := Config{TLS: TLS{cert, cert, ca.file}, Redis: &Redis{TLS: RedisTLS{Enabled: true, CAFile: key}}}
	var faults Faults
	err := bad.ReadFiles()
	if !errors.As(err, &faults) || len(faults) != 2 || !strings.Contains(err.Error(), "store.redis.tls.ca_file: ") ||
		!strings.Contains(err.Error(), "no certificate in it") {
		t.Errorf("%v", err)
	}
}
