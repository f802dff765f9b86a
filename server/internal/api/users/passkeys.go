package users

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/server/auth/passkey"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
	"github.com/trunklinehq/trunkline/server/internal/view"
)

const (
	aboutCeremony = "The challenge is valid for one answer, to any node, within 5 minutes. "
	aboutSite     = "Passkeys need a base URL with https and a host name, or http://localhost; otherwise the answer is 404."
)

// passkeyRoutes are the keys in devices by which users sign in without a password.
func (a *Factors) passkeyRoutes(api *httpapi.API) {
	httpapi.Register(api, httpapi.Operation{
		ID: "Auth_Passkeys", Method: http.MethodGet, Path: "/user/passkeys", Summary: "List the caller's passkeys, oldest first",
		Login: true,
	}, httpapi.AnyUser, a.listPasskeys)
	httpapi.Register(api, httpapi.Operation{
		ID: "Auth_BeginPasskey", Method: http.MethodPost, Path: "/user/passkeys/begin", Status: http.StatusCreated,
		Summary: "Start to add a passkey",
		About: "Pass `publicKey` to `PublicKeyCredential.parseCreationOptionsFromJSON` of the browser. " + aboutCeremony +
			aboutSite,
		Errors: []int{http.StatusNotFound, http.StatusConflict}, Login: true,
	}, httpapi.AnyUser, a.beginPasskey)
	httpapi.Register(api, httpapi.Operation{
		ID: "Auth_AddPasskey", Method: http.MethodPost, Path: "/user/passkeys", Status: http.StatusCreated,
		Summary: "Add the passkey that the browser has created",
		About:   "The passkey then signs the user in without a password and without a second factor. A user can have 20 passkeys.",
		Errors:  []int{http.StatusNotFound, http.StatusConflict}, Login: true,
	}, httpapi.AnyUser, a.addPasskey)
	httpapi.Register(api, httpapi.Operation{
		ID: "Auth_RemovePasskey", Method: http.MethodDelete, Path: "/user/passkeys/{passkeyId}", Summary: "Remove a passkey of the caller",
		About:  "It can no longer be used to sign in. Existing sessions continue: end them with DELETE /user/sessions.",
		Errors: []int{http.StatusNotFound}, Login: true,
	}, httpapi.AnyUser, a.removePasskey)
	httpapi.Register(api, httpapi.Operation{
		ID: "Auth_ResetPasskeys", Method: http.MethodDelete, Path: "/user/{userId}/passkeys", Summary: "Remove all passkeys of another user",
		About:  "For a user who has lost the devices. The caller must have every permission of the user.",
		Errors: []int{http.StatusNotFound}, Login: true,
	}, auth.UsersManage, a.resetPasskeys)
	httpapi.Register(api, httpapi.Operation{
		ID: "Auth_BeginPasskeyLogin", Method: http.MethodPost, Path: "/user/login/passkey/begin", Status: http.StatusCreated,
		Summary: "Start to log in with a passkey",
		About: "Pass `publicKey` to `PublicKeyCredential.parseRequestOptionsFromJSON` of the browser. " + aboutCeremony +
			"It does not name a user: the passkey does. " + aboutSite,
		Errors: []int{http.StatusNotFound}, Limited: true,
	}, httpapi.Anyone, a.beginPasskeyLogin)
	httpapi.RegisterReply(api, httpapi.Operation{
		ID: "Auth_LoginPasskey", Method: http.MethodPost, Path: "/user/login/passkey", Summary: "Log in with a passkey",
		About: "An unknown or invalid passkey answers 401 `unauthorized`. A passkey whose signature counter decreased answers 401 `passkey_copied`, with its name. " +
			"After ten failures in 15 minutes, the server refuses the address until the 15 minutes have passed, except for a browser in which the user has logged in. " + aboutCookie,
		Errors: []int{http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound}, Limited: true,
	}, httpapi.Anyone, a.loginPasskey)
}

type passkeyView struct {
	ID         string              `json:"id"`
	Name       string              `json:"name"`
	CreatedAt  int64               `json:"createdAt" doc:"UNIX seconds."`
	LastUsedAt *messaging.UnixTime `json:"lastUsedAt" doc:"null if it was never used."`
}

func viewPasskey(p passkey.Passkey) passkeyView {
	v := passkeyView{ID: p.ID, Name: p.Name, CreatedAt: p.Added.Unix()}
	if !p.Used.IsZero() {
		v.LastUsedAt = &messaging.UnixTime{Time: p.Used}
	}
	return v
}

func (a *Factors) listPasskeys(ctx context.Context, c httpapi.Call, _ *struct{}) (view.Page[passkeyView], error) {
	all, err := a.Auth.Passkeys().List(ctx, c.Caller)
	return view.All(all, viewPasskey), err
}

type ceremonyView struct {
	PublicKey map[string]any `json:"publicKey" nullable:"false" doc:"Options for the browser."`
}

// viewCeremony reads the options that the passkeys' library has written.
func viewCeremony(options json.RawMessage, err error) (out ceremonyView, _ error) {
	if err == nil {
		err = json.Unmarshal(options, &out.PublicKey)
	}
	return out, err
}

func (a *Factors) beginPasskey(ctx context.Context, c httpapi.Call, in *struct{ Body passwordBody }) (ceremonyView, error) {
	return viewCeremony(a.Auth.Passkeys().Begin(ctx, c.Caller, in.Body.Password, c.Client))
}

type newPasskeyBody struct {
	Name       string         `json:"name" minLength:"1" maxLength:"200" doc:"Name by which the user recognizes the passkey."`
	Credential map[string]any `json:"credential" doc:"The result of toJSON() of the browser's credential."`
}

func (a *Factors) addPasskey(ctx context.Context, c httpapi.Call, in *struct{ Body newPasskeyBody }) (passkeyView, error) {
	response, err := json.Marshal(in.Body.Credential)
	if err != nil {
		return passkeyView{}, err
	}
	p, err := a.Auth.Passkeys().Add(ctx, c.Caller, in.Body.Name, response)
	return viewPasskey(p), err
}

type removedPasskey struct {
	ID   string `path:"passkeyId" maxLength:"64" doc:"Id of the passkey."`
	Body passwordBody
}

func (a *Factors) removePasskey(ctx context.Context, c httpapi.Call, in *removedPasskey) (httpapi.Done, error) {
	return httpapi.Done{Success: true}, a.Auth.Passkeys().Remove(ctx, c.Caller, in.Body.Password, in.ID, c.Client)
}

func (a *Factors) resetPasskeys(ctx context.Context, c httpapi.Call, in *userPath) (httpapi.Done, error) {
	return httpapi.Done{Success: true}, a.Auth.Passkeys().Reset(ctx, c.Caller, in.ID)
}

func (a *Factors) beginPasskeyLogin(ctx context.Context, c httpapi.Call, _ *struct{}) (ceremonyView, error) {
	return viewCeremony(a.Auth.Passkeys().BeginLogin(ctx, c.Client))
}

type passkeyLoginBody struct {
	Credential map[string]any `json:"credential" doc:"The result of toJSON() of the browser's credential."`
	Cookie     bool           `json:"cookie,omitempty" doc:"Whether to set a session cookie as well. Default: false."`
}

func (a *Factors) loginPasskey(ctx context.Context, c httpapi.Call, in *struct{ Body passkeyLoginBody }) (*withCookie[sessionView], error) {
	b := in.Body
	if b.Cookie && c.Foreign { // it would log a visitor in as another user
		return nil, httpapi.CrossSite()
	}
	response, err := json.Marshal(b.Credential)
	if err != nil {
		return nil, err
	}
	session, err := a.Auth.Passkeys().Login(ctx, auth.PasskeyLogin{
		Response: response, Address: c.Client, Agent: c.Agent, Cookie: b.Cookie, Device: c.Device,
	})
	return viewSession(a.Cookies, session), err
}
