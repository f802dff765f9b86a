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
	http.MethodPut:    "The same request again changes nothing more.",
	http.MethodPatch:  "The same request again changes nothing more.",
	http.MethodDelete: "Once it is done, the same request is answered 404.",
	http.MethodPost:   "",
}

// Repetition has an entry for every POST, and for what is unlike its method.
var Repetition = map[string]string{ //nolint:gosec // sentences, and no credentials
	"Server_DeleteAccount": "Once it is done, the same request is answered 401: its user is gone.",

	"Auth_SignUp":              "Sent again it is a 409: the e-mail has an account. Where the server sends mail, it sends another.",
	"Auth_ConfirmSignUp":       "Sent again it is a 422: the link works once.",
	"Auth_Login":               "Sent again it makes another token; the first stays valid.",
	"Auth_ConnectOIDC":         "Sent again it begins another sign-in; the one before ends.",
	"Auth_EnrolSecondFactor":   "Sent again it makes another secret; the one before counts no more.",
	"Auth_ConfirmSecondFactor": "Sent again it is a 409: the second factor is set up.",
	"Auth_RenewRecoveryCodes":  "Sent again it makes other codes; those before count no more.",
	"Auth_BeginPasskey":        "Sent again it makes another challenge; those before are good for 5 minutes.",
	"Auth_AddPasskey":          "Sent again it is a 422: the challenge was answered.",
	"Auth_BeginPasskeyLogin":   "Sent again it makes another challenge; those before are good for 5 minutes.",
	"Auth_LoginPasskey":        "Sent again it is a 401: the challenge was answered.",
	"Auth_Logout":              "Sent again it is answered 401: the session is over.",
	"Auth_Reset":               "An e-mail sent again gets another link. A link works once: sent again it is refused.",
	"Auth_Invite":              "Sent again it makes another invitation, and sends another mail.",
	"Auth_AcceptInvitation":    "Sent again it is a 422: the link works once.",
	"Auth_CreateUser":          "Sent again it is a 409: the e-mail has a user.",
	"Auth_UpdateUser":          "The same request again changes nothing more, but a new password is the `currentPassword` from then on.",
	"Auth_CreateToken":         "Sent again it makes another token.",

	"Messaging_CreateReference": "Sent again it adds another line.",
	"Messaging_StartSession":    "A session that has been started stays as it is.",
	"Messaging_Logout":          "A session that has ended stays as it is.",
	"Messaging_Send": "Sent again it sends another message, unless both requests have the same `Idempotency-Key`: then the answer is the message's " +
		"current record with `Idempotent-Replayed: true`, for 24 hours. The same key with another body is a 409.",
	"Messaging_MarkRead":        "Sent again it changes nothing but for what has arrived in between.",
	"Messaging_CreateGroup":     "Sent again it makes another group.",
	"Messaging_SaveMedia":       "Sent again it keeps another file.",
	"Messaging_CreateTemplate":  "Sent again the network refuses it: the name is taken in that language.",
	"Messaging_PreviewTemplate": "Changes nothing.",
	"Messaging_Callback":        "What is known already is stored once.",
	"Sandbox_Write":             "Sent again the contact writes again.",

	"Webhooks_Put":      "The same request again changes nothing more.",
	"Webhooks_Register": "The same request again changes nothing more, and does not show the secret again.",
	"Webhooks_Replay":   "Sent again it delivers again what has been delivered in between.",
	"Webhooks_Test":     "Sent again it sends another test event.",
	"Webhooks_Update":   "The same request again changes nothing more, but with `rotateSecret` it makes another secret.",

	"Botengine_Create":   "Sent again it makes another bot.",
	"Botengine_Publish":  "A draft that is published already makes no further version.",
	"Botengine_Run":      "Sent again it is another turn.",
	"Botengine_Simulate": "Changes nothing.",
	"Botengine_Test":     "Changes nothing.",
	"Botengine_Validate": "Changes nothing.",
	"Botengine_Replay":   "Changes nothing.",

	"Aiflow_CreateProject": "Sent again it makes another project.",
	"Aiflow_Import":        "Sent again it makes another project.",
	"Aiflow_Create":        "Sent again it makes another flow, or is refused where the slug is taken.",
	"Aiflow_Publish":       "A draft that is published already, with the same functions, makes no further version.",
	"Aiflow_Rename":        "The same request again changes nothing more.",
	"Aiflow_Rollback":      "The same request again changes nothing more.",
	"Aiflow_Validate":      "Changes nothing.",
	"Aiflow_Simulate":      "Changes nothing.",
	"Aiflow_Test":          "Changes nothing.",
	"Aiflow_Replay":        "Changes nothing.",
	"Aiflow_DraftFromText": "Changes nothing; sent again it asks the model again, which is paid for again.",
	"Aiflow_Start":         "Sent again it begins another run.",
	"Aiflow_Cancel":        "Once the run has ended it is a 409.",
	"Aiflow_Event":         "A run that does not wait for the event stays as it is. Once it has ended it is a 409.",
	"Aiflow_Approve":       "A step that has been answered stays as it is. Once the run has ended it is a 409.",
	"Aiflow_Retry":         "A run that has not failed again is a 409.",

	"Knowledge_Add":    "Sent again it adds another file.",
	"Knowledge_Search": "Changes nothing.",

	"Credential_Create": "Sent again it keeps another credential.",
	"Remote_Create":     "Sent again it is a 409: the name is taken.",
	"Remote_Refresh":    "Sent again it asks again.",

	"Extractor_Create":   "Sent again it makes another extractor.",
	"Extractor_Try":      "Changes nothing; a model is asked again.",
	"Extractor_Evaluate": "Changes nothing; a model is asked again.",

	"Usage_Reprice": "Sent again it changes nothing, unless prices were set in between.",

	"MCP_Execute": "Sent again it calls the function again; whether that does no more than once, the function's `idempotent` says.",
	"MCP_Batch":   "Sent again it calls all functions again.",

	"Billing_Receive": "An event that is known already is answered 200 and changes nothing.",
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
