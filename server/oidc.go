package server

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

	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/server/auth/oidc"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
)

// OIDC is an OpenID provider at which users sign in.
type OIDC struct {
	// Issuer is the provider's address, as its tokens name it. "": there is none.
	Issuer string
	// ClientID and ClientSecret are what the provider knows this server by. Tell
	// it the address {BaseURL}/user/oidc/callback. ClientSecret "": a public
	// client.
	ClientID     string
	ClientSecret Secret
	// Name is what users know the provider by. "": Single sign-on.
	Name string
}

const (
	oidcLoginPath    = "/user/oidc/login"
	oidcCallbackPath = "/user/oidc/callback"
)

// openOIDC makes the provider, which is asked nothing yet.
func (s *Server) openOIDC() {
	if c := s.cfg.OIDC; c.Issuer != "" {
		s.oidc = oidc.New(oidc.Config{
			Issuer: c.Issuer, ClientID: c.ClientID, ClientSecret: string(c.ClientSecret),
			RedirectURL: s.cfg.BaseURL + oidcCallbackPath, Now: s.cfg.ownClock,
		})
	}
}

// oidcRoutes are the pages by which a browser signs in at the provider.
func (s *Server) oidcRoutes(r *mux.Router) {
	if s.oidc == nil {
		return
	}
	r.Path(oidcLoginPath).Methods(http.MethodGet).HandlerFunc(s.beginOIDC)
	r.Path(oidcCallbackPath).Methods(http.MethodGet).HandlerFunc(s.finishOIDC)
}

// beginOIDC sends a browser to the provider.
func (s *Server) beginOIDC(w http.ResponseWriter, r *http.Request) {
	if !s.takePublic(w, r) {
		return
	}
	link, flow, err := s.oidc.Begin(r.Context())
	if err != nil {
		s.refuseOIDC(w, r, err)
		return
	}
	c := s.flowCookie(flow)
	http.SetCookie(w, &c)
	http.Redirect(w, r, link, http.StatusFound)
}

// finishOIDC takes a browser back from the provider, and begins its session.
func (s *Server) finishOIDC(w http.ResponseWriter, r *http.Request) {
	if !s.takePublic(w, r) {
		return
	}
	over := s.flowCookie(oidc.Flow{})
	http.SetCookie(w, &over) // a sign-in ends once, whatever comes of it
	flow := s.flowOf(r)
	who, err := s.oidc.Finish(r.Context(), flow, r.URL.Query())
	if err != nil {
		s.refuseOIDC(w, r, err)
		return
	}
	ctx := s.recording(r.Context(), httpapi.RequestOf(r.Context()), auth.Caller{})
	if flow.User != "" {
		err = s.Auth.ConnectExternal(ctx, flow.User, who)
	} else {
		err = s.signInExternal(ctx, w, r, who)
	}
	if err != nil {
		s.refuseOIDC(w, r, err)
		return
	}
	http.Redirect(w, r, s.cfg.BaseURL+"/panel/", http.StatusFound)
}

func (s *Server) signInExternal(ctx context.Context, w http.ResponseWriter, r *http.Request, who oidc.Identity) error {
	x := auth.External{Identity: who, Address: httpapi.RequestOf(ctx).Client, Agent: httpapi.RequestOf(ctx).Agent}
	if c, err := r.Cookie(s.deviceName()); err == nil {
		x.Device = c.Value
	}
	session, err := s.Auth.LoginExternal(ctx, x)
	if err != nil {
		return err
	}
	for _, c := range s.sessionCookies(session) {
		http.SetCookie(w, &c)
	}
	return nil
}

// takePublic counts a page as a public operation is counted.
func (s *Server) takePublic(w http.ResponseWriter, r *http.Request) bool {
	q, err := s.Auth.TakePublic(r.Context(), httpapi.RequestOf(r.Context()).Client)
	switch {
	case err != nil:
		s.refuseOIDC(w, r, err)
	case q.Over:
		w.Header().Set("Retry-After", strconv.Itoa(httpapi.WholeSeconds(q.Reset)))
		s.oidcPage(w, http.StatusTooManyRequests, "There were too many attempts from your address. Wait a minute.")
	default:
		return true
	}
	return false
}

// flowCookie keeps a sign-in in the browser that began it. The provider sends the
// browser back from another site, so it cannot be SameSite=Strict.
func (s *Server) flowCookie(f oidc.Flow) http.Cookie {
	c := s.newCookie("") //nolint:gosec // newCookie sets what the address allows
	c.Name, c.SameSite = s.cookieName()+"-oidc", http.SameSiteLaxMode
	if f.State == "" {
		return c
	}
	b, err := json.Marshal(f)
	if err != nil {
		panic("server: a flow of strings and a time is no JSON: " + err.Error())
	}
	c.Value, c.MaxAge = s.keys.Seal("oidc:flow", b), int(oidc.FlowTTL/time.Second)
	return c
}

// flowOf is the sign-in that a browser has begun, or none.
func (s *Server) flowOf(r *http.Request) (f oidc.Flow) {
	c, err := r.Cookie(s.cookieName() + "-oidc")
	if err != nil {
		return oidc.Flow{}
	}
	b, err := s.keys.Open("oidc:flow", c.Value)
	if err != nil || json.Unmarshal(b, &f) != nil {
		return oidc.Flow{}
	}
	return f
}

// refuseOIDC says why nobody was signed in.
func (s *Server) refuseOIDC(w http.ResponseWriter, r *http.Request, err error) {
	for _, known := range []struct {
		err    error
		status int
		text   string
	}{
		{oidc.ErrUnavailable, http.StatusBadGateway, "The sign-in service does not answer. Try again later."},
		{oidc.ErrFlow, http.StatusBadRequest, "The sign-in was not begun in this browser, or took too long. Begin again."},
		{oidc.ErrDenied, http.StatusForbidden, "The sign-in service has refused."},
		{oidc.ErrToken, http.StatusBadRequest, "The answer of the sign-in service is not valid. Begin again."},
		{auth.ErrUnverified, http.StatusForbidden, "The sign-in service has not verified your e-mail address."},
		{auth.ErrClosed, http.StatusForbidden, "There is no user with your e-mail address. Ask for an invitation."},
		{auth.ErrEmailTaken, http.StatusConflict, "A user with your e-mail address exists. Log in with the password, and connect the sign-in service in the settings."},
		{auth.ErrLinked, http.StatusConflict, "Somebody else has connected this identity."},
		{auth.ErrDisabled, http.StatusForbidden, "The user is disabled."},
	} {
		if errors.Is(err, known.err) {
			s.log.InfoContext(r.Context(), "sign-in at a provider refused", slog.Any("error", err))
			s.oidcPage(w, known.status, known.text)
			return
		}
	}
	p := s.problemOf(r.Context(), err)
	s.oidcPage(w, p.Status, "Something went wrong. Try again later.")
}

var oidcPage = template.Must(template.New("page").Parse(`<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">
<title>Sign-in</title>
<h1>You are not signed in</h1>
<p>{{.Text}}</p>
<p><a href="{{.Back}}">Back to the log-in</a></p>
`))

// oidcPage is a page for a person: these addresses are opened in a browser.
func (s *Server) oidcPage(w http.ResponseWriter, status int, text string) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	h.Set("Referrer-Policy", "no-referrer") // the address has a code
	w.WriteHeader(status)
	_ = oidcPage.Execute(w, struct{ Text, Back string }{text, s.cfg.BaseURL + "/panel/"}) // a client that has gone
}

// methodRoutes say how users sign in, and connect a user with the provider.
func (s *Server) methodRoutes(a *httpapi.API) {
	httpapi.Register(a, httpapi.Operation{
		ID: "Auth_Methods", Method: http.MethodGet, Path: "/user/methods", Summary: "How users sign in to this server",
	}, httpapi.Anyone, s.signInMethods)
	httpapi.RegisterReply(a, httpapi.Operation{
		ID: "Auth_ConnectOIDC", Method: http.MethodPost, Path: "/user/oidc/connect", Summary: "Connect the caller with an identity at the sign-in provider",
		About:  "Open `url` in the same browser, whose cookie the answer sets. From then on the caller signs in there, too.",
		Errors: []int{http.StatusNotFound}, Login: true,
	}, httpapi.AnyUser, s.connectOIDC)
}

type connectView struct {
	URL string `json:"url" doc:"At the provider."`
}

func (s *Server) connectOIDC(ctx context.Context, c httpapi.Call, in *struct{ Body passwordBody }) (*withFlow, error) {
	if s.oidc == nil {
		return nil, httpapi.NewProblem(httpapi.CodeNotFound, "this server has no sign-in provider")
	}
	if err := s.Auth.ConfirmPassword(ctx, c.Caller, in.Body.Password, c.Client); err != nil {
		return nil, err
	}
	link, flow, err := s.oidc.Begin(ctx)
	if errors.Is(err, oidc.ErrUnavailable) {
		s.log.WarnContext(ctx, "the sign-in provider does not answer", slog.Any("error", err))
		return nil, httpapi.NewProblem(httpapi.CodeUnavailable, "the sign-in provider does not answer")
	}
	if err != nil {
		return nil, err
	}
	flow.User = c.User
	return &withFlow{s.flowCookie(flow), connectView{link}}, nil
}

// withFlow is an answer that sets the cookie of a sign-in under way.
type withFlow struct {
	SetCookie http.Cookie `header:"Set-Cookie"`
	Body      connectView
}

type methodsView struct {
	SignUp   string    `json:"signUp" enum:"open,closed"`
	OIDC     *oidcView `json:"oidc" doc:"null: there is no provider."`
	Passkeys bool      `json:"passkeys" doc:"Whether passkeys can be added and used: they need a base URL with https and a host name, or http://localhost."`
}

type oidcView struct {
	Name string `json:"name" doc:"What users know the provider by."`
	URL  string `json:"url" doc:"Open it in the browser: it leads to the provider, back, and to the panel with a session cookie."`
}

func (s *Server) signInMethods(context.Context, httpapi.Call, *struct{}) (methodsView, error) {
	out := methodsView{SignUp: "open", Passkeys: s.Auth.HasPasskeys()}
	if s.cfg.ClosedSignUp {
		out.SignUp = "closed"
	}
	if s.oidc != nil {
		out.OIDC = &oidcView{Name: s.cfg.OIDC.Name, URL: s.cfg.BaseURL + oidcLoginPath}
	}
	return out, nil
}
