package server

import (
	"context"
	"net/http"
	"time"

	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/server/auth"
)

// tokenRoutes are the caller's own scoped tokens.
func (s *Server) tokenRoutes(a *api) {
	register(a, operation{
		id: "Auth_CreateToken", method: http.MethodPost, path: "/user/token", status: http.StatusCreated,
		summary: "Make a token for a program",
		about: "It has those of the caller's rights that it names, as long as he has them, and is shown only once. " +
			"It ends with `expiresAt`, at most a year from now, when it is revoked, or with a new password of its owner.",
		errors: []int{http.StatusForbidden}, login: true,
	}, anyUser, s.createToken)
	register(a, operation{
		id: "Auth_Tokens", method: http.MethodGet, path: "/user/token", summary: "List the caller's tokens for programs, the oldest first", login: true,
	}, anyUser, s.listTokens)
	register(a, operation{
		id: "Auth_RevokeToken", method: http.MethodDelete, path: "/user/token/{tokenId}", summary: "Revoke a token for a program",
		about: "It is refused everywhere at once.", errors: []int{http.StatusNotFound}, login: true,
	}, anyUser, s.revokeToken)
}

type newTokenBody struct {
	Name        string            `json:"name" minLength:"1" maxLength:"200" example:"Shop system"`
	Permissions []auth.Permission `json:"permissions" nullable:"false" minItems:"1" maxItems:"200" doc:"Some of the caller's." example:"[\"chats.send\"]"`
	ExpiresAt   int64             `json:"expiresAt" minimum:"1" maximum:"253402300799" doc:"UNIX seconds"`
}

type newTokenView struct {
	ID    string `json:"id"`
	Token string `json:"token" doc:"A JWT for the Authorization header, shown only now."`
}

func (s *Server) createToken(ctx context.Context, c call, in *struct{ Body newTokenBody }) (newTokenView, error) {
	b := in.Body
	id, token, err := s.Auth.CreateToken(ctx, c.Caller, auth.NewToken{
		Name: b.Name, Permissions: b.Permissions, ExpiresAt: time.Unix(b.ExpiresAt, 0),
	})
	return newTokenView{id, token}, err
}

type tokenView struct {
	ID          string            `json:"id"`
	Name        string            `json:"name"`
	Permissions []auth.Permission `json:"permissions" nullable:"false"`
	ExpiresAt   int64             `json:"expiresAt" doc:"UNIX seconds"`
	CreatedAt   int64             `json:"createdAt" doc:"UNIX seconds"`
}

func viewToken(t auth.Token) tokenView {
	return tokenView{ID: t.ID, Name: t.Name, Permissions: t.Permissions, ExpiresAt: t.ExpiresAt.Unix(), CreatedAt: t.CreatedAt.Unix()}
}

func (s *Server) listTokens(ctx context.Context, c call, in *pageInput) (messaging.Page[tokenView], error) {
	p, err := s.Auth.Tokens(ctx, c.Caller, in.list())
	return viewPage(p.Items, p.Next, viewToken), inQuery(err)
}

type tokenPath struct {
	ID string `path:"tokenId" maxLength:"64" doc:"Id of the token."`
}

func (s *Server) revokeToken(ctx context.Context, c call, in *tokenPath) (done, error) {
	return done{true}, s.Auth.RevokeToken(ctx, c.Caller, in.ID)
}
