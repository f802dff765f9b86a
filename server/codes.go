package server

import (
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// meanings says of each code of a problem what it means, and what to do.
var meanings = map[string]string{
	codeValidation:          "A value of the request breaks a rule; `errors` names each. With 400 the body is not valid JSON, or there is none.",
	codeUnauthorized:        "There is no token or cookie, or it is valid no more: log in again.",
	codeSecondFactor:        "The password is right, and the user has a second factor: send the same request with `code`. With `errors`, the code was wrong or used.",
	codePasskeyCopied:       "The passkey's counter of signatures went back, so that another may have signed with the same key; `detail` names it. Log in another way, and remove it.",
	codeForbidden:           "The caller lacks the permission, or a token of this kind never suffices.",
	codeNotFound:            "What the request names is not there, or is another account's.",
	codeMethodNotAllowed:    "The path has no such method; `Allow` names those that it has.",
	codeRequestTimeout:      "The body came too slowly.",
	codeConflict:            "What is there does not allow it; `detail` says why.",
	codeLastOwner:           "The user is the last owner of the account who may log in: make another user an owner first.",
	codeSessionNotConnected: "The line is not connected to its network: start its session.",
	codeWindowClosed:        "The contact has not written for so long that the network takes nothing but templates.",
	codeBudgetExceeded:      "A budget for language models is used up.",
	codeQuotaReferences:     "The account has as many references as it may have: delete one, or ask the operator of the server.",
	codeQuotaContacts:       "The account has as many contacts as it may have. Who writes first is not refused.",
	codeQuotaStorage:        "The account keeps as many bytes of files as it may keep: delete chats or files of projects, or ask the operator of the server.",
	codeQuotaMessages:       "The account has sent as many messages as it may send in a day in UTC; `Retry-After` says when there are more.",
	codeQuotaRuns:           "The account has begun as many runs as it may begin in a day in UTC; `Retry-After` says when there are more.",
	codeQuotaAPI:            "The account has made too many requests; `Retry-After` says when to try again.",
	codePreconditionFailed:  "Somebody has changed it since the revision of `If-Match`: fetch it again.",
	codePayloadTooLarge:     "The body is larger than the operation takes; `detail` says how much that is.",
	codeUnsupportedMedia:    "The body is of another media type than the operation takes.",
	codeAmbiguousChat:       "The chat id may name somebody else than is meant, as digits that are a hidden id (LID) and no phone number; `errors` names the right id.",
	codeUnsupported:         "The line, its network or this server cannot do that.",
	codeRateLimited:         "Too much was asked for; `Retry-After` says when to try again.",
	codeInternal:            "Something went wrong; the server's log has it under the request's id.",
	codeProviderError:       "A network, a model or another server that was asked refused or failed; `detail` has its own words.",
	codeUnavailable:         "The server cannot do it now: it has no room, is about to stop, or waits for another. Try again.",
}

// usualCode is the code that a status has, whatever the operation.
var usualCode = map[int]string{
	http.StatusBadRequest:            codeValidation,
	http.StatusUnauthorized:          codeUnauthorized,
	http.StatusForbidden:             codeForbidden,
	http.StatusNotFound:              codeNotFound,
	http.StatusRequestTimeout:        codeRequestTimeout,
	http.StatusConflict:              codeConflict,
	http.StatusPreconditionFailed:    codePreconditionFailed,
	http.StatusRequestEntityTooLarge: codePayloadTooLarge,
	http.StatusUnsupportedMediaType:  codeUnsupportedMedia,
	http.StatusUnprocessableEntity:   codeValidation,
	http.StatusTooManyRequests:       codeRateLimited,
	http.StatusInternalServerError:   codeInternal,
	http.StatusBadGateway:            codeProviderError,
	http.StatusServiceUnavailable:    codeUnavailable,
}

// furtherCodes are those that an operation answers beside the plain ones. The
// tests hold every answer of theirs to it.
var furtherCodes = map[string][]string{
	"Aiflow_DraftFromText":      {codeBudgetExceeded},
	"Usage_Detail":              {codeAmbiguousChat},
	"Usage_Rollup":              {codeAmbiguousChat},
	"Usage_SetBudgets":          {codeAmbiguousChat},
	"Auth_DeleteUser":           {codeLastOwner},
	"Auth_UpdateUser":           {codeLastOwner},
	"Botengine_Replay":          {codeAmbiguousChat},
	"Aiflow_Replay":             {codeAmbiguousChat},
	"Auth_Login":                {codeSecondFactor},
	"Auth_LoginPasskey":         {codePasskeyCopied},
	"Aiflow_Start":              {codeAmbiguousChat, codeQuotaRuns, codeQuotaContacts},
	"Botengine_Run":             {codeAmbiguousChat, codeQuotaRuns, codeQuotaContacts},
	"Extractor_Evaluate":        {codeBudgetExceeded},
	"Extractor_Try":             {codeBudgetExceeded, codeAmbiguousChat},
	"Knowledge_Add":             {codeUnsupported, codeQuotaStorage},
	"Messaging_CheckNumber":     {codeUnsupported, codeSessionNotConnected, codeAmbiguousChat},
	"Messaging_CreateGroup":     {codeUnsupported, codeSessionNotConnected, codeAmbiguousChat},
	"Messaging_CreateTemplate":  {codeUnsupported},
	"Messaging_DeleteChat":      {codeAmbiguousChat},
	"Messaging_DeleteTemplate":  {codeUnsupported},
	"Messaging_EditGroup":       {codeUnsupported, codeSessionNotConnected, codeAmbiguousChat},
	"Messaging_Explain":         {codeAmbiguousChat},
	"Messaging_CreateReference": {codeQuotaReferences},
	"Messaging_Export":          {codeAmbiguousChat},
	"Messaging_Group":           {codeUnsupported, codeSessionNotConnected, codeAmbiguousChat},
	"Messaging_MarkRead":        {codeAmbiguousChat},
	"Messaging_Messages":        {codeAmbiguousChat},
	"Messaging_PreviewTemplate": {codeUnsupported},
	"Messaging_Resolve":         {codeAmbiguousChat},
	"Messaging_SaveMedia":       {codeUnsupported, codeQuotaStorage},
	"Messaging_Send":            {codeUnsupported, codeSessionNotConnected, codeWindowClosed, codeAmbiguousChat, codeQuotaMessages, codeQuotaContacts},
	"Messaging_StartSession":    {codeUnsupported},
	"Messaging_Templates":       {codeUnsupported},
	"Messaging_UpdateChat":      {codeAmbiguousChat, codeQuotaContacts},
	"Sandbox_Echo":              {codeUnsupported},
	"Sandbox_Screen":            {codeUnsupported},
	"Sandbox_Typing":            {codeUnsupported},
	"Sandbox_Write":             {codeUnsupported},
	"Webhooks_Deliveries":       {codeAmbiguousChat},
	"Webhooks_Register":         {codeUnsupported},
}

// codesOf are the codes of the problems that an operation answers with a
// status.
func codesOf(id string, status int) []string {
	var out []string
	if code, ok := usualCode[status]; ok {
		out = append(out, code)
	}
	for _, code := range furtherCodes[id] {
		if statusOf[code] == status {
			out = append(out, code)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// showRefusals says of every refusal which codes it may have. What many
// operations answer alike stands in the document once.
func showRefusals(doc *huma.OpenAPI) {
	doc.Components.Responses = map[string]*huma.Response{}
	doc.Components.Examples = map[string]*huma.Example{}
	for op := range operations(doc) {
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
			text += "\n* `" + code + "`: " + meanings[code]
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
		p := *problem(code, "")
		if p.Status, p.Title = status, http.StatusText(status); code == codeValidation {
			p.Errors = append(p.Errors, FieldError{Location: "body.email", Message: "is required"})
		}
		if status == http.StatusBadRequest {
			p.Detail, p.Errors = "the body is not valid JSON", []FieldError{}
		}
		doc.Components.Examples[name] = &huma.Example{Summary: meanings[code], Value: p}
		out[code] = &huma.Example{Ref: "#/components/examples/" + name}
	}
	return out
}

// operations are those of a document, in the order of their paths.
func operations(doc *huma.OpenAPI) func(func(*huma.Operation) bool) {
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
