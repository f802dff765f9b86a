package server

import (
	"context"
	"errors"
	"net/http"

	"github.com/trunklinehq/trunkline/aiflow/credential"
	"github.com/trunklinehq/trunkline/aiflow/flow"
)

// openCredentials opens what keeps the credentials of accounts.
func (s *Server) openCredentials(ctx context.Context) (err error) {
	s.Credentials, err = credential.New(ctx, s.cfg.DB, &credential.Options{Secrets: s.cfg.secrets(), Allow: s.cfg.WebhookAllow, Now: s.cfg.Now})
	return err
}

// authorize adds a credential to a request of a flow, or says to its author why
// not.
func (s *Server) authorize(ctx context.Context, account, id string, r *http.Request) error {
	err := s.Credentials.Authorize(ctx, account, id, r)
	why := ""
	switch {
	case errors.Is(err, credential.ErrNotFound):
		why = "There is no such credential."
	case errors.Is(err, credential.ErrHost):
		why = "The credential is not for this host."
	case errors.Is(err, credential.ErrPlain):
		why = "The credential is sent over https only."
	default:
		return err
	}
	return &flow.Error{Code: "http.credential", Message: why}
}
