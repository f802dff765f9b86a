package httpapi

import (
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// Meanings says of each code of a problem what it means, and what to do.
var Meanings = map[string]string{
	CodeValidation:          "A value of the request breaks a rule; `errors` names each. With 400 the body is not valid JSON, or there is none.",
	CodeUnauthorized:        "There is no token or cookie, or it is valid no more: log in again.",
	CodeSecondFactor:        "The password is right, and the user has a second factor: send the same request with `code`. With `errors`, the code was wrong or used.",
	CodePasskeyCopied:       "The passkey's counter of signatures went back, so that another may have signed with the same key; `detail` names it. Log in another way, and remove it.",
	CodeForbidden:           "The caller lacks the permission, or a token of this kind never suffices.",
	CodeNotFound:            "What the request names is not there, or is another account's.",
	CodeMethodNotAllowed:    "The path has no such method; `Allow` names those that it has.",
	CodeRequestTimeout:      "The body came too slowly.",
	CodeConflict:            "What is there does not allow it; `detail` says why.",
	CodeLastOwner:           "The user is the last owner of the account who may log in: make another user an owner first.",
	codeSessionNotConnected: "The line is not connected to its network: start its session.",
	CodeWindowClosed:        "The contact has not written for so long that the network takes nothing but templates.",
	CodeBudgetExceeded:      "A budget for language models is used up.",
	codeQuotaReferences:     "The account has as many references as it may have: delete one, or ask the operator of the server.",
	codeQuotaContacts:       "The account has as many contacts as it may have. Who writes first is not refused.",
	codeQuotaStorage:        "The account keeps as many bytes of files and versions as it may keep: delete chats, files of projects, flows or bots, or ask the operator of the server.",
	codeQuotaMessages:       "The account has sent as many messages as it may send in a day in UTC; `Retry-After` says when there are more.",
	codeQuotaRuns:           "The account has begun as many runs as it may begin in a day in UTC; `Retry-After` says when there are more.",
	codeQuotaAPI:            "The account has made too many requests; `Retry-After` says when to try again.",
	CodePreconditionFailed:  "Somebody has changed it since the revision of `If-Match`: fetch it again.",
	CodePayloadTooLarge:     "The body is larger than the operation takes; `detail` says how much that is.",
	CodeUnsupportedMedia:    "The body is of another media type than the operation takes.",
	codeAmbiguousChat:       "The chat id may name somebody else than is meant, as digits that are a hidden id (LID) and no phone number; `errors` names the right id.",
	CodeUnsupported:         "The line, its network or this server cannot do that.",
	CodeRateLimited:         "Too much was asked for; `Retry-After` says when to try again.",
	CodeInternal:            "Something went wrong; the server's log has it under the request's id.",
	CodeProviderError:       "A network, a model or another server that was asked refused or failed; `detail` has its own words.",
	CodeUnavailable:         "The server cannot do it now: it has no room, is about to stop, or waits for another. Try again.",
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
	"Messaging_Resolve":         {codeAmbiguousChat},
	"Messaging_SaveMedia":       {CodeUnsupported, codeQuotaStorage},
	"Messaging_Send":            {CodeUnsupported, codeSessionNotConnected, CodeWindowClosed, codeAmbiguousChat, codeQuotaMessages, codeQuotaContacts},
	"Messaging_StartSession":    {CodeUnsupported},
	"Messaging_Templates":       {CodeUnsupported},
	"Messaging_UpdateChat":      {codeAmbiguousChat, codeQuotaContacts},
	"Sandbox_Echo":              {CodeUnsupported},
	"Sandbox_Screen":            {CodeUnsupported},
	"Sandbox_Typing":            {CodeUnsupported},
	"Sandbox_Write":             {CodeUnsupported},
	"Webhooks_Deliveries":       {codeAmbiguousChat},
	"Webhooks_Register":         {CodeUnsupported},
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
				Description: "After how many seconds to try again, where that is known.", Schema: &huma.Schema{Type: huma.TypeInteger},
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
