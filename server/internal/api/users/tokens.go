package users

import (
	"context"
	"net/http"
	"time"

	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
	"github.com/trunklinehq/trunkline/server/internal/view"
)

// tokenRoutes are the caller's own scoped tokens.
func (a *API) tokenRoutes(api *httpapi.API) {
	httpapi.Register(api, httpapi.Operation{
		ID: "Auth_CreateToken", Method: http.MethodPost, Path: "/user/token", Status: http.StatusCreated,
		Summary: "Create a token for a program",
		About: "It has the given permissions as long as the caller has them, and is shown only once. " +
			"It ends at `expiresAt`, at most a year from now, when it is revoked, or when its owner gets a new password. A user can have 100 of them.",
		Errors: []int{http.StatusForbidden, http.StatusConflict}, Login: true,
	}, httpapi.AnyUser, a.createToken)
	httpapi.Register(api, httpapi.Operation{
		ID: "Auth_Tokens", Method: http.MethodGet, Path: "/user/token", Summary: "List the caller's tokens for programs, oldest first", Login: true,
	}, httpapi.AnyUser, a.listTokens)
	httpapi.Register(api, httpapi.Operation{
		ID: "Auth_RevokeToken", Method: http.MethodDelete, Path: "/user/token/{tokenId}", Summary: "Revoke a token for a program",
		About: "Every node refuses it at once.", Errors: []int{http.StatusNotFound}, Login: true,
	}, httpapi.AnyUser, a.revokeToken)
}

type newTokenBody struct {
	Name        string            `json:"name" minLength:"1" maxLength:"200" example:"Shop system"`
	Permissions []auth.Permission `json:"permissions" nullable:"false" minItems:"1" maxItems:"200" doc:"Permissions of the token, all of which the caller must have." example:"[\"chats.send\"]"`
	ExpiresAt   int64             `json:"expiresAt" minimum:"1" maximum:"253402300799" doc:"UNIX seconds."`
}

type newTokenView struct {
	ID    string `json:"id"`
	Token string `json:"token" doc:"A JWT for the Authorization header. It is not shown again."`
}

func (a *API) createToken(ctx context.Context, c httpapi.Call, in *struct{ Body newTokenBody }) (newTokenView, error) {
	b := in.Body
	id, token, err := a.Auth.Tokens().Create(ctx, c.Caller, auth.NewToken{
		Name: b.Name, Permissions: b.Permissions, ExpiresAt: time.Unix(b.ExpiresAt, 0),
	})
	return newTokenView{id, token}, err
}

type tokenView struct {
	ID          string            `json:"id"`
	Name        string            `json:"name"`
	Permissions []auth.Permission `json:"permissions" nullable:"false"`
	ExpiresAt   int64             `json:"expiresAt" doc:"UNIX seconds."`
	CreatedAt   int64             `json:"createdAt" doc:"UNIX seconds."`
}

func viewToken(t auth.Token) tokenView {
	return tokenView{ID: t.ID, Name: t.Name, Permissions: t.Permissions, ExpiresAt: t.ExpiresAt.Unix(), CreatedAt: t.CreatedAt.Unix()}
}

func (a *API) listTokens(ctx context.Context, c httpapi.Call, in *httpapi.PageInput) (view.Page[tokenView], error) {
	p, err := a.Auth.Tokens().List(ctx, c.Caller, in.List())
	return view.PageOf(p, viewToken), httpapi.InQuery(err)
}

type tokenPath struct {
	ID string `path:"tokenId" maxLength:"64" doc:"Id of the token."`
}

func (a *API) revokeToken(ctx context.Context, c httpapi.Call, in *tokenPath) (httpapi.Done, error) {
	return httpapi.Done{Success: true}, a.Auth.Tokens().Revoke(ctx, c.Caller, in.ID)
}
