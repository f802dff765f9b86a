package httpapi

import (
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// Meanings maps each code of a problem to what happened and what the caller can do.
var Meanings = map[string]string{
	CodeValidation:          "A value of the request breaks a rule; `errors` names each. With 400 the body is not valid JSON, or is missing. Correct the request.",
	CodeUnauthorized:        "The request has no token or cookie, or it is no longer valid. Log in again.",
	CodeSecondFactor:        "The password is right, and the user has a second factor. Send the same request with `code`. With `errors`, the code was wrong or already used.",
	CodePasskeyCopied:       "The passkey's counter of signatures decreased, so the passkey may have been copied; `detail` names it. Log in another way, and remove it.",
	CodeForbidden:           "The caller lacks the permission, or a token of this kind is never allowed. Use a user or token that has the permission.",
	CodeNotFound:            "The object does not exist, or belongs to another account. Check the id.",
	CodeMethodNotAllowed:    "The path does not have this method. Use one of those in `Allow`.",
	CodeRequestTimeout:      "The body arrived too slowly. Send the request again.",
	CodeConflict:            "The present state does not allow the request. Read `detail`.",
	CodeLastOwner:           "The user is the last owner of the account who can log in. Make another user an owner first.",
	codeSessionNotConnected: "The reference is not connected to its network. Start its session.",
	CodeWindowClosed:        "The contact has not written within the network's window. Send a template.",
	CodeBudgetExceeded:      "A budget for language models is used up. Raise it, or wait for its next period.",
	codeQuotaReferences:     "The account has reached its number of references. Delete one, or ask the operator of the server.",
	codeQuotaContacts:       "The account has reached its number of contacts. Contacts who write first are not refused. Ask the operator of the server.",
	codeQuotaStorage:        "The account has reached its bytes of stored files and published versions. Delete chats, files of projects, flows or bots, or ask the operator of the server.",
	codeQuotaMessages:       "The account has sent its number of messages for this day in UTC. Send again after `Retry-After`.",
	codeQuotaRuns:           "The account has begun its number of runs for this day in UTC. Begin again after `Retry-After`.",
	codeQuotaAPI:            "The account has made too many requests. Try again after `Retry-After`.",
	CodePreconditionFailed:  "The object has changed since the revision of `If-Match`. Fetch it again.",
	CodePayloadTooLarge:     "The body is larger than the limit of the operation, which `detail` names. Send less.",
	CodeUnsupportedMedia:    "The operation does not accept the body's media type. Send the type that the operation documents.",
	codeAmbiguousChat:       "The chat id may name another contact: its digits are a hidden id (LID) and not a phone number. Use the id that `errors` names.",
	CodeUnsupported:         "The reference, its network or this server does not support the request. Read `detail`.",
	CodeRateLimited:         "There were too many requests. Try again after `Retry-After`.",
	CodeInternal:            "The server failed. Its log has the cause under the request's id; report it.",
	CodeProviderError:       "A network, a model or another server refused or failed. `detail` has its own words.",
	CodeUnavailable:         "The server cannot do this now: it has no space, is about to stop, or waits for another system. Try again.",
}

// usualCode is the code that a status has, whatever the operation.
var usualCode = map[int]string{
	http.StatusBadRequest:            CodeValidation,
	http.StatusUnauthorized:          CodeUnauthorized,
	http.StatusForbidden:             CodeForbidden,
	http.StatusNotFound:              CodeNotFound,
	http.StatusRequestTimeout:        CodeRequestTimeout,
	http.StatusConflict:              CodeConflict,
	http.StatusPreconditionFailed:    CodePreconditionFailed,
	http.StatusRequestEntityTooLarge: CodePayloadTooLarge,
	http.StatusUnsupportedMediaType:  CodeUnsupportedMedia,
	http.StatusUnprocessableEntity:   CodeValidation,
	http.StatusTooManyRequests:       CodeRateLimited,
	http.StatusInternalServerError:   CodeInternal,
	http.StatusBadGateway:            CodeProviderError,
	http.StatusServiceUnavailable:    CodeUnavailable,
}

// furtherCodes are those that an operation answers beside the plain ones. The
// tests hold every answer of theirs to it.
var furtherCodes = map[string][]string{
	"Aiflow_DraftFromText":      {CodeBudgetExceeded},
	"Usage_Detail":              {codeAmbiguousChat},
	"Usage_Rollup":              {codeAmbiguousChat},
	"Usage_SetBudgets":          {codeAmbiguousChat},
	"Auth_DeleteUser":           {CodeLastOwner},
	"Auth_UpdateUser":           {CodeLastOwner},
	"Botengine_Replay":          {codeAmbiguousChat},
	"Aiflow_Replay":             {codeAmbiguousChat},
	"Aiflow_Import":             {codeQuotaStorage},
	"Aiflow_Publish":            {codeQuotaStorage},
	"Botengine_Publish":         {codeQuotaStorage},
	"Auth_Login":                {CodeSecondFactor},
	"Auth_LoginPasskey":         {CodePasskeyCopied},
	"Aiflow_Start":              {codeAmbiguousChat, codeQuotaRuns, codeQuotaContacts},
	"Botengine_Run":             {codeAmbiguousChat, codeQuotaRuns, codeQuotaContacts},
	"Extractor_Evaluate":        {CodeBudgetExceeded},
	"Extractor_Try":             {CodeBudgetExceeded, codeAmbiguousChat},
	"Knowledge_Add":             {CodeUnsupported, codeQuotaStorage},
	"Messaging_AnswerPasskey":   {CodeUnsupported, codeSessionNotConnected},
	"Messaging_CheckNumber":     {CodeUnsupported, codeSessionNotConnected, codeAmbiguousChat},
	"Messaging_CreateGroup":     {CodeUnsupported, codeSessionNotConnected, codeAmbiguousChat},
	"Messaging_CreateTemplate":  {CodeUnsupported},
	"Messaging_DeleteChat":      {codeAmbiguousChat},
	"Messaging_DeleteTemplate":  {CodeUnsupported},
	"Messaging_EditGroup":       {CodeUnsupported, codeSessionNotConnected, codeAmbiguousChat},
	"Messaging_Explain":         {codeAmbiguousChat},
	"Messaging_CreateReference": {codeQuotaReferences},
	"Messaging_Export":          {codeAmbiguousChat},
	"Messaging_Group":           {CodeUnsupported, codeSessionNotConnected, codeAmbiguousChat},
	"Messaging_MarkRead":        {codeAmbiguousChat},
	"Messaging_Messages":        {codeAmbiguousChat},
	"Messaging_PreviewTemplate": {CodeUnsupported},
	"Messaging_RejectCall":      {CodeUnsupported, codeSessionNotConnected, codeAmbiguousChat},

	"Messaging_ReplayDeadLetter": {CodeUnsupported},

	"Messaging_Resolve":      {codeAmbiguousChat},
	"Messaging_SaveMedia":    {CodeUnsupported, codeQuotaStorage},
	"Messaging_Send":         {CodeUnsupported, codeSessionNotConnected, CodeWindowClosed, codeAmbiguousChat, codeQuotaMessages, codeQuotaContacts},
	"Messaging_StartSession": {CodeUnsupported},
	"Messaging_Templates":    {CodeUnsupported},
	"Messaging_UpdateChat":   {codeAmbiguousChat, codeQuotaContacts},
	"Sandbox_Echo":           {CodeUnsupported},
	"Sandbox_Screen":         {CodeUnsupported},
	"Sandbox_Typing":         {CodeUnsupported},
	"Sandbox_Write":          {CodeUnsupported},
	"Webhooks_Deliveries":    {codeAmbiguousChat},
	"Webhooks_Register":      {CodeUnsupported},
}

// codesOf are the codes of the problems that an operation answers with a
// status.
func codesOf(id string, status int) []string {
	var out []string
	if code, ok := usualCode[status]; ok {
		out = append(out, code)
	}
	for _, code := range furtherCodes[id] {
		if StatusOf[code] == status {
			out = append(out, code)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// showRefusals says of every refusal which codes it may have. What many
// operations answer alike is in the document once.
func showRefusals(doc *huma.OpenAPI) {
	doc.Components.Responses = map[string]*huma.Response{}
	doc.Components.Examples = map[string]*huma.Example{}
	for op := range Operations(doc) {
		for status, r := range op.Responses {
			if content := r.Content[problemType]; content != nil {
				number, _ := strconv.Atoi(status)
				codes := codesOf(op.OperationID, number)
				if number == http.StatusTooManyRequests && len(op.Security) > 0 && len(codes) > 0 {
					codes = append([]string{codeQuotaAPI}, codes...)
				}
				switch {
				case len(codes) == 0: // said in another shape
					delete(r.Content, problemType)
					continue
				case len(r.Content) > 1 || r.Description != http.StatusText(number):
					content.Examples = showCodes(doc, number, codes)
					continue
				}
				op.Responses[status] = refusedWith(doc, number, codes, content.Schema)
			}
		}
	}
}

// refusedWith is the answer with one of some codes, kept with the components.
func refusedWith(doc *huma.OpenAPI, status int, codes []string, schema *huma.Schema) *huma.Response {
	words := strings.FieldsFunc(strconv.Itoa(status)+"_"+strings.Join(codes, "_"), func(r rune) bool { return r == '_' })
	for i, w := range words {
		words[i] = strings.ToUpper(w[:1]) + w[1:]
	}
	name := "Refused" + strings.Join(words, "")
	if doc.Components.Responses[name] == nil {
		text := http.StatusText(status) + "."
		for _, code := range codes {
			text += "\n* `" + code + "`: " + Meanings[code]
		}
		r := &huma.Response{Description: text, Content: map[string]*huma.MediaType{
			problemType: {Schema: schema, Examples: showCodes(doc, status, codes)},
		}}
		if slices.Contains([]int{http.StatusTooManyRequests, http.StatusServiceUnavailable, http.StatusConflict}, status) {
			r.Headers = map[string]*huma.Param{"Retry-After": {
				Description: "Seconds after which to try again, if known.", Schema: &huma.Schema{Type: huma.TypeInteger},
			}}
		}
		doc.Components.Responses[name] = r
	}
	return &huma.Response{Ref: "#/components/responses/" + name}
}

// showCodes are examples of problems by their codes.
func showCodes(doc *huma.OpenAPI, status int, codes []string) map[string]*huma.Example {
	out := map[string]*huma.Example{}
	for _, code := range codes {
		name := strconv.Itoa(status) + "_" + code
		p := *NewProblem(code, "")
		if p.Status, p.Title = status, http.StatusText(status); code == CodeValidation {
			p.Errors = append(p.Errors, FieldError{Location: "body.email", Message: "is required"})
		}
		if status == http.StatusBadRequest {
			p.Detail, p.Errors = "the body is not valid JSON", []FieldError{}
		}
		doc.Components.Examples[name] = &huma.Example{Summary: Meanings[code], Value: p}
		out[code] = &huma.Example{Ref: "#/components/examples/" + name}
	}
	return out
}

// Operations are those of a document, in the order of their paths.
func Operations(doc *huma.OpenAPI) func(func(*huma.Operation) bool) {
	return func(yield func(*huma.Operation) bool) {
		for _, path := range slices.Sorted(maps.Keys(doc.Paths)) {
			item := doc.Paths[path]
			for _, op := range []*huma.Operation{item.Get, item.Put, item.Post, item.Patch, item.Delete} {
				if op != nil && !yield(op) {
					return
				}
			}
		}
	}
}
