package webtest

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"sync"
	"time"

	"go.mau.fi/libsignal/logger"
	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/util/keys"
)

// Names of the environment variables that [Server.Environ] sets.
const (
	EnvAddr    = "TRUNKLINE_WEB_TEST_ADDR"     // host:port
	EnvCA      = "TRUNKLINE_WEB_TEST_CA"       // certificate, PEM
	EnvRootKey = "TRUNKLINE_WEB_TEST_ROOT_KEY" // 32 bytes, hexadecimal
)

// lifetime is how long certificates are valid, before and after now.
const lifetime = 24 * time.Hour

// root signs the Noise certificates of all servers of this process, because
// whatsmeow trusts one key per process.
var root = sync.OnceValue(keys.NewKeyPair)

var trusting sync.Once

// Trust makes whatsmeow trust Noise certificates signed by the key. Only the
// first call in a process has an effect: the variable is not guarded, and
// clients may read it later. For the same reason it sets a silent logger for
// libsignal, if there is none.
func Trust(key *[32]byte) {
	trusting.Do(func() {
		whatsmeow.WACertPubKey = *key
		if logger.Logger == nil {
			logger.Logger = silent{}
		}
	})
}

// silent is a logger for libsignal, whose default prints to standard output.
type silent struct{}

func (silent) Debug(string, string)   {}
func (silent) Info(string, string)    {}
func (silent) Warning(string, string) {}
func (silent) Error(string, string)   {}
func (silent) Configure(string)       {}

// Addr returns the address of the server, host and port.
func (s *Server) Addr() string { return s.listener.Addr().String() }

// CA returns the certificate with which the server serves the network's host
// names, as PEM.
func (s *Server) CA() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.ca})
}

// RootKey returns the public key that signs the Noise certificates: the value
// for whatsmeow.WACertPubKey.
func (s *Server) RootKey() [32]byte { return *root().Pub }

// Environ returns the environment variables that point a trunkline process at
// the server, in the form of os.Environ.
func (s *Server) Environ() []string {
	return []string{
		EnvAddr + "=" + s.Addr(),
		EnvCA + "=" + string(s.CA()),
		EnvRootKey + "=" + hex.EncodeToString(root().Pub[:]),
	}
}

// HTTPClient returns a client that connects to the server under every host
// name, and trusts no other certificate. A whatsmeow client needs it in three
// places: see [Server.Attach].
func (s *Server) HTTPClient() *http.Client {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(s.CA())
	addr := s.Addr()
	return &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, addr)
		},
		TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: pool},
		IdleConnTimeout: 5 * time.Second,
	}}
}

// Attach points a client at the server. The client must not be connected yet.
func (s *Server) Attach(client *whatsmeow.Client) {
	h := s.HTTPClient()
	client.SetPreLoginHTTPClient(h)
	client.SetWebsocketHTTPClient(h)
	client.SetMediaHTTPClient(h)
}

// selfSigned returns a self-signed certificate for the network's host names.
func selfSigned() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 64))
	if err != nil {
		return tls.Certificate{}, err
	}
	about := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "webtest"},
		NotBefore: time.Now().Add(-lifetime), NotAfter: time.Now().Add(lifetime),
		IsCA: true, BasicConstraintsValid: true,
		KeyUsage:    x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames:    []string{"web.whatsapp.com", "*.whatsapp.net", "*.cdn.whatsapp.net"},
	}
	der, err := x509.CreateCertificate(rand.Reader, about, about, &key.PublicKey, key)
	if err != nil {
		return tls.Certificate{}, err
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}
