package users

import (
	"context"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
)

// signUpRoutes make accounts.
func (a *API) signUpRoutes(api *httpapi.API) {
	httpapi.RegisterReply(api, httpapi.Operation{
		ID: "Auth_SignUp", Method: http.MethodPost, Path: "/user/signup", Status: http.StatusCreated,
		Summary: "Sign up", About: "Creates an account and its first user, who is its owner. If the server sends mail, every sign-up after the first answers 202 and " +
			"sends a mail with a link that is valid for 24 hours. The response is the same for an e-mail that already has an account; its user then gets a mail that says so. " + aboutCookie,
		Errors: []int{http.StatusForbidden, http.StatusConflict}, Limited: true,
	}, httpapi.Anyone, a.signUp)
	httpapi.RegisterReply(api, httpapi.Operation{
		ID: "Auth_ConfirmSignUp", Method: http.MethodPost, Path: "/user/signup/confirm", Status: http.StatusCreated,
		Summary: "Confirm a sign-up with the link of its mail", About: "Requires the password of the sign-up. The link works once. " + aboutCookie,
		Errors: []int{http.StatusForbidden}, Limited: true,
	}, httpapi.Anyone, a.confirmSignUp)
}

type signUpBody struct {
	Email    string `json:"email" format:"email" maxLength:"254"`
	Password string `json:"password" minLength:"10" maxLength:"1000"`
	Name     string `json:"name" minLength:"1" maxLength:"200"`
	Cookie   bool   `json:"cookie,omitempty" doc:"Whether to set a session cookie as well. Default: false."`
}

type confirmBody struct {
	Token    string `json:"token" minLength:"1" maxLength:"200" doc:"The part of the link after the #."`
	Password string `json:"password" minLength:"1" maxLength:"1000" doc:"The password that was entered at the sign-up."`
	Cookie   bool   `json:"cookie,omitempty" doc:"Whether to set a session cookie as well. Default: false."`
}

// signUpAnswer is a session with 201, or a [httpapi.Done] with 202.
type signUpAnswer struct {
	Status    int
	SetCookie []http.Cookie `header:"Set-Cookie"`
	Body      any
}

func (a *API) signUp(ctx context.Context, c httpapi.Call, in *struct{ Body signUpBody }) (*signUpAnswer, error) {
	b := in.Body
	if b.Cookie && c.Foreign {
		return nil, httpapi.CrossSite()
	}
	session, err := a.Auth.SignUp(ctx, auth.NewUser{Email: b.Email, Name: b.Name, Password: b.Password, Address: c.Client, Agent: c.Agent, Cookie: b.Cookie, Device: c.Device})
	if err == nil && session.Token == "" {
		return &signUpAnswer{Status: http.StatusAccepted, Body: httpapi.Done{Success: true}}, nil
	}
	started := viewSession(a.Cookies, session)
	return &signUpAnswer{http.StatusCreated, started.SetCookie, started.Body}, err
}

func (a *API) confirmSignUp(ctx context.Context, c httpapi.Call, in *struct{ Body confirmBody }) (*withCookie[sessionView], error) {
	b := in.Body
	if b.Cookie && c.Foreign {
		return nil, httpapi.CrossSite()
	}
	session, err := a.Auth.ConfirmSignUp(ctx, b.Token, auth.NewUser{Password: b.Password, Address: c.Client, Agent: c.Agent, Cookie: b.Cookie, Device: c.Device})
	return viewSession(a.Cookies, session), err
}

// DescribeSignUp shows both answers to a sign-up.
func DescribeSignUp(doc *huma.OpenAPI) {
	responses := doc.Paths["/user/signup"].Post.Responses
	responses["201"].Content = jsonOf(doc, reflect.TypeFor[sessionView]())
	responses["202"] = &huma.Response{Description: "A mail with a link to confirm the sign-up was sent.", Content: jsonOf(doc, reflect.TypeFor[httpapi.Done]())}
}

func jsonOf(doc *huma.OpenAPI, t reflect.Type) map[string]*huma.MediaType {
	return map[string]*huma.MediaType{"application/json": {Schema: doc.Components.Schemas.Schema(t, true, "")}}
}
