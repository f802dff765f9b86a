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

// Names of the environment's variables that [Server.Environ] sets.
const (
	EnvAddr    = "TRUNKLINE_WEB_TEST_ADDR"     // host:port
	EnvCA      = "TRUNKLINE_WEB_TEST_CA"       // certificate, PEM
	EnvRootKey = "TRUNKLINE_WEB_TEST_ROOT_KEY" // 32 bytes, hexadecimal
)

// lifetime is how long certificates hold, and for how long before now.
const lifetime = 24 * time.Hour

// root signs the Noise certificates of every fake of this process, because
// whatsmeow trusts one key per process.
var root = sync.OnceValue(keys.NewKeyPair)

var trusting sync.Once

// Trust makes whatsmeow trust Noise certificates under the key. Only the first
// call of a process counts: the variable is not guarded, and clients may be
// reading it later. For the same reason it sets libsignal's logger, one that
// says nothing, if there is none.
func Trust(key *[32]byte) {
	trusting.Do(func() {
		whatsmeow.WACertPubKey = *key
		if logger.Logger == nil {
			logger.Logger = silent{}
		}
	})
}

// silent is a logger for libsignal, whose own prints.
type silent struct{}

func (silent) Debug(string, string)   {}
func (silent) Info(string, string)    {}
func (silent) Warning(string, string) {}
func (silent) Error(string, string)   {}
func (silent) Configure(string)       {}

// Addr is where the fake listens, host and port.
func (s *Server) Addr() string { return s.listener.Addr().String() }

// CA is the certificate under which the fake speaks TLS for the network's
// names, as PEM.
func (s *Server) CA() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.ca})
}

// RootKey is the key that the Noise certificates hang from: what
// whatsmeow.WACertPubKey must be.
func (s *Server) RootKey() [32]byte { return *root().Pub }

// Environ returns the settings that point a trunkline process at the fake, in
// the form of os.Environ.
func (s *Server) Environ() []string {
	return []string{
		EnvAddr + "=" + s.Addr(),
		EnvCA + "=" + string(s.CA()),
		EnvRootKey + "=" + hex.EncodeToString(root().Pub[:]),
	}
}

// HTTPClient returns a client that reaches the fake under every host name, and
// trusts nothing else. A whatsmeow client needs it in three places: see
// [Server.Attach].
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

// Attach points a client at the fake. It must not be connected yet.
func (s *Server) Attach(client *whatsmeow.Client) {
	h := s.HTTPClient()
	client.SetPreLoginHTTPClient(h)
	client.SetWebsocketHTTPClient(h)
	client.SetMediaHTTPClient(h)
}

// selfSigned makes the certificate for the network's names, which is its own
// authority.
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
