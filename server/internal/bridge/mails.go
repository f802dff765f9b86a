package bridge

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"net/url"

	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/server/mail"
)

const resetText = `Someone asked to set a new password for this e-mail at
%s

Open this link to set it. The link works once, within 30 minutes:

%s

If you did not ask for this, do nothing: your password does not change.
`

// Mailer sends the links of the server at a base URL.
type Mailer struct {
	sender *mail.Sender
	base   string
}

// NewMailer returns a mailer that sends through the mail server at smtpURL.
func NewMailer(smtpURL, baseURL string) (*Mailer, error) {
	sender, err := mail.New(smtpURL, &mail.Options{From: mailFrom(baseURL)})
	if err != nil {
		return nil, err
	}
	return &Mailer{sender, baseURL}, nil
}

// Reset sends a link to set a new password.
func (m *Mailer) Reset(ctx context.Context, to auth.User, token string) error {
	// No name: who signed up another may have written anything into it.
	return m.send(ctx, to.Email, "Set a new password", fmt.Sprintf(resetText, m.base, mail.ResetLink(m.base, token)))
}

func (m *Mailer) send(ctx context.Context, to, subject, text string) error {
	err := m.sender.Send(ctx, to, subject, text)
	if errors.Is(err, mail.ErrRefused) {
		return fmt.Errorf("%w: %w", auth.ErrUndeliverable, err)
	}
	return err
}

// mailFrom is the sender when the address of the mail server names none.
func mailFrom(baseURL string) string {
	host := "localhost"
	if u, err := url.Parse(baseURL); err == nil {
		if _, err := netip.ParseAddr(u.Hostname()); err != nil {
			host = u.Hostname()
		}
	}
	return "trunkline@" + host
}

const invitationText = `You are invited to join an account at
%s

Open this link to choose your password. The link works once, within 7 days:

%s

If you do not know why you get this mail, do nothing.
`

// Invitation sends the link of an invitation.
func (m *Mailer) Invitation(ctx context.Context, to auth.Invitation, token string) error {
	// Neither the account's name nor the person's: the inviter may have written
	// anything into them.
	return m.send(ctx, to.Email, "Your invitation", fmt.Sprintf(invitationText, m.base, mail.InvitationLink(m.base, token)))
}

const signUpText = `Someone signed up with this e-mail at
%s

Open this link and enter the password of the sign-up. The link works once, within 24 hours:

%s

If it was not you, do nothing: no account is created.
`

const knownText = `Someone tried to sign up with this e-mail at
%s

It already has an account there. Log in, or set a new password:

%s

If it was not you, do nothing: nothing has changed.
`

// SignUp sends a link to confirm a sign-up, or says that there is an account.
func (m *Mailer) SignUp(ctx context.Context, to, token string) error {
	// No name: who signs up another may have written anything into it.
	if token == "" {
		return m.send(ctx, to, "You have an account", fmt.Sprintf(knownText, m.base, m.base+"/panel/"))
	}
	return m.send(ctx, to, "Confirm your sign-up", fmt.Sprintf(signUpText, m.base, mail.SignUpLink(m.base, token)))
}
