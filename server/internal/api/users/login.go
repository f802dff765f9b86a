package users

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/server/internal/cookies"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
)

// API answers what concerns users, the caller first.
type API struct {
	Auth           *auth.Service
	Cookies        cookies.Jar
	InvitationLink func(token string) string
}

// Register adds the operations of the resource.
func (a *API) Register(api *httpapi.API) {
	a.signUpRoutes(api)
	httpapi.RegisterReply(api, httpapi.Operation{
		ID: "Auth_Login", Method: http.MethodPost, Path: "/user/login",
		Summary: "Log in", About: "The token is valid for 12 hours. After ten failures in 15 minutes, the server refuses the address until the 15 minutes have passed, except for a user who has logged in from it before, " +
			"and except for a browser in which the user has. A user with a second factor also needs a `code`: without it, a correct password answers 401 `second_factor_required`. " + aboutCookie,
		Errors: []int{http.StatusUnauthorized, http.StatusForbidden}, Limited: true,
	}, httpapi.Anyone, a.login)
	httpapi.RegisterReply(api, httpapi.Operation{
		ID: "Auth_Logout", Method: http.MethodPost, Path: "/user/logout", Summary: "Log out",
		About: "Ends the session of the request's token and that of its cookie, on every node at once. A login with `cookie: true` is one session: " +
			"its token and its cookie end together.",
	}, httpapi.AnyUser, a.endCookie)
	httpapi.Register(api, httpapi.Operation{
		ID: "Auth_User", Method: http.MethodGet, Path: "/user/me", Summary: "Show the user of the token",
	}, httpapi.AnyUser, a.me)
	httpapi.Register(api, httpapi.Operation{
		ID: "Auth_Permissions", Method: http.MethodGet, Path: "/user/permissions", Summary: "List the caller's permissions, and all permissions and roles",
	}, httpapi.AnyUser, a.permissions)
	a.resetRoutes(api)
	a.usersRoutes(api)
	a.tokenRoutes(api)
	a.sessionRoutes(api)
	a.invitationRoutes(api)
}

const aboutCookie = "With `cookie: true`, for browsers, the response also sets a session cookie. It is valid for 12 hours after the last request, and 7 days at most."

type userView struct {
	ID          string            `json:"id"`
	AccountID   string            `json:"accountId"`
	Email       string            `json:"email"`
	Name        string            `json:"name"`
	Permissions []auth.Permission `json:"permissions" nullable:"false"`
	Role        *auth.Role        `json:"role" enum:"owner,admin,builder,agent,viewer" doc:"The role with exactly these permissions; null if no role has them. Owners have every permission."`
	Disabled    bool              `json:"disabled" doc:"Whether the user is disabled: a disabled user cannot log in, and the user's tokens and cookies are refused."`
	CreatedAt   int64             `json:"createdAt" doc:"UNIX seconds."`
}

type sessionView struct {
	Token     string   `json:"token" doc:"A JWT for the Authorization header."`
	ExpiresAt int64    `json:"expiresAt" doc:"UNIX seconds."`
	User      userView `json:"user"`
}

// withCookie is an answer that may set the session cookie.
type withCookie[T any] struct {
	SetCookie []http.Cookie `header:"Set-Cookie"`
	Body      T
}

type loginBody struct {
	Email    string `json:"email" format:"email" maxLength:"254"`
	Password string `json:"password" minLength:"1" maxLength:"1000"`
	Code     string `json:"code,omitempty" maxLength:"40" doc:"A code of the user's authenticator app, or a recovery code. Required after the error second_factor_required."`
	Cookie   bool   `json:"cookie,omitempty" doc:"Whether to set a session cookie as well. Default: false."`
}

func (a *API) login(ctx context.Context, c httpapi.Call, in *struct{ Body loginBody }) (*withCookie[sessionView], error) {
	b := in.Body
	if b.Cookie && c.Foreign { // it would log a visitor in as another user
		return nil, httpapi.CrossSite()
	}
	session, err := a.Auth.Login(ctx, auth.Credentials{
		Email: b.Email, Password: b.Password, Address: c.Client, Agent: c.Agent, Cookie: b.Cookie, Device: c.Device, Code: b.Code,
	})
	return viewSession(a.Cookies, session), err
}

type logoutInput struct{ cookies []*http.Cookie }

// Resolve finds the cookies of a request.
func (in *logoutInput) Resolve(c huma.Context) []error {
	in.cookies = huma.ReadCookies(c)
	return nil
}

func (a *API) endCookie(ctx context.Context, c httpapi.Call, in *logoutInput) (*withCookie[httpapi.Done], error) {
	out := &withCookie[httpapi.Done]{Body: httpapi.Done{Success: true}}
	if err := a.Auth.Sessions().End(ctx, c.Caller); err != nil {
		return nil, err
	}
	for _, found := range in.cookies {
		if found.Name != a.Cookies.Name() {
			continue
		}
		if err := a.Auth.Sessions().EndCookie(ctx, found.Value); err != nil {
			return nil, err
		}
		out.SetCookie = []http.Cookie{a.Cookies.New("")}
	}
	return out, nil
}

func (a *API) me(ctx context.Context, c httpapi.Call, _ *struct{}) (userView, error) {
	u, err := a.Auth.Users().Get(ctx, c.Account, c.User)
	return viewUser(u), err
}

type permissionsView struct {
	Permissions []auth.Permission `json:"permissions" nullable:"false" doc:"Permissions of the caller; with a scoped token, those of the token. chats.read@17 is the permission chats.read for the reference 17 only."`
	Catalogue   []permissionView  `json:"catalogue" nullable:"false"`
	Roles       []roleView        `json:"roles" nullable:"false" doc:"Named sets of permissions that you can give to users."`
}

type roleView struct {
	Name        auth.Role         `json:"name" enum:"owner,admin,builder,agent,viewer"`
	Description string            `json:"description"`
	Permissions []auth.Permission `json:"permissions" nullable:"false"`
}

type permissionView struct {
	Name        auth.Permission `json:"name"`
	Description string          `json:"description"`
	Limitable   bool            `json:"limitable" doc:"Whether it can be limited to one reference, as in chats.read@17."`
}

func (a *API) permissions(_ context.Context, c httpapi.Call, _ *struct{}) (permissionsView, error) {
	out := permissionsView{Permissions: c.Permissions}
	for _, d := range auth.Catalogue() {
		out.Catalogue = append(out.Catalogue, permissionView{d.Name, d.Description, d.Name.Limitable()})
	}
	for _, r := range auth.Roles() {
		out.Roles = append(out.Roles, roleView(r))
	}
	return out, nil
}

func viewUser(u auth.User) userView {
	return userView{
		ID: u.ID, AccountID: u.AccountID, Email: u.Email, Name: u.Name,
		Permissions: u.Permissions, Role: viewRole(u.Role), Disabled: u.Disabled, CreatedAt: u.CreatedAt.Unix(),
	}
}

// viewRole is a role, or null for a set of permissions that has no name.
func viewRole(r auth.Role) *auth.Role {
	if r == "" {
		return nil
	}
	return &r
}

func viewSession(jar cookies.Jar, in auth.Session) *withCookie[sessionView] {
	out := &withCookie[sessionView]{Body: sessionView{Token: in.Token, ExpiresAt: in.ExpiresAt.Unix(), User: viewUser(in.User)}}
	out.SetCookie = jar.Session(in)
	return out
}
