package references

import (
	"context"
	"net/http"

	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
)

// registerPasskey adds the operation that links a reference with a passkey.
func (a *API) registerPasskey(api *httpapi.API) {
	httpapi.Register(api, httpapi.Operation{
		ID: "Messaging_AnswerPasskey", On: httpapi.At("body.reference"), Method: http.MethodPost, Path: "/reference/session/passkey",
		Summary: "Link a reference with the passkey of its owner",
		About: "If `passkey` of the session has `options`, send `credential`: what the owner's passkey signed. If it has a `code`, compare it with the code " +
			"on the phone, and send `confirmed`. If the session asks for neither, the answer is a 409.",
		Errors: []int{http.StatusNotFound, http.StatusConflict, http.StatusBadGateway},
	}, auth.SessionsManage, a.answerPasskey)
}

type passkeyBody struct {
	Body struct {
		Reference  provider.ReferenceID         `json:"reference" minimum:"1" example:"1"`
		Credential *messaging.PasskeyCredential `json:"credential,omitempty" doc:"The result of navigator.credentials.get: PublicKeyCredential.toJSON()."`
		Confirmed  bool                         `json:"confirmed,omitempty" doc:"true: the code of the session is the one on the phone."`
	}
}

func (a *API) answerPasskey(ctx context.Context, c httpapi.Call, in *passkeyBody) (messaging.Session, error) {
	b, sessions := in.Body, a.Messaging.For(c.Account).Sessions()
	if now, err := sessions.Status(ctx, b.Reference); err != nil {
		return now, err
	}
	switch {
	case b.Credential == nil && !b.Confirmed:
		return messaging.Session{}, &messaging.Invalid{Field: "credential", Message: "is required, or confirmed"}
	case b.Credential != nil && b.Confirmed:
		return messaging.Session{}, &messaging.Invalid{Field: "confirmed", Message: "is only allowed without credential"}
	case b.Confirmed:
		return sessions.ConfirmPasskey(ctx, b.Reference)
	}
	return sessions.AnswerPasskey(ctx, b.Reference, *b.Credential)
}
