package server

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/server/auth"
)

func (s *Server) templateRoutes(a *api) {
	register(a, operation{
		id: "Messaging_CreateTemplate", on: at("body.reference"), method: http.MethodPost, path: "/templates", status: http.StatusCreated,
		summary: "Hand in a message template for approval",
		about:   "The network may approve or reject it at once, and change its category.",
		errors:  []int{http.StatusNotFound, http.StatusBadGateway},
	}, auth.TemplatesManage, s.createTemplate)
	register(a, operation{
		id: "Messaging_Templates", on: at("query.reference"), method: http.MethodGet, path: "/templates",
		summary: "List the message templates of a line",
		about: "From our copy, which follows what the network reports and is fetched again every six hours. " +
			"Lines of other types than provider-cloud and provider-sandbox answer `unsupported`.",
		errors: []int{http.StatusNotFound, http.StatusBadGateway},
	}, auth.ChatsRead, s.listTemplates)
	register(a, operation{
		id: "Messaging_DeleteTemplate", on: at("query.reference"), method: http.MethodDelete, path: "/templates",
		summary: "Delete a message template, in one language or in all",
		errors:  []int{http.StatusNotFound, http.StatusBadGateway},
	}, auth.TemplatesManage, s.deleteTemplate)
	register(a, operation{
		id: "Messaging_PreviewTemplate", on: at("body.reference"), method: http.MethodPost, path: "/templates/preview",
		summary: "Fill in a message template without sending it",
		about:   "What sending would refuse is refused with the same problem.",
		errors:  []int{http.StatusNotFound, http.StatusBadGateway},
	}, auth.ChatsRead, s.previewTemplate)
}

type templateInput struct {
	Body struct {
		Reference       provider.ReferenceID `json:"reference" minimum:"1" example:"1"`
		Name            string               `json:"name" minLength:"1" maxLength:"512" doc:"Lower-case letters, digits and underscores." example:"order_shipped"`
		Category        string               `json:"category" minLength:"1" maxLength:"64" doc:"MARKETING, UTILITY or AUTHENTICATION." example:"UTILITY"`
		Language        string               `json:"language" minLength:"1" maxLength:"35" example:"en_US"`
		Components      []json.RawMessage    `json:"components" nullable:"false" maxItems:"20" doc:"As the network takes them."`
		ParameterFormat string               `json:"parameterFormat,omitempty" enum:"positional,named" doc:"How variables are called; absent: positional."`
	}
}

func (s *Server) createTemplate(ctx context.Context, c call, in *templateInput) (messaging.Template, error) {
	b := in.Body
	return s.account(c).CreateTemplate(ctx, b.Reference, provider.TemplateDefinition{
		Name: b.Name, Category: strings.ToUpper(b.Category), Language: b.Language, ParameterFormat: b.ParameterFormat, Components: b.Components,
	})
}

type templateFilter struct {
	Reference provider.ReferenceID `query:"reference" required:"true" minimum:"1" doc:"Id of the reference."`
	Name      string               `query:"name" maxLength:"512" doc:"The whole name."`
	Status    string               `query:"status" enum:"PENDING,APPROVED,REJECTED,DISABLED"`
	Limit     int                  `query:"limit" minimum:"1" maximum:"200" default:"50"`
	Cursor    string               `query:"cursor" maxLength:"200" doc:"next of the page before."`
}

func (s *Server) listTemplates(ctx context.Context, c call, in *templateFilter) (messaging.Page[messaging.Template], error) {
	p, err := s.account(c).Templates(ctx, in.Reference, messaging.TemplateFilter{Name: in.Name, Status: in.Status},
		messaging.List{Limit: in.Limit, Cursor: in.Cursor})
	return p, inQuery(err)
}

type templateName struct {
	Reference provider.ReferenceID `query:"reference" required:"true" minimum:"1" doc:"Id of the reference."`
	Name      string               `query:"name" required:"true" minLength:"1" maxLength:"512"`
	Language  string               `query:"language" maxLength:"35" doc:"Absent: all languages."`
}

func (s *Server) deleteTemplate(ctx context.Context, c call, in *templateName) (done, error) {
	err := s.account(c).DeleteTemplate(ctx, in.Reference, in.Name, in.Language)
	return done{true}, inQuery(err)
}

type previewInput struct {
	Body struct {
		Reference provider.ReferenceID  `json:"reference" minimum:"1" example:"1"`
		Template  provider.TemplateCall `json:"template"`
	}
}

func (s *Server) previewTemplate(ctx context.Context, c call, in *previewInput) (messaging.TemplatePreview, error) {
	return s.account(c).PreviewTemplate(ctx, in.Body.Reference, in.Body.Template)
}
