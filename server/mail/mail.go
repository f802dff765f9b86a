// Package mail sends short texts through the mail server in a URL:
//
//	sender, err := mail.New("smtp://user:password@smtp.example.org?from=chat@example.org", nil)
//	err = sender.Send(ctx, "ana@example.org", "Set a new password", "…")
//
// It stores nothing and makes one attempt; the caller retries.
package mail

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	netmail "net/mail"
	"net/url"
	"strconv"
	"time"

	gomail "github.com/wneessen/go-mail"
)

// ErrRefused reports a mail that the server will never accept, such as one to a
// mailbox that does not exist.
var ErrRefused = errors.New("mail: the server refuses the mail permanently")

// timeout bounds each step of the dialogue with a server.
const timeout = 15 * time.Second

// Options configures a [Sender].
type Options struct {
	// From is the sender's address if the URL has none. "": the user of the URL,
	// which must then be an address.
	From string
	// TLS configures how the server is verified. nil: by its host name, with the
	// system's certificates.
	TLS *tls.Config
}

// Sender sends mails. It is safe for concurrent use: each mail uses its own
// connection.
type Sender struct {
	host string
	from string
	with []gomail.Option
}

// New returns a Sender for a URL:
//
//	smtp://USER:PASSWORD@HOST:PORT?from=ADDRESS
//	smtps://…
//
// The default port is 587 for smtp and 465 for smtps. smtp requires STARTTLS,
// except on this machine or if the query has tls=optional. smtps uses TLS from the
// beginning. Nothing is sent to a server that cannot be verified. Without a user
// there is no login. Errors do not quote the URL.
func New(rawURL string, o *Options) (*Sender, error) {
	u, err := url.Parse(rawURL)
	if err != nil {
		return nil, errors.New("mail: the address is not a URL: special characters in a password are written as %XX")
	}
	if (u.Scheme != "smtp" && u.Scheme != "smtps") || u.Hostname() == "" || (u.Path != "" && u.Path != "/") || u.Fragment != "" {
		return nil, errors.New("mail: the address must be smtp://HOST:PORT or smtps://HOST:PORT")
	}
	if o == nil {
		o = &Options{}
	}
	s := &Sender{host: u.Hostname(), with: []gomail.Option{gomail.WithTimeout(timeout), gomail.WithTLSConfig(o.verify(u.Hostname()))}}
	if err := s.query(u, o.From); err != nil {
		return nil, err
	}
	if p := u.Port(); p != "" {
		n, err := strconv.Atoi(p)
		if err != nil || n < 1 || n > 65535 {
			return nil, errors.New("mail: the port must be a number from 1 to 65535")
		}
		s.with = append(s.with, gomail.WithPort(n))
	}
	if password, ok := u.User.Password(); ok {
		s.with = append(s.with, gomail.WithSMTPAuth(gomail.SMTPAuthAutoDiscover),
			gomail.WithUsername(u.User.Username()), gomail.WithPassword(password))
	}
	if _, err := gomail.NewClient(s.host, s.with...); err != nil {
		return nil, fmt.Errorf("mail: %w", err)
	}
	return s, nil
}

func (o *Options) verify(host string) *tls.Config {
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if o.TLS != nil {
		c = o.TLS.Clone()
	}
	c.ServerName = cmp.Or(c.ServerName, host)
	return c
}

// query applies the query of a URL. Ports come first, because the policies set
// their defaults.
func (s *Sender) query(u *url.URL, from string) error {
	q, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return errors.New("mail: the query is malformed")
	}
	for name := range q {
		if name != "from" && name != "tls" {
			return errors.New("mail: the query may have only from and tls")
		}
	}
	policy := gomail.TLSMandatory
	switch mode := q.Get("tls"); {
	case u.Scheme == "smtps":
		if mode != "" && mode != "required" {
			return errors.New("mail: smtps always uses TLS: remove tls")
		}
		s.with = append(s.with, gomail.WithSSLPort(false))
	case mode == "optional", mode == "" && loopback(s.host):
		policy = gomail.TLSOpportunistic
	case mode != "" && mode != "required":
		return errors.New("mail: tls must be required or optional")
	}
	if u.Scheme == "smtp" {
		s.with = append(s.with, gomail.WithPort(gomail.DefaultPortTLS), gomail.WithTLSPolicy(policy))
	}
	s.from = first(q.Get("from"), address(u.User.Username()), from)
	if address(s.from) == "" {
		return errors.New("mail: from must be the address of the sender")
	}
	return nil
}

func first(ss ...string) string {
	for _, s := range ss {
		if s != "" {
			return s
		}
	}
	return ""
}

// address returns s if it is an e-mail address, else "".
func address(s string) string {
	if a, err := netmail.ParseAddress(s); err == nil && a.Address == s {
		return s
	}
	return ""
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Send passes a mail to the server. It returns nil once the server is responsible
// for it, and [ErrRefused] if the server will never accept it.
func (s *Sender) Send(ctx context.Context, to, subject, text string) error {
	m := gomail.NewMsg(gomail.WithNoDefaultUserAgent())
	if err := errors.Join(m.FromFormat("Trunkline", s.from), m.To(to)); err != nil {
		return fmt.Errorf("%w: %w", ErrRefused, err)
	}
	m.SetDate()
	m.SetMessageID()
	m.SetGenHeader("Auto-Submitted", "auto-generated") // prevents out-of-office replies
	m.Subject(subject)
	m.SetBodyString(gomail.TypeTextPlain, text)
	c, err := gomail.NewClient(s.host, s.with...)
	if err != nil {
		return fmt.Errorf("preparing a mail: %w", err)
	}
	err = c.DialAndSendWithContext(ctx, m)
	var send *gomail.SendError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &send) && !send.IsTemp() && send.ErrorCode() >= 500:
		return fmt.Errorf("%w: %w", ErrRefused, err)
	}
	return fmt.Errorf("sending a mail: %w", err)
}

// Reach connects to the server and logs in, without sending anything. Its error is
// the one that Send would return.
func (s *Sender) Reach(ctx context.Context) error {
	c, err := gomail.NewClient(s.host, s.with...)
	if err == nil {
		err = c.DialWithContext(ctx)
	}
	if err != nil {
		return fmt.Errorf("reaching the mail server: %w", err)
	}
	if err := c.Close(); err != nil {
		return fmt.Errorf("leaving the mail server: %w", err)
	}
	return nil
}
