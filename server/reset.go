package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"

	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
	"github.com/trunklinehq/trunkline/server/mail"
)

func (s *Server) resetRoutes(a *httpapi.API) {
	httpapi.RegisterReply(a, httpapi.Operation{
		ID: "Auth_Reset", Method: http.MethodPost, Path: "/user/reset", Status: http.StatusAccepted,
		Summary: "Set a new password without the old one",
		About: "With an e-mail: sends its user, if there is one, a link that is valid for 30 minutes and works once. The answer is the same " +
			"for every e-mail, which gets three mails an hour at most. With the token of a link and a password: sets it, and ends older tokens and cookies.",
		Limited: true,
	}, httpapi.Anyone, s.reset)
}

type resetBody struct {
	Email    string `json:"email,omitempty" maxLength:"254" doc:"Asks for a link."`
	Token    string `json:"token,omitempty" maxLength:"200" doc:"What stands behind # in the link; uses it."`
	Password string `json:"password,omitempty" maxLength:"1000" doc:"The new password, with token; at least 10 characters."`
}

type resetAnswer struct {
	Status int
	Body   httpapi.Done
}

func (s *Server) reset(ctx context.Context, _ httpapi.Call, in *struct{ Body resetBody }) (*resetAnswer, error) {
	b := in.Body
	switch {
	case b.Email == "" && b.Token == "":
		return nil, httpapi.Invalid("body.email", "is required, or token and password")
	case b.Email != "" && (b.Token != "" || b.Password != ""):
		return nil, httpapi.Invalid("body.email", "is not for who has a token")
	case b.Email != "":
		return &resetAnswer{http.StatusAccepted, httpapi.Done{Success: true}}, s.Auth.RequestReset(ctx, b.Email)
	}
	return &resetAnswer{http.StatusOK, httpapi.Done{Success: true}}, s.Auth.Reset(ctx, b.Token, b.Password)
}

// ResetLink is the page of the panel on which a token of
// [auth.IssueReset] is used. What stands behind # reaches no server and no log.
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
