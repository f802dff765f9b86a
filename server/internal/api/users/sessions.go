package users

import (
	"cmp"
	"context"
	"net/http"

	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
	"github.com/trunklinehq/trunkline/server/internal/view"
)

// sessionRoutes are what lets a user in: log-ins and tokens.
func (a *API) sessionRoutes(api *httpapi.API) {
	httpapi.Register(api, httpapi.Operation{
		ID: "Auth_Sessions", Method: http.MethodGet, Path: "/user/sessions", Summary: "List the sessions and tokens of a user, oldest first",
		About:  "Lists logins with a cookie or a token only, and tokens for programs. " + aboutOthersSessions,
		Errors: []int{http.StatusNotFound}, Login: true,
	}, httpapi.AnyUser, a.listSessions)
	httpapi.Register(api, httpapi.Operation{
		ID: "Auth_RevokeSession", Method: http.MethodDelete, Path: "/user/sessions/{sessionId}", Summary: "End a session or token",
		About:  "Every node refuses it at once. It may belong to another user.",
		Errors: []int{http.StatusNotFound}, Login: true,
	}, httpapi.AnyUser, a.revokeSession)
	httpapi.Register(api, httpapi.Operation{
		ID: "Auth_RevokeSessions", Method: http.MethodDelete, Path: "/user/sessions", Summary: "End all other sessions and tokens of a user",
		About:  "Ends all except the session of the request, including tokens for programs. Every node refuses them at once. " + aboutOthersSessions,
		Errors: []int{http.StatusNotFound}, Login: true,
	}, httpapi.AnyUser, a.revokeSessions)
}

const aboutOthersSessions = "For another user, the caller needs the permission `users.manage` and must have every permission of that user; only an owner may do it for an owner."

type sessionsInput struct {
	User string `query:"user" maxLength:"64" doc:"Id of another user of the account. Default: the caller."`
	httpapi.PageInput
}

// sessionsOf says whose sessions are meant.
type sessionsOf struct {
	User string `query:"user" maxLength:"64" doc:"Id of another user of the account. Default: the caller."`
}

type openView struct {
	ID          string              `json:"id"`
	Kind        auth.Kind           `json:"kind" enum:"cookie,token,scoped" doc:"cookie: a login in a browser; token: a login with a token only; scoped: a token for a program."`
	Name        *string             `json:"name" doc:"Name of a token for a program."`
	Permissions []auth.Permission   `json:"permissions" nullable:"true" doc:"Permissions of a token for a program; null if it has all permissions of its user."`
	CreatedAt   int64               `json:"createdAt" doc:"UNIX seconds."`
	LastUsedAt  *messaging.UnixTime `json:"lastUsedAt" doc:"Accurate to one minute; null if it was never used."`
	ExpiresAt   int64               `json:"expiresAt" doc:"UNIX seconds. A cookie's expiry moves with each use, up to 7 days after the login."`
	Address     *string             `json:"address" doc:"Address of the last client; null if unknown."`
	UserAgent   *string             `json:"userAgent" doc:"User agent of the last client; null if unknown."`
	Current     bool                `json:"current" doc:"Whether this is the session of the request."`
}

func viewOpen(o auth.Open) openView {
	v := openView{
		ID: o.ID, Kind: o.Kind, Name: view.OrNull(o.Name), Permissions: o.Permissions, CreatedAt: o.CreatedAt.Unix(), ExpiresAt: o.ExpiresAt.Unix(),
		Address: view.OrNull(o.Address), UserAgent: view.OrNull(o.Agent), Current: o.Current,
	}
	if !o.UsedAt.IsZero() {
		v.LastUsedAt = &messaging.UnixTime{Time: o.UsedAt}
	}
	return v
}

func (a *API) listSessions(ctx context.Context, c httpapi.Call, in *sessionsInput) (view.Page[openView], error) {
	p, err := a.Auth.Sessions().List(ctx, c.Caller, cmp.Or(in.User, c.User), in.List())
	return view.PageOf(p, viewOpen), httpapi.InQuery(err)
}

type sessionPath struct {
	ID string `path:"sessionId" maxLength:"64" doc:"Id of the session."`
}

func (a *API) revokeSession(ctx context.Context, c httpapi.Call, in *sessionPath) (httpapi.Done, error) {
	return httpapi.Done{Success: true}, a.Auth.Sessions().Revoke(ctx, c.Caller, in.ID)
}

func (a *API) revokeSessions(ctx context.Context, c httpapi.Call, in *sessionsOf) (httpapi.Done, error) {
	return httpapi.Done{Success: true}, a.Auth.Sessions().RevokeAll(ctx, c.Caller, cmp.Or(in.User, c.User))
}
