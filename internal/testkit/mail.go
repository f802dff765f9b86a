package testkit

import (
	"bufio"
	_ "embed" // the server's program
	"encoding/json"
	"io"
	"mime/quotedprintable"
	"net"
	"net/mail"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

//go:embed mailserver.py
var mailProgram string

// debianPython is the interpreter for which Debian installs aiosmtpd.
const debianPython = "/usr/bin/python3"

// MailOptions configures a server of [MailServer].
type MailOptions struct {
	TLS            bool   // the server requires STARTTLS
	Implicit       bool   // the connection begins with TLS
	User, Password string // the server requires a login
}

// Inbox is a mail server with the mails that it has delivered. It refuses mails to
// nobody@… permanently, and those to busy@… temporarily.
type Inbox struct {
	Addr     string // 127.0.0.1:PORT
	CertFile string // its certificate, in PEM; "": none
	dir      string
}

// Mail is a delivered mail.
type Mail struct {
	mail.Header
	Text string
}

// MailServer runs aiosmtpd until the test ends. If it is not installed the test is
// skipped, or fails if CI=true.
func MailServer(t testing.TB, o MailOptions) *Inbox {
	t.Helper()
	Program(t, "aiosmtpd")
	m := &Inbox{dir: filepath.Join(t.TempDir(), "mail")}
	key := ""
	if o.TLS || o.Implicit {
		m.CertFile, key = Certificate(t, t.TempDir(), 1)
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

// Delivered returns the delivered mails, in no particular order.
func (m *Inbox) Delivered(t testing.TB) []Mail {
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
