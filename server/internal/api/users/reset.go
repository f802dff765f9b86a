package users

import (
	"context"
	"net/http"

	"github.com/trunklinehq/trunkline/server/internal/httpapi"
)

func (a *API) resetRoutes(api *httpapi.API) {
	httpapi.RegisterReply(api, httpapi.Operation{
		ID: "Auth_Reset", Method: http.MethodPost, Path: "/user/reset", Status: http.StatusAccepted,
		Summary: "Set a new password without the old one",
		About: "With an e-mail: sends its user, if there is one, a link that works once within 30 minutes. The response is the same " +
			"for every e-mail. An address gets at most three mails an hour. With the token of a link and a password: sets the password, and ends all earlier tokens and cookies.",
		Limited: true,
	}, httpapi.Anyone, a.reset)
}

type resetBody struct {
	Email    string `json:"email,omitempty" maxLength:"254" doc:"E-mail of the user. Requests a link."`
	Token    string `json:"token,omitempty" maxLength:"200" doc:"The part of the link after the #. Sets the new password."`
	Password string `json:"password,omitempty" maxLength:"1000" doc:"The new password, of at least 10 characters. Required with token."`
}

type resetAnswer struct {
	Status int
	Body   httpapi.Done
}

func (a *API) reset(ctx context.Context, _ httpapi.Call, in *struct{ Body resetBody }) (*resetAnswer, error) {
	b := in.Body
	switch {
	case b.Email == "" && b.Token == "":
		return nil, httpapi.Invalid("body.email", "is required without token and password")
	case b.Email != "" && (b.Token != "" || b.Password != ""):
		return nil, httpapi.Invalid("body.email", "cannot be combined with token")
	case b.Email != "":
		return &resetAnswer{http.StatusAccepted, httpapi.Done{Success: true}}, a.Auth.RequestReset(ctx, b.Email)
	}
	return &resetAnswer{http.StatusOK, httpapi.Done{Success: true}}, a.Auth.Reset(ctx, b.Token, b.Password)
}
