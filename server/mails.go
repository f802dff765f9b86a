package server

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"net/url"

	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/server/mail"
)

// ResetLink is the page of the panel on which a token of
// [auth.IssueReset] is used. What is behind # reaches no server and no log.
func ResetLink(baseURL, token string) string { return baseURL + "/panel/reset#" + token }

const resetText = `Somebody, hopefully you, wants to set a new password for this e-mail at
%s

Open this link to do it. It works once, within 30 minutes:

%s

If it was not you, do nothing: your password stays as it is.
`

// mailer sends the links of this server.
type mailer struct {
	sender *mail.Sender
	base   string
}

// mailer is how links are sent, or nil without a mail server.
func (c Config) mailer() (*mailer, error) {
	if c.SMTPURL == "" {
		return nil, nil
	}
	sender, err := mail.New(string(c.SMTPURL), &mail.Options{From: c.mailFrom()})
	if err != nil {
		return nil, fmt.Errorf("server: Config.SMTPURL: %w", err)
	}
	return &mailer{sender, c.BaseURL}, nil
}

// resetMail sends a link to set a new password.
func (m mailer) resetMail(ctx context.Context, to auth.User, token string) error {
	// No name: who signed up another may have written anything into it.
	return m.send(ctx, to.Email, "Set a new password", fmt.Sprintf(resetText, m.base, ResetLink(m.base, token)))
}

func (m mailer) send(ctx context.Context, to, subject, text string) error {
	err := m.sender.Send(ctx, to, subject, text)
	if errors.Is(err, mail.ErrRefused) {
		return fmt.Errorf("%w: %w", auth.ErrUndeliverable, err)
	}
	return err
}

// mailFrom is the sender when the address of the mail server names none.
func (c Config) mailFrom() string {
	host := "localhost"
	if u, err := url.Parse(c.BaseURL); err == nil {
		if _, err := netip.ParseAddr(u.Hostname()); err != nil {
			host = u.Hostname()
		}
	}
	return "trunkline@" + host
}

// InvitationLink is the page of the panel on which the token of an invitation
// is used. The part behind # reaches no server and no log.
func InvitationLink(baseURL, token string) string { return baseURL + "/panel/invitation#" + token }

const invitationText = `You are invited to become a user of an account at
%s

Open this link to choose your password. It works once, within 7 days:

%s

If you do not know why you get this mail, do nothing.
`

// invitationMail sends the link of an invitation.
func (m mailer) invitationMail(ctx context.Context, to auth.Invitation, token string) error {
	// Neither the account's name nor the person's: the inviter may have written
	// anything into them.
	return m.send(ctx, to.Email, "Your invitation", fmt.Sprintf(invitationText, m.base, InvitationLink(m.base, token)))
}

// SignUpLink is the page of the panel on which the token of a sign-up is used.
// The part behind # reaches no server and no log.
func SignUpLink(baseURL, token string) string { return baseURL + "/panel/confirm#" + token }

const signUpText = `Somebody, hopefully you, wants to sign up with this e-mail at
%s

Open this link and enter the password that you chose. It works once, within 24 hours:

%s

If it was not you, do nothing: no account is made.
`

const knownText = `Somebody, hopefully you, wants to sign up with this e-mail at
%s

It has an account there already. Log in, or set a new password:

%s

If it was not you, do nothing: nothing has changed.
`

// signUpMail sends a link to confirm a sign-up, or says that there is an account.
func (m mailer) signUpMail(ctx context.Context, to, token string) error {
	// No name: who signs up another may have written anything into it.
	if token == "" {
		return m.send(ctx, to, "You have an account", fmt.Sprintf(knownText, m.base, m.base+"/panel/"))
	}
	return m.send(ctx, to, "Confirm your sign-up", fmt.Sprintf(signUpText, m.base, SignUpLink(m.base, token)))
}
