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
		ID: "Auth_Sessions", Method: http.MethodGet, Path: "/user/sessions", Summary: "List the sessions and tokens of a user, the oldest first",
		About:  "Log-ins with a cookie or a token alone, and tokens for programs. " + aboutOthersSessions,
		Errors: []int{http.StatusNotFound}, Login: true,
	}, httpapi.AnyUser, a.listSessions)
	httpapi.Register(api, httpapi.Operation{
		ID: "Auth_RevokeSession", Method: http.MethodDelete, Path: "/user/sessions/{sessionId}", Summary: "End a session or token",
		About:  "It is refused on every node at once. Its user may be another than the caller, as with GET.",
		Errors: []int{http.StatusNotFound}, Login: true,
	}, httpapi.AnyUser, a.revokeSession)
	httpapi.Register(api, httpapi.Operation{
		ID: "Auth_RevokeSessions", Method: http.MethodDelete, Path: "/user/sessions", Summary: "End all other sessions and tokens of a user",
		About:  "All but that of the request, tokens for programs included. They are refused on every node at once. " + aboutOthersSessions,
		Errors: []int{http.StatusNotFound}, Login: true,
	}, httpapi.AnyUser, a.revokeSessions)
}

const aboutOthersSessions = "Those of another user need the permission `users.manage`, and the user must have no permission that the caller lacks; those of an owner need an owner."

type sessionsInput struct {
	httpapi.PageInput
	User string `query:"user" maxLength:"64" doc:"Id of another user of the account. Default: the caller."`
}

// sessionsOf says whose sessions are meant.
type sessionsOf struct {
	User string `query:"user" maxLength:"64" doc:"Id of another user of the account. Default: the caller."`
}

type openView struct {
	ID          string              `json:"id"`
	Kind        auth.Kind           `json:"kind" enum:"cookie,token,scoped" doc:"cookie: a log-in of a browser; token: a log-in with a token alone; scoped: a token for programs."`
	Name        *string             `json:"name" doc:"Of a token for programs."`
	Permissions []auth.Permission   `json:"permissions" nullable:"true" doc:"Of a token for programs; null: all of the user's."`
	CreatedAt   int64               `json:"createdAt" doc:"UNIX seconds"`
	LastUsedAt  *messaging.UnixTime `json:"lastUsedAt" doc:"Exact to a minute; null: never."`
	ExpiresAt   int64               `json:"expiresAt" doc:"UNIX seconds. That of a cookie moves on with each use, for 7 days at most."`
	Address     *string             `json:"address" doc:"Of the last client; null: unknown."`
	UserAgent   *string             `json:"userAgent" doc:"What the last client calls itself; null: unknown."`
	Current     bool                `json:"current" doc:"It is the session of this request."`
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
