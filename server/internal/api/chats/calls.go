package chats

import (
	"context"
	"net/http"

	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
)

func (a *API) callRoutes(api *httpapi.API) {
	httpapi.Register(api, httpapi.Operation{
		ID: "Messaging_RejectCall", On: httpapi.At("body.reference"), Method: http.MethodPost, Path: "/chats/call/reject",
		Summary: "Reject a call while it rings",
		About: "The answer shows the call as it is then; a caller may hang up at the same time. A call that is rejected already stays so. " +
			"A call that was accepted, missed or has ended is a 409. References whose capability `calls` is false answer `unsupported`.",
		Errors: []int{http.StatusNotFound, http.StatusConflict, http.StatusBadGateway},
	}, auth.ChatsSend, a.rejectCall)
}

type rejectedCall struct {
	Body struct {
		Reference provider.ReferenceID `json:"reference" minimum:"1" example:"1"`
		ChatID    string               `json:"chatId" minLength:"1" maxLength:"512" example:"16505551234"`
		CallID    string               `json:"callId" minLength:"1" maxLength:"512" doc:"The id in the event of the call." example:"wacid.HBgL"`
	}
}

func (a *API) rejectCall(ctx context.Context, c httpapi.Call, in *rejectedCall) (messaging.Call, error) {
	return a.Messaging.For(c.Account).Calls().Reject(ctx, in.Body.Reference, in.Body.ChatID, in.Body.CallID)
}
