package mail_test

import (
	"crypto/tls"
	"crypto/x509"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/server/mail"
)

// trusting returns a configuration that trusts a mailbox's certificate.
func trusting(t *testing.T, m *testkit.Inbox) *mail.Options {
	t.Helper()
	o := &mail.Options{From: "chat@example.org", TLS: &tls.Config{RootCAs: x509.NewCertPool()}}
	if m.CertFile != "" {
		pem, err := os.ReadFile(m.CertFile)
		require.NoError(t, err)
		require.True(t, o.TLS.RootCAs.AppendCertsFromPEM(pem))
	}
	return o
}

const (
	subject = "Neues Passwort für Ada"
	text    = "Grüße!\n\nA line that is longer than the seventy-six characters that a line of mail may have: https://example.org/panel/reset#x=y\n.\nend\n"
)

func TestSend(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		server      testkit.MailOptions
		scheme, url string // before and behind the address
	}{
		"plain on this machine": {testkit.MailOptions{}, "smtp://", ""},
		"STARTTLS":              {testkit.MailOptions{TLS: true}, "smtp://", "?tls=required"},
		"STARTTLS, if offered":  {testkit.MailOptions{TLS: true}, "smtp://", "?tls=optional"},
		"TLS":                   {testkit.MailOptions{Implicit: true}, "smtps://", ""},
		"log-in":                {testkit.MailOptions{TLS: true, User: "ada", Password: "p:@/?#ä"}, "smtp://ada:p%3A%40%2F%3F%23%C3%A4@", ""},
		"log-in over TLS":       {testkit.MailOptions{Implicit: true, User: "ada@example.org", Password: "x"}, "smtps://ada%40example.org:x@", "?from=chat@example.org"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := testkit.MailServer(t, c.server)
			s, err := mail.New(c.scheme+m.Addr+c.url, trusting(t, m))
			require.NoError(t, err)
			require.NoError(t, s.Send(t.Context(), "ana@example.org", subject, text))
			require.NoError(t, s.Send(t.Context(), "ben@example.org", subject, text))
			got := m.Delivered(t)
			require.Len(t, got, 2)
			require.ElementsMatch(t, []string{"ana@example.org", "ben@example.org"}, []string{got[0].Get("X-RcptTo"), got[1].Get("X-RcptTo")})
			require.Equal(t, "chat@example.org", got[0].Get("X-MailFrom"))
			require.Equal(t, `"Trunkline" <chat@example.org>`, got[0].Get("From"))
			require.Equal(t, "<"+got[0].Get("X-RcptTo")+">", got[0].Get("To"))
			require.Equal(t, strings.TrimRight(text, "\n"), strings.TrimRight(got[0].Text, "\n"))
			require.Equal(t, "auto-generated", got[0].Get("Auto-Submitted"))
			require.NotEmpty(t, got[0].Get("Message-Id"))
			require.NotEqual(t, got[0].Get("Message-Id"), got[1].Get("Message-Id"))
			at, err := got[0].Date()
			require.NoError(t, err)
			require.WithinDuration(t, time.Now(), at, time.Hour)
			require.Contains(t, got[0].Get("Content-Type"), "text/plain; charset=UTF-8")
		})
	}
}

// TestSendFails has servers that refuse, for now and for good, and some to
// which nothing may be sent.
func TestSendFails(t *testing.T) {
	t.Parallel()
	send := func(url string, o *mail.Options, to string) error {
		s, err := mail.New(url, o)
		require.NoError(t, err)
		return s.Send(t.Context(), to, subject, text)
	}
	plain := testkit.MailServer(t, testkit.MailOptions{})
	o := trusting(t, plain)
	require.ErrorIs(t, send("smtp://"+plain.Addr, o, "nobody@example.org"), mail.ErrRefused)
	require.ErrorIs(t, send("smtp://"+plain.Addr, o, "no address"), mail.ErrRefused)
	for name, err := range map[string]error{
		"busy":        send("smtp://"+plain.Addr, o, "busy@example.org"),
		"no STARTTLS": send("smtp://"+plain.Addr+"?tls=required", o, "ana@example.org"),
		"no TLS":      send("smtps://"+plain.Addr, o, "ana@example.org"),
		"nobody":      send("smtp://"+testkit.FreeAddress(t), o, "ana@example.org"),
	} {
		require.Error(t, err, name)
		require.NotErrorIs(t, err, mail.ErrRefused, name)
	}
	secure := testkit.MailServer(t, testkit.MailOptions{TLS: true, User: "ada", Password: "right"})
	require.Error(t, send("smtp://ada:right@"+secure.Addr, o, "ana@example.org"), "its certificate is not trusted")
	err := send("smtp://ada:wrong-one@"+secure.Addr, trusting(t, secure), "ana@example.org")
	require.Error(t, err)
	require.NotContains(t, err.Error(), "wrong-one")
	require.Empty(t, append(plain.Delivered(t), secure.Delivered(t)...))
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	o := &mail.Options{From: "chat@example.org"}
	for _, url := range []string{
		"smtp://localhost", "smtps://localhost:465/", "smtp://u:p@mail.example.org:25?from=a@b.org&tls=optional",
	} {
		_, err := mail.New(url, o)
		require.NoError(t, err, url)
	}
	for url, says := range map[string]string{
		"":                                "smtp://HOST:PORT",
		"smtp://":                         "smtp://HOST:PORT",
		"http://localhost":                "smtp://HOST:PORT",
		"smtp://localhost/x":              "smtp://HOST:PORT",
		"smtp://localhost:0":              "port",
		"smtp://localhost:hush":           "not a URL",
		"smtp://u:hu#sh@localhost":        "",
		"smtp://localhost?tls=hush":       "tls must be",
		"smtps://localhost?tls=optional":  "smtps always uses TLS",
		"smtp://localhost?from=hush":      "from must be",
		"smtp://localhost?hush=1":         "only from and tls",
		"smtp://localhost?from=%zz":       "query",
		"smtp://user:hush%zz@example.org": "not a URL",
	} {
		_, err := mail.New(url, o)
		require.ErrorContains(t, err, says, url)
		require.NotContains(t, err.Error(), "hush")
	}
	_, err := mail.New("smtp://localhost", nil)
	require.ErrorContains(t, err, "from must be")
	_, err = mail.New("smtp://chat%40example.org:x@localhost", nil)
	require.NoError(t, err, "the user is an address")
}
