package openapi

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/trunklinehq/trunkline/server/internal/httpapi"
)

// onRepeat says what it does to send a request again, such as after an answer
// that was lost. Most operations do what their method says; [Repetition] has those
// that do not.
var onRepeat = map[string]string{
	http.MethodGet:    "Changes nothing.",
	http.MethodPut:    "A repeated request has no further effect.",
	http.MethodPatch:  "A repeated request has no further effect.",
	http.MethodDelete: "A repeated request answers 404.",
	http.MethodPost:   "",
}

// Repetition has an entry for every POST, and for what is unlike its method.
var Repetition = map[string]string{ //nolint:gosec // sentences, and no credentials
	"Server_DeleteAccount": "A repeated request answers 401: the user no longer exists.",

	"Auth_SignUp":              "A repeated request answers 409: the e-mail has an account. If the server sends mail, it sends another one.",
	"Auth_ConfirmSignUp":       "A repeated request answers 422: the link works once.",
	"Auth_Login":               "A repeated request creates another token; the first stays valid.",
	"Auth_ConnectOIDC":         "A repeated request starts another sign-in and ends the previous one.",
	"Auth_EnrolSecondFactor":   "A repeated request creates another secret; the previous one is no longer valid.",
	"Auth_ConfirmSecondFactor": "A repeated request answers 409: the second factor is active.",
	"Auth_RenewRecoveryCodes":  "A repeated request creates other codes; the previous ones are no longer valid.",
	"Auth_BeginPasskey":        "A repeated request creates another challenge; previous ones stay valid for 5 minutes.",
	"Auth_AddPasskey":          "A repeated request answers 422: the challenge was answered.",
	"Auth_BeginPasskeyLogin":   "A repeated request creates another challenge; previous ones stay valid for 5 minutes.",
	"Auth_LoginPasskey":        "A repeated request answers 401: the challenge was answered.",
	"Auth_Logout":              "A repeated request answers 401: the session has ended.",
	"Auth_Reset":               "A repeated request with an e-mail sends another link. A repeated request with a token is refused: a link works once.",
	"Auth_Invite":              "A repeated request creates another invitation and sends another mail.",
	"Auth_AcceptInvitation":    "A repeated request answers 422: the link works once.",
	"Auth_CreateUser":          "A repeated request answers 409: the e-mail has a user.",
	"Auth_UpdateUser":          "A repeated request has no further effect, but after a change of the password it needs the new one as `currentPassword`.",
	"Auth_CreateToken":         "A repeated request creates another token.",

	"Messaging_CreateReference": "A repeated request adds another reference.",
	"Messaging_StartSession":    "A session that is started already does not change.",
	"Messaging_Logout":          "A session that has ended does not change.",
	"Messaging_AnswerPasskey":   "A repeated answer is sent again while the session asks for it. Once the reference is linked, it is a 409.",
	"Messaging_Send": "A repeated request sends another message, unless both have the same `Idempotency-Key`: for 24 hours, the answer is then the message's " +
		"current record with `Idempotent-Replayed: true`. The same key with another body answers 409.",

	"Messaging_ReplayDeadLetter":  "A repeated request answers 404 if the first succeeded.",
	"Messaging_ReplayDeadLetters": "A repeated request replays only those that remain.",

	"Messaging_MarkRead":        "A repeated request marks only messages that have arrived since.",
	"Messaging_RejectCall":      "A call that is rejected already stays so.",
	"Messaging_CreateGroup":     "A repeated request creates another group.",
	"Messaging_SaveMedia":       "A repeated request stores another file.",
	"Messaging_CreateTemplate":  "The network refuses a repeated request: the name exists in that language.",
	"Messaging_PreviewTemplate": "Changes nothing.",
	"Messaging_Callback":        "Known events are stored once.",
	"Sandbox_Write":             "A repeated request writes another message.",

	"Webhooks_Put":      "A repeated request has no further effect.",
	"Webhooks_Register": "A repeated request has no further effect and does not return the secret.",
	"Webhooks_Replay":   "A repeated request delivers again what was delivered since.",
	"Webhooks_Test":     "A repeated request sends another test event.",
	"Webhooks_Update":   "A repeated request has no further effect, except that `rotateSecret` creates another secret.",

	"Botengine_Create":   "A repeated request creates another bot.",
	"Botengine_Publish":  "A draft that is published already creates no new version.",
	"Botengine_Run":      "A repeated request is another turn.",
	"Botengine_Simulate": "Changes nothing.",
	"Botengine_Test":     "Changes nothing.",
	"Botengine_Validate": "Changes nothing.",
	"Botengine_Replay":   "Changes nothing.",

	"Aiflow_CreateProject": "A repeated request creates another project.",
	"Aiflow_Import":        "A repeated request creates another project.",
	"Aiflow_Create":        "A repeated request creates another flow, or is refused if the slug is taken.",
	"Aiflow_Publish":       "A draft that is published already with the same functions creates no new version.",
	"Aiflow_Rename":        "A repeated request has no further effect.",
	"Aiflow_Rollback":      "A repeated request has no further effect.",
	"Aiflow_Validate":      "Changes nothing.",
	"Aiflow_Simulate":      "Changes nothing.",
	"Aiflow_Test":          "Changes nothing.",
	"Aiflow_Replay":        "Changes nothing.",
	"Aiflow_DraftFromText": "Changes nothing. A repeated request asks the model again, at a further cost.",
	"Aiflow_Start":         "A repeated request starts another run.",
	"Aiflow_Cancel":        "Answers 409 if the run has ended.",
	"Aiflow_Event":         "A run that does not wait for the event does not change. Answers 409 if the run has ended.",
	"Aiflow_Approve":       "A step that has been answered does not change. Answers 409 if the run has ended.",
	"Aiflow_Retry":         "Answers 409 if the run has not failed again.",

	"Knowledge_Add":    "A repeated request adds another file.",
	"Knowledge_Search": "Changes nothing.",

	"Credential_Create": "A repeated request stores another credential.",
	"Remote_Create":     "A repeated request answers 409: the name is taken.",
	"Remote_Refresh":    "A repeated request fetches the tools again.",

	"Extractor_Create":   "A repeated request creates another extractor.",
	"Extractor_Try":      "Changes nothing. A model is asked again.",
	"Extractor_Evaluate": "Changes nothing. A model is asked again.",

	"Usage_Reprice": "A repeated request changes nothing, unless prices were set since.",

	"MCP_Execute": "A repeated request calls the function again. The function's `idempotent` says whether that has a further effect.",
	"MCP_Batch":   "A repeated request calls all functions again.",

	"Billing_Receive": "A known event answers 200 and changes nothing.",
}

// showRepeats says of each operation what happens on repeat.
func showRepeats(doc *huma.OpenAPI) {
	for op := range httpapi.Operations(doc) {
		text, ok := Repetition[op.OperationID]
		if !ok {
			text = onRepeat[op.Method]
		}
		if op.Description != "" {
			text = op.Description + "\n\n" + text
		}
		op.Description = text
	}
}
