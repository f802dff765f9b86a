package chats

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/trunklinehq/trunkline/server/internal/view"

	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
)

func (a *API) templateRoutes(api *httpapi.API) {
	httpapi.Register(api, httpapi.Operation{
		ID: "Messaging_CreateTemplate", On: httpapi.At("body.reference"), Method: http.MethodPost, Path: "/templates", Status: http.StatusCreated,
		Summary: "Submit a message template for approval",
		About:   "The network may approve or reject it immediately, and may change its category.",
		Errors:  []int{http.StatusNotFound, http.StatusBadGateway},
	}, auth.TemplatesManage, a.createTemplate)
	httpapi.Register(api, httpapi.Operation{
		ID: "Messaging_Templates", On: httpapi.At("query.reference"), Method: http.MethodGet, Path: "/templates",
		Summary: "List the message templates of a reference",
		About: "Reads the server's copy, which follows the reports of the network and is fetched again every six hours. " +
			"References of other types than provider-cloud and provider-sandbox answer `unsupported`.",
		Errors: []int{http.StatusNotFound, http.StatusBadGateway},
	}, auth.ChatsRead, a.listTemplates)
	httpapi.Register(api, httpapi.Operation{
		ID: "Messaging_DeleteTemplate", On: httpapi.At("query.reference"), Method: http.MethodDelete, Path: "/templates",
		Summary: "Delete a message template in one language or in all",
		Errors:  []int{http.StatusNotFound, http.StatusBadGateway},
	}, auth.TemplatesManage, a.deleteTemplate)
	httpapi.Register(api, httpapi.Operation{
		ID: "Messaging_PreviewTemplate", On: httpapi.At("body.reference"), Method: http.MethodPost, Path: "/templates/preview",
		Summary: "Preview a message template with its parameters",
		About:   "Answers with the same problems as a send. Nothing is sent.",
		Errors:  []int{http.StatusNotFound, http.StatusBadGateway},
	}, auth.ChatsRead, a.previewTemplate)
}

type templateInput struct {
	Body struct {
		Reference       provider.ReferenceID `json:"reference" minimum:"1" example:"1"`
		Name            string               `json:"name" minLength:"1" maxLength:"512" doc:"Lower-case letters, digits and underscores." example:"order_shipped"`
		Category        string               `json:"category" minLength:"1" maxLength:"64" doc:"MARKETING, UTILITY or AUTHENTICATION." example:"UTILITY"`
		Language        string               `json:"language" minLength:"1" maxLength:"35" example:"en_US"`
		Components      []json.RawMessage    `json:"components" nullable:"false" maxItems:"20" doc:"The components, in the network's own form."`
		ParameterFormat string               `json:"parameterFormat,omitempty" enum:"positional,named" doc:"How variables are identified: by position or by name. Default: positional."`
	}
}

func (a *API) createTemplate(ctx context.Context, c httpapi.Call, in *templateInput) (messaging.Template, error) {
	b := in.Body
	return a.Messaging.For(c.Account).Templates().Create(ctx, b.Reference, provider.TemplateDefinition{
		Name: b.Name, Category: strings.ToUpper(b.Category), Language: b.Language, ParameterFormat: b.ParameterFormat, Components: b.Components,
	})
}

type templateFilter struct {
	Reference provider.ReferenceID `query:"reference" required:"true" minimum:"1" doc:"Id of the reference."`
	Name      string               `query:"name" maxLength:"512" doc:"Only the template with exactly this name."`
	Status    string               `query:"status" enum:"PENDING,APPROVED,REJECTED,DISABLED"`

	httpapi.PageInput
}

func (a *API) listTemplates(ctx context.Context, c httpapi.Call, in *templateFilter) (view.Page[messaging.Template], error) {
	p, err := a.Messaging.For(c.Account).Templates().List(ctx, in.Reference, messaging.TemplateFilter{Name: in.Name, Status: in.Status},
		in.List())
	return view.PageOf(p, view.AsIs), httpapi.InQuery(err)
}

type templateName struct {
	Reference provider.ReferenceID `query:"reference" required:"true" minimum:"1" doc:"Id of the reference."`
	Name      string               `query:"name" required:"true" minLength:"1" maxLength:"512"`
	Language  string               `query:"language" maxLength:"35" doc:"Only this language. If absent, all languages."`
}

func (a *API) deleteTemplate(ctx context.Context, c httpapi.Call, in *templateName) (httpapi.Done, error) {
	err := a.Messaging.For(c.Account).Templates().Delete(ctx, in.Reference, in.Name, in.Language)
	return httpapi.Done{Success: true}, httpapi.InQuery(err)
}

type previewInput struct {
	Body struct {
		Reference provider.ReferenceID  `json:"reference" minimum:"1" example:"1"`
		Template  provider.TemplateCall `json:"template"`
	}
}

func (a *API) previewTemplate(ctx context.Context, c httpapi.Call, in *previewInput) (messaging.TemplatePreview, error) {
	return a.Messaging.For(c.Account).Templates().Preview(ctx, in.Body.Reference, in.Body.Template)
}
