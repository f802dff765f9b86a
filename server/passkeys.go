package server

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/server/auth/passkey"
)

const (
	aboutCeremony = "It is good for one answer, to any node, within 5 minutes. "
	aboutSite     = "Passkeys need a base URL with https and a host name, or http://localhost; elsewhere the answer is 404."
)

// passkeyRoutes are the keys in devices by which users sign in without a password.
func (s *Server) passkeyRoutes(a *api) {
	register(a, operation{
		id: "Auth_Passkeys", method: http.MethodGet, path: "/user/passkeys", summary: "List the caller's passkeys, the oldest first",
		login: true,
	}, anyUser, s.listPasskeys)
	register(a, operation{
		id: "Auth_BeginPasskey", method: http.MethodPost, path: "/user/passkeys/begin", status: http.StatusCreated,
		summary: "Begin to add a passkey",
		about: "`publicKey` is what `PublicKeyCredential.parseCreationOptionsFromJSON` of a browser takes. " + aboutCeremony +
			aboutSite,
		errors: []int{http.StatusNotFound, http.StatusConflict}, login: true,
	}, anyUser, s.beginPasskey)
	register(a, operation{
		id: "Auth_AddPasskey", method: http.MethodPost, path: "/user/passkeys", status: http.StatusCreated,
		summary: "Add the passkey that the browser has made",
		about:   "From then on it signs the user in, without a password and without a code of a second factor. A user has 20 at most.",
		errors:  []int{http.StatusNotFound, http.StatusConflict}, login: true,
	}, anyUser, s.addPasskey)
	register(a, operation{
		id: "Auth_RemovePasskey", method: http.MethodDelete, path: "/user/passkeys/{passkeyId}", summary: "Remove a passkey of the caller",
		about:  "It signs nobody in from then on. Sessions that began with it go on: see DELETE /user/sessions.",
		errors: []int{http.StatusNotFound}, login: true,
	}, anyUser, s.removePasskey)
	register(a, operation{
		id: "Auth_ResetPasskeys", method: http.MethodDelete, path: "/user/{userId}/passkeys", summary: "Remove all passkeys of another user",
		about:  "For a user whose devices are lost. You need every permission that the user has.",
		errors: []int{http.StatusNotFound}, login: true,
	}, auth.UsersManage, s.resetPasskeys)
	register(a, operation{
		id: "Auth_BeginPasskeyLogin", method: http.MethodPost, path: "/user/login/passkey/begin", status: http.StatusCreated,
		summary: "Begin to log in with a passkey",
		about: "`publicKey` is what `PublicKeyCredential.parseRequestOptionsFromJSON` of a browser takes. " + aboutCeremony +
			"It names no user: the passkey does. " + aboutSite,
		errors: []int{http.StatusNotFound}, limited: true,
	}, anyone, s.beginPasskeyLogin)
	registerReply(a, operation{
		id: "Auth_LoginPasskey", method: http.MethodPost, path: "/user/login/passkey", summary: "Log in with a passkey",
		about: "A passkey that is not known here, or proves nothing, is a 401 `unauthorized`. One whose counter of signatures went back is a 401 `passkey_copied` that names it. " +
			"Ten failures in 15 minutes close the address for the rest of them, but never to a browser in which the user has logged in. " + aboutCookie,
		errors: []int{http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound}, limited: true,
	}, anyone, s.loginPasskey)
}

type passkeyView struct {
	ID         string              `json:"id"`
	Name       string              `json:"name"`
	CreatedAt  int64               `json:"createdAt" doc:"UNIX seconds"`
	LastUsedAt *messaging.UnixTime `json:"lastUsedAt" doc:"null: never."`
}

func viewPasskey(p passkey.Passkey) passkeyView {
	v := passkeyView{ID: p.ID, Name: p.Name, CreatedAt: p.Added.Unix()}
	if !p.Used.IsZero() {
		v.LastUsedAt = &messaging.UnixTime{Time: p.Used}
	}
	return v
}

func (s *Server) listPasskeys(ctx context.Context, c call, _ *struct{}) (messaging.Page[passkeyView], error) {
	all, err := s.Auth.Passkeys(ctx, c.Caller)
	return viewPage(all, "", viewPasskey), err
}

type ceremonyView struct {
	PublicKey map[string]any `json:"publicKey" nullable:"false" doc:"An object for the browser."`
}

// viewCeremony reads the options that the passkeys' library has written.
func viewCeremony(options json.RawMessage, err error) (out ceremonyView, _ error) {
	if err == nil {
		err = json.Unmarshal(options, &out.PublicKey)
	}
	return out, err
}

func (s *Server) beginPasskey(ctx context.Context, c call, in *struct{ Body passwordBody }) (ceremonyView, error) {
	return viewCeremony(s.Auth.BeginPasskey(ctx, c.Caller, in.Body.Password, c.Client))
}

type newPasskeyBody struct {
	Name       string         `json:"name" minLength:"1" maxLength:"200" doc:"By which the user tells passkeys apart."`
	Credential map[string]any `json:"credential" doc:"What toJSON() of the browser's credential gives."`
}

func (s *Server) addPasskey(ctx context.Context, c call, in *struct{ Body newPasskeyBody }) (passkeyView, error) {
	response, err := json.Marshal(in.Body.Credential)
	if err != nil {
		return passkeyView{}, err
	}
	p, err := s.Auth.AddPasskey(ctx, c.Caller, in.Body.Name, response)
	return viewPasskey(p), err
}

type removedPasskey struct {
	ID   string `path:"passkeyId" maxLength:"64" doc:"Id of the passkey."`
	Body passwordBody
}

func (s *Server) removePasskey(ctx context.Context, c call, in *removedPasskey) (done, error) {
	return done{true}, s.Auth.RemovePasskey(ctx, c.Caller, in.Body.Password, in.ID, c.Client)
}

func (s *Server) resetPasskeys(ctx context.Context, c call, in *userPath) (done, error) {
	return done{true}, s.Auth.ResetPasskeys(ctx, c.Caller, in.ID)
}

func (s *Server) beginPasskeyLogin(ctx context.Context, c call, _ *struct{}) (ceremonyView, error) {
	return viewCeremony(s.Auth.BeginPasskeyLogin(ctx, c.Client))
}

type passkeyLoginBody struct {
	Credential map[string]any `json:"credential" doc:"What toJSON() of the browser's credential gives."`
	Cookie     bool           `json:"cookie,omitempty" doc:"Also set a session cookie."`
}

func (s *Server) loginPasskey(ctx context.Context, c call, in *struct{ Body passkeyLoginBody }) (*withCookie[sessionView], error) {
	b := in.Body
	if b.Cookie && c.foreign { // it would log a visitor in as somebody else
		return nil, foreign()
	}
	response, err := json.Marshal(b.Credential)
	if err != nil {
		return nil, err
	}
	session, err := s.Auth.LoginPasskey(ctx, auth.PasskeyLogin{
		Response: response, Address: c.Client, Agent: c.Agent, Cookie: b.Cookie, Device: c.device,
	})
	return s.viewSession(session), err
}

// passkeyProblem translates the errors of package passkey.
func passkeyProblem(err error) *Problem {
	var copied *passkey.Copied
	switch {
	case errors.As(err, &copied):
		return problem(codePasskeyCopied, "the counter of the passkey "+copied.Name+" went back: it may have been copied")
	case errors.Is(err, auth.ErrPasskey):
		return problem(codeUnauthorized, "the passkey is not known here, or the log-in took longer than 5 minutes")
	case errors.Is(err, passkey.ErrSite):
		return problem(codeNotFound, "this server has no passkeys: they need a base URL with https and a host name, or http://localhost")
	case errors.Is(err, passkey.ErrFull):
		return problem(codeConflict, "the user has 20 passkeys, and may have no more: remove one first")
	case errors.Is(err, passkey.ErrTaken):
		return problem(codeConflict, "the passkey was added already")
	case errors.Is(err, passkey.ErrNone):
		return problem(codeNotFound, "there is no such passkey")
	}
	return nil
}
