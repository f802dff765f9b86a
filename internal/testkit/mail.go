package testkit

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	_ "embed" // the server's program
	"encoding/json"
	"encoding/pem"
	"io"
	"math/big"
	"mime/quotedprintable"
	"net"
	"net/mail"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

//go:embed mailserver.py
var mailProgram string

// debianPython is the interpreter for which Debian installs aiosmtpd.
const debianPython = "/usr/bin/python3"

// MailOptions configures a server of [MailServer].
type MailOptions struct {
	TLS            bool   // it asks for STARTTLS
	Implicit       bool   // it is TLS from its beginning
	User, Password string // it asks for a log-in
}

// Mailbox is a mail server and what it has delivered. It refuses mails to
// nobody@… for good, and those to busy@… for now.
type Mailbox struct {
	Addr     string // 127.0.0.1:PORT
	CertFile string // its certificate, in PEM; "": it has none
	dir      string
}

// Mail is a delivered mail.
type Mail struct {
	mail.Header
	Text string
}

// MailServer runs aiosmtpd until the test ends. Where it is not installed the
// test is skipped, or fails when CI=true.
func MailServer(t testing.TB, o MailOptions) *Mailbox {
	t.Helper()
	Program(t, "aiosmtpd")
	m := &Mailbox{dir: filepath.Join(t.TempDir(), "mail")}
	key := ""
	if o.TLS || o.Implicit {
		m.CertFile, key = certificate(t)
	}
	settings, err := json.Marshal(map[string]any{
		"dir": m.dir, "cert": m.CertFile, "key": key, "implicit": o.Implicit, "user": o.User, "password": o.Password,
	})
	require.NoError(t, err)
	c := exec.Command(debianPython, "-c", mailProgram, string(settings))
	stdin, err := c.StdinPipe()
	require.NoError(t, err)
	out, err := c.StdoutPipe()
	require.NoError(t, err)
	var log strings.Builder
	c.Stderr = &log
	require.NoError(t, c.Start())
	t.Cleanup(func() {
		_ = stdin.Close()
		_ = c.Wait()
	})
	port, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		_ = c.Wait()
		require.NoError(t, err, log.String())
	}
	m.Addr = net.JoinHostPort("127.0.0.1", strings.TrimSpace(port))
	return m
}

// certificate writes a self-signed certificate of this machine and its key.
func certificate(t testing.TB) (certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	about := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "localhost"}, DNSNames: []string{"localhost"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, about, about, &key.PublicKey, key)
	require.NoError(t, err)
	pkcs, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	dir := t.TempDir()
	write := func(name, kind string, b []byte) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: b}), 0o600))
		return path
	}
	return write("cert.pem", "CERTIFICATE", der), write("key.pem", "PRIVATE KEY", pkcs)
}

// Delivered are the mails that have come, in no order.
func (m *Mailbox) Delivered(t testing.TB) []Mail {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(m.dir, "new", "*"))
	require.NoError(t, err)
	var out []Mail
	for _, name := range files {
		raw, err := os.Open(name)
		require.NoError(t, err)
		read, err := mail.ReadMessage(raw)
		require.NoError(t, err)
		body := read.Body
		if read.Header.Get("Content-Transfer-Encoding") == "quoted-printable" {
			body = quotedprintable.NewReader(body)
		}
		text, err := io.ReadAll(body)
		require.NoError(t, err)
		_ = raw.Close()
		out = append(out, Mail{read.Header, strings.ReplaceAll(string(text), "\r\n", "\n")})
	}
	return out
}
