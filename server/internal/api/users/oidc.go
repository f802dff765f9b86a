package users

import (
	"context"
	"encoding/json"
	"errors"
	"html/template"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/gorilla/mux"

	"github.com/trunklinehq/trunkline/internal/keyring"
	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/server/auth/oidc"
	"github.com/trunklinehq/trunkline/server/internal/cookies"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
)

const oidcLoginPath = "/user/oidc/login"

// OIDCCallbackPath is where a provider sends browsers back to.
const OIDCCallbackPath = "/user/oidc/callback"

// SignIn says how users sign in, and signs them in at an OpenID provider.
type SignIn struct {
	Auth      *auth.Service
	BaseURL   string
	Closed    bool // only the first account signs up
	Cookies   cookies.Jar
	Keys      *keyring.Ring
	Log       *slog.Logger
	Name      string // what users know the provider by
	Problem   func(context.Context, error) *httpapi.Problem
	Provider  *oidc.Provider // nil: there is none
	Recording func(context.Context, *httpapi.Request, auth.Caller) context.Context
}

// Mount adds the pages by which a browser signs in at the provider.
func (a *SignIn) Mount(r *mux.Router) {
	if a.Provider == nil {
		return
	}
	r.Path(oidcLoginPath).Methods(http.MethodGet).HandlerFunc(a.beginOIDC)
	r.Path(OIDCCallbackPath).Methods(http.MethodGet).HandlerFunc(a.finishOIDC)
}

// beginOIDC sends a browser to the provider.
func (a *SignIn) beginOIDC(w http.ResponseWriter, r *http.Request) {
	if !a.takePublic(w, r) {
		return
	}
	link, flow, err := a.Provider.Begin(r.Context())
	if err != nil {
		a.refuseOIDC(w, r, err)
		return
	}
	c := a.flowCookie(flow)
	http.SetCookie(w, &c)
	http.Redirect(w, r, link, http.StatusFound)
}

// finishOIDC takes a browser back from the provider, and begins its session.
func (a *SignIn) finishOIDC(w http.ResponseWriter, r *http.Request) {
	if !a.takePublic(w, r) {
		return
	}
	over := a.flowCookie(oidc.Flow{})
	http.SetCookie(w, &over) // a sign-in ends once, whatever comes of it
	flow := a.flowOf(r)
	who, err := a.Provider.Finish(r.Context(), flow, r.URL.Query())
	if err != nil {
		a.refuseOIDC(w, r, err)
		return
	}
	ctx := a.Recording(r.Context(), httpapi.RequestOf(r.Context()), auth.Caller{})
	if flow.User != "" {
		err = a.Auth.ConnectExternal(ctx, flow.User, flow.Session, who)
	} else {
		err = a.signInExternal(ctx, w, r, who)
	}
	if err != nil {
		a.refuseOIDC(w, r, err)
		return
	}
	http.Redirect(w, r, a.BaseURL+"/panel/", http.StatusFound)
}

func (a *SignIn) signInExternal(ctx context.Context, w http.ResponseWriter, r *http.Request, who oidc.Identity) error {
	x := auth.External{Identity: who, Address: httpapi.RequestOf(ctx).Client, Agent: httpapi.RequestOf(ctx).Agent}
	if c, err := r.Cookie(a.Cookies.DeviceName()); err == nil {
		x.Device = c.Value
	}
	session, err := a.Auth.LoginExternal(ctx, x)
	if err != nil {
		return err
	}
	for _, c := range a.Cookies.Session(session) {
		http.SetCookie(w, &c)
	}
	return nil
}

// takePublic counts a page as a public operation is counted.
func (a *SignIn) takePublic(w http.ResponseWriter, r *http.Request) bool {
	q, err := a.Auth.TakePublic(r.Context(), httpapi.RequestOf(r.Context()).Client)
	switch {
	case err != nil:
		a.refuseOIDC(w, r, err)
	case q.Over:
		w.Header().Set("Retry-After", strconv.Itoa(httpapi.WholeSeconds(q.Reset)))
		a.oidcPage(w, http.StatusTooManyRequests, "There were too many attempts from your address. Wait a minute.")
	default:
		return true
	}
	return false
}

// flowCookie keeps a sign-in in the browser that began it. The provider sends the
// browser back from another site, so it cannot be SameSite=Strict.
func (a *SignIn) flowCookie(f oidc.Flow) http.Cookie {
	c := a.Cookies.New("") //nolint:gosec // New sets what the address allows
	c.Name, c.SameSite = a.Cookies.Name()+"-oidc", http.SameSiteLaxMode
	if f.State == "" {
		return c
	}
	b, err := json.Marshal(f)
	if err != nil {
		panic("server: a flow of strings and a time is no JSON: " + err.Error())
	}
	c.Value, c.MaxAge = a.Keys.Seal("oidc:flow", b), int(oidc.FlowTTL/time.Second)
	return c
}

// flowOf is the sign-in that a browser has begun, or none.
func (a *SignIn) flowOf(r *http.Request) (f oidc.Flow) {
	c, err := r.Cookie(a.Cookies.Name() + "-oidc")
	if err != nil {
		return oidc.Flow{}
	}
	b, err := a.Keys.Open("oidc:flow", c.Value)
	if err != nil || json.Unmarshal(b, &f) != nil {
		return oidc.Flow{}
	}
	return f
}

// refuseOIDC says why the sign-in failed.
func (a *SignIn) refuseOIDC(w http.ResponseWriter, r *http.Request, err error) {
	for _, known := range []struct {
		err    error
		status int
		text   string
	}{
		{oidc.ErrUnavailable, http.StatusBadGateway, "The sign-in service does not answer. Try again later."},
		{oidc.ErrFlow, http.StatusBadRequest, "The sign-in was started in another browser, or took too long. Start again."},
		{oidc.ErrDenied, http.StatusForbidden, "The sign-in service refused the sign-in. Try again, or ask its administrator."},
		{oidc.ErrToken, http.StatusBadRequest, "The answer of the sign-in service is not valid. Start again."},
		{auth.ErrUnverified, http.StatusForbidden, "The sign-in service has not verified your e-mail address. Verify it there, then try again."},
		{auth.ErrClosed, http.StatusForbidden, "There is no user with your e-mail address. Ask for an invitation."},
		{auth.ErrEmailTaken, http.StatusConflict, "A user with your e-mail address exists. Log in with the password, and connect the sign-in service in the settings."},
		{auth.ErrLinked, http.StatusConflict, "Another user has connected this identity. Sign in with another one."},
		{auth.ErrToken, http.StatusForbidden, "You are not logged in any more. Log in, and connect the sign-in service again."},
		{auth.ErrDisabled, http.StatusForbidden, "The user is disabled. Ask an administrator of the account."},
	} {
		if errors.Is(err, known.err) {
			a.Log.InfoContext(r.Context(), "sign-in at a provider refused", slog.Any("error", err))
			a.oidcPage(w, known.status, known.text)
			return
		}
	}
	p := a.Problem(r.Context(), err)
	a.oidcPage(w, p.Status, "Something went wrong. Try again later.")
}

var oidcPage = template.Must(template.New("page").Parse(`<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">
<title>Sign-in</title>
<h1>You are not signed in</h1>
<p>{{.Text}}</p>
<p><a href="{{.Back}}">Back to the log-in</a></p>
`))

// oidcPage is a page for a person: these addresses are opened in a browser.
func (a *SignIn) oidcPage(w http.ResponseWriter, status int, text string) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	h.Set("Referrer-Policy", "no-referrer") // the address has a code
	w.WriteHeader(status)
	_ = oidcPage.Execute(w, struct{ Text, Back string }{text, a.BaseURL + "/panel/"}) // a client that has gone
}

// Register adds the operations of the resource.
func (a *SignIn) Register(api *httpapi.API) {
	httpapi.Register(api, httpapi.Operation{
		ID: "Auth_Methods", Method: http.MethodGet, Path: "/user/methods", Summary: "Show how users can sign in to this server",
	}, httpapi.Anyone, a.signInMethods)
	httpapi.RegisterReply(api, httpapi.Operation{
		ID: "Auth_ConnectOIDC", Method: http.MethodPost, Path: "/user/oidc/connect", Summary: "Connect the caller with an identity at the sign-in provider",
		About:  "Open `url` in the same browser, in which the response sets a cookie. The caller can then sign in with the provider, too.",
		Errors: []int{http.StatusNotFound}, Login: true,
	}, httpapi.AnyUser, a.connectOIDC)
}

type connectView struct {
	URL string `json:"url" doc:"Address of the provider's login page."`
}

func (a *SignIn) connectOIDC(ctx context.Context, c httpapi.Call, in *struct{ Body passwordBody }) (*withFlow, error) {
	if a.Provider == nil {
		return nil, httpapi.NewProblem(httpapi.CodeNotFound, "this server has no sign-in provider")
	}
	if err := a.Auth.Users().ConfirmPassword(ctx, c.Caller, in.Body.Password, c.Client); err != nil {
		return nil, err
	}
	link, flow, err := a.Provider.Begin(ctx)
	if errors.Is(err, oidc.ErrUnavailable) {
		a.Log.WarnContext(ctx, "the sign-in provider does not answer: try again later", slog.Any("error", err))
		return nil, httpapi.NewProblem(httpapi.CodeUnavailable, "the sign-in provider does not answer: try again later")
	}
	if err != nil {
		return nil, err
	}
	flow.User, flow.Session = c.User, c.TokenID
	return &withFlow{a.flowCookie(flow), connectView{link}}, nil
}

// withFlow is an answer that sets the cookie of a sign-in under way.
type withFlow struct {
	SetCookie http.Cookie `header:"Set-Cookie"`
	Body      connectView
}

type methodsView struct {
	SignUp   string    `json:"signUp" enum:"open,closed"`
	OIDC     *oidcView `json:"oidc" doc:"The sign-in provider; null if there is none."`
	Passkeys bool      `json:"passkeys" doc:"Whether users can add and use passkeys. That needs a base URL with https and a host name, or http://localhost."`
}

type oidcView struct {
	Name string `json:"name" doc:"Name of the provider, for users."`
	URL  string `json:"url" doc:"Open it in the browser. It redirects to the provider, back to the server, and to the panel with a session cookie."`
}

func (a *SignIn) signInMethods(context.Context, httpapi.Call, *struct{}) (methodsView, error) {
	out := methodsView{SignUp: "open", Passkeys: a.Auth.Passkeys().Available()}
	if a.Closed {
		out.SignUp = "closed"
	}
	if a.Provider != nil {
		out.OIDC = &oidcView{Name: a.Name, URL: a.BaseURL + oidcLoginPath}
	}
	return out, nil
}
