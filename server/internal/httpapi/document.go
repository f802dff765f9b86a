package httpapi

import (
	"net/http"
	"net/url"
	"path"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// NewAPI returns an API without operations.
func NewAPI(o Options) *API { return &API{opts: o, literal: map[string]bool{}} }

// NewSchemas returns an empty registry of schemas.
func (a *API) NewSchemas() huma.Registry {
	r := huma.NewMapRegistry(SchemaRefs, SchemaName)
	a.opts.Schemas(r)
	return r
}

// newHuma returns an API of huma without operations. It gives those that it gets to
// the adapter.
func (a *API) newHuma(to huma.Adapter) huma.API {
	o, registry := a.opts, a.NewSchemas()
	problemSchema := registry.Schema(reflect.TypeFor[Problem](), true, problems)
	cfg := huma.Config{
		OpenAPI: &huma.OpenAPI{
			OpenAPI: "3.1.0",
			Info: &huma.Info{
				Title: "Trunkline", Version: o.Version, Description: aboutAPI,
				Contact: &huma.Contact{Name: "Trunkline", URL: "https://github.com/trunklinehq/trunkline"},
				License: &huma.License{Name: "Apache-2.0", Identifier: "Apache-2.0"},
			},
			Servers: servers(o.BaseURL),
			Tags:    tags,
			Components: &huma.Components{
				Schemas: registry,
				SecuritySchemes: map[string]*huma.SecurityScheme{
					bearer: {Type: "http", Scheme: bearer, BearerFormat: "JWT", Description: "The token of POST /user/login, or one of POST /user/token."},
					cookie: {
						Type: "apiKey", In: "cookie", Name: o.Cookie,
						Description: "For browsers: set by POST /user/login with `cookie: true`. Requests that change something must come from a page of this server.",
					},
				},
			},
			OnAddOperation: []huma.AddOpFunc{func(_ *huma.OpenAPI, op *huma.Operation) {
				problemResponses(op, problemSchema)
				noteMaxLimit(op)
			}},
		},
		Formats:                      huma.DefaultFormats,
		DefaultFormat:                "application/json",
		RejectUnknownQueryParameters: true,
		Transformers:                 []huma.Transformer{asProblem},
	}
	h := huma.NewAPI(cfg, to)
	h.UseMiddleware(o.Guard, a.checkText, a.clampLimit)
	return h
}

const aboutAPI = `Connects chat references (numbers of WhatsApp Web and the WhatsApp Cloud API, pages of Messenger, and a sandbox) with code, webhooks, bots and AI agents. A reference is a connected number, page or account.

Sign up, log in, and send the token with every request: ` + "`Authorization: Bearer <token>`" + `.

* Times are UNIX seconds unless the field says ISO 8601.
* Lists return ` + "`{items, next}`" + `; ` + "`next`" + ` is the ` + "`cursor`" + ` of the next page, null on the last. A ` + "`limit`" + ` above the maximum counts as the maximum.
* Unknown fields and query parameters are refused.
* Every refusal is a problem document (RFC 9457) with a stable ` + "`code`" + `.
* Every response carries ` + "`X-Request-Id`" + `, which is also in the server's log.
* AI agents call functions: here at ` + "`/service-mcp`" + `, or with the same token over the Model Context Protocol at ` + "`/mcp`" + `.
* The section webhooks describes the requests to webhooks, with headers and body, for each kind of event.
* Within a major version members, optional fields and operations are only added; ignore members that you do not know.`

// tags are the services, as ids of operations and packages of Go have them.
var tags = []*huma.Tag{
	{Name: "Aiflow", Description: "Projects, flows, their versions and runs."},
	{Name: "Auth", Description: "Users, their permissions and their tokens."},
	{Name: "Billing", Description: "Subscriptions of accounts."},
	{Name: "Botengine", Description: "Bots, which have one flow each."},
	{Name: "Credential", Description: "Secrets for flows and foreign MCP servers."},
	{Name: "Events", Description: "Events that are delivered to webhooks."},
	{Name: "Extractor", Description: "Extractors, which find values in messages."},
	{Name: "Knowledge", Description: "Files that assistants use for answers."},
	{Name: "MCP", Description: "Functions that AI agents call."},
	{Name: "Messaging", Description: "References, their sessions, chats, messages, groups and templates."},
	{Name: "Remote", Description: "Foreign MCP servers whose tools agents may use."},
	{Name: "Sandbox", Description: "Simulated contacts of a sandbox reference."},
	{Name: "Server", Description: "The server and the account."},
	{Name: "Usage", Description: "Usage and cost of language models."},
	{Name: "Webhooks", Description: "Webhooks and their deliveries."},
}

// servers are the base address as this page sees it, and as others do.
func servers(base string) []*huma.Server {
	p := "/"
	if u, err := url.Parse(base); err == nil && u.Path != "" {
		p = u.Path
	}
	return []*huma.Server{{URL: p, Description: "This server"}, {URL: base, Description: "The configured address"}}
}

// SchemaName names a schema by its type, and by its package where that is
// another than ours: two packages may use one name.
func SchemaName(t reflect.Type, hint string) string {
	name := huma.DefaultSchemaNamer(t, hint)
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	pkg := path.Base(t.PkgPath())
	if strings.Contains(t.PkgPath(), "/messaging/payload") || strings.Contains(t.PkgPath(), "/messaging/internal/") {
		pkg = "messaging" // its parts are no names of the API
	}
	if t.Name() == "" || t.PkgPath() == "" || pkg == "server" || unprefixed(t.PkgPath()) {
		return name
	}
	return strings.ToUpper(pkg[:1]) + pkg[1:] + name
}

// unprefixed reports whether the schemas of a package are named by their types
// alone: those of the server's own parts.
func unprefixed(pkg string) bool {
	for _, part := range []string{"/server/internal/api/", "/server/internal/httpapi", "/server/internal/view", "/server/billing/"} {
		if strings.Contains(pkg+"/", part) {
			return true
		}
	}
	return false
}

// problemResponses shows our problem where huma shows its own.
func problemResponses(op *huma.Operation, schema *huma.Schema) {
	for status, r := range op.Responses {
		if status == "default" || status >= "400" {
			r.Content = map[string]*huma.MediaType{problemType: {Schema: schema}}
		}
	}
}

// Describe adds to the document what the operations do not say by themselves. The
// functions are called in their order, when all operations are in it.
func (a *API) Describe(describe ...func(*huma.OpenAPI)) {
	a.describe = append(a.describe, describe...)
}

// Document makes the OpenAPI document, without the schemas of huma's own errors.
func (a *API) Document() *huma.OpenAPI {
	all := a.newHuma(&collector{})
	for _, op := range a.operations {
		op.register(all)
	}
	d := all.OpenAPI()
	for _, t := range []reflect.Type{reflect.TypeFor[huma.ErrorModel](), reflect.TypeFor[huma.ErrorDetail]()} {
		delete(d.Components.Schemas.Map(), SchemaName(t, ""))
	}
	for _, describe := range a.describe {
		describe(d)
	}
	showLimits(d)
	showRefusals(d)
	MarkNullable(d.Components.Schemas)
	return d
}

// asProblem turns what huma refuses into a [Problem] without the refused
// values.
func asProblem(c huma.Context, _ string, v any) (any, error) {
	em, ok := v.(*huma.ErrorModel)
	if !ok {
		return v, nil
	}
	code := codeOf(em.Status)
	p := NewProblem(code, em.Detail)
	p.Title, p.Status = http.StatusText(em.Status), em.Status
	switch code {
	case CodeValidation:
		explain(p, em)
	case CodePayloadTooLarge:
		p.Detail = "the body is larger than " + FormatSize(c.Operation().MaxBodyBytes-1)
	case CodeRequestTimeout:
		p.Detail = "the body arrived too slowly: send the request again"
	case CodeUnsupportedMedia:
		p.Detail = "the body must be application/json"
	}
	return p, nil
}

// codeOf is the code of what huma itself refuses.
func codeOf(status int) string {
	switch status {
	case http.StatusBadRequest, http.StatusUnprocessableEntity:
		return CodeValidation
	case http.StatusRequestTimeout:
		return CodeRequestTimeout
	case http.StatusRequestEntityTooLarge:
		return CodePayloadTooLarge
	case http.StatusUnsupportedMediaType:
		return CodeUnsupportedMedia
	}
	return CodeInternal
}

// explain lists what is wrong where.
func explain(p *Problem, em *huma.ErrorModel) {
	p.Detail = "the request is not valid"
	named := map[string]bool{}
	for _, d := range em.Errors {
		e := FieldErrorOf(d)
		if d.Value == (extraError{}) && named[e.Location] {
			continue // the schema has said more of it
		}
		named[e.Location] = true
		p.Errors = append(p.Errors, e)
	}
	if em.Status != http.StatusBadRequest {
		return
	}
	p.Detail = "the body is not valid JSON"
	if len(p.Errors) == 0 {
		p.Detail = "the request has no body"
	}
}

// FieldErrorOf places a missing field where it is missing, and keeps values out
// of the message: some of huma's repeat them behind a colon.
func FieldErrorOf(d *huma.ErrorDetail) FieldError {
	const before, after = "expected required property ", " to be present"
	if name, ok := strings.CutPrefix(d.Message, before); ok && strings.HasSuffix(name, after) {
		return FieldError{Location: d.Location + "." + strings.TrimSuffix(name, after), Message: "is required"}
	}
	if e, ok := undecodable(d); ok {
		return e
	}
	switch {
	case d.Message == "unexpected property":
		return FieldError{Location: d.Location, Message: "is not a known field"}
	case d.Message == "unknown query parameter":
		return FieldError{Location: d.Location, Message: "is not a known parameter"}
	}
	for _, prefix := range []string{"expected string to be ", "expected duration", "invalid value"} {
		if strings.HasPrefix(d.Message, prefix) {
			message, _, _ := strings.Cut(d.Message, ": ")
			return FieldError{Location: d.Location, Message: message}
		}
	}
	return FieldError{Location: d.Location, Message: d.Message}
}

// undecodable places the error of a value that does not fit its Go type: huma
// gives the words of encoding/json, such as those for a number beyond 64 bits,
// or of a [MemberError].
func undecodable(d *huma.ErrorDetail) (FieldError, bool) {
	if field, ok := strings.CutPrefix(d.Message, "json: "); ok {
		_, field, _ = strings.Cut(field, " into Go struct field ")
		field, _, _ = strings.Cut(field, " of type ")
		if _, path, ok := strings.Cut(field, "."); ok {
			return FieldError{Location: "body." + path, Message: WrongType}, true
		}
		return FieldError{Location: d.Location, Message: WrongType}, true
	}
	if at, message, ok := strings.Cut(d.Message, ": "); ok && d.Location == "body" && strings.HasPrefix(at, "body") {
		return FieldError{Location: at, Message: message}, true
	}
	return FieldError{}, false
}

// WrongType is the message about a member whose value has another type than the
// schema says.
const WrongType = "has a value of the wrong type"

// RefusedResponse documents a problem of what is no operation of the API.
func RefusedResponse(what string) *huma.Response {
	return &huma.Response{Description: what, Content: map[string]*huma.MediaType{
		problemType: {Schema: &huma.Schema{Ref: SchemaRefs + problems}},
	}}
}
