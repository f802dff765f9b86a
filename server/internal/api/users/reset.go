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
		About: "With an e-mail: sends its user, if there is one, a link that is valid for 30 minutes and works once. The answer is the same " +
			"for every e-mail, which gets three mails an hour at most. With the token of a link and a password: sets it, and ends older tokens and cookies.",
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
		return nil, httpapi.Invalid("body.email", "is required, or token and password")
	case b.Email != "" && (b.Token != "" || b.Password != ""):
		return nil, httpapi.Invalid("body.email", "is not for who has a token")
	case b.Email != "":
		return &resetAnswer{http.StatusAccepted, httpapi.Done{Success: true}}, a.Auth.RequestReset(ctx, b.Email)
	}
	return &resetAnswer{http.StatusOK, httpapi.Done{Success: true}}, a.Auth.Reset(ctx, b.Token, b.Password)
}
