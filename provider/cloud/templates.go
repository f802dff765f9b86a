package cloud

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"

	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/graph"
	"github.com/trunklinehq/trunkline/provider/graph/template"
)

const (
	templateFields = "id,name,language,status,category,components,parameter_format,rejected_reason,quality_score"
	templatePage   = "100" // templates per request
)

// wireTemplate is a template in the network's format.
type wireTemplate struct {
	ID         graph.ID          `json:"id"`
	Name       string            `json:"name"`
	Language   string            `json:"language"`
	Status     string            `json:"status"`
	Category   string            `json:"category"`
	Format     string            `json:"parameter_format"`
	Components []json.RawMessage `json:"components"`
	Reason     string            `json:"rejected_reason"`
	Quality    json.RawMessage   `json:"quality_score"` // {"score": "GREEN"}, or the score
}

func (t *wireTemplate) info() provider.TemplateInfo {
	info := provider.TemplateInfo{
		TemplateDefinition: provider.TemplateDefinition{
			Name: t.Name, Category: t.Category, Language: t.Language,
			ParameterFormat: strings.ToLower(t.Format), Components: t.Components,
		},
		ID: string(t.ID), Status: provider.TemplateStatusOf(t.Status), ProviderStatus: t.Status,
		Quality: first(graph.Value(t.Quality).Get("score").Text(), graph.Value(t.Quality).Text()),
	}
	if t.Reason != "NONE" {
		info.Reason = t.Reason
	}
	return info
}

// CreateTemplate submits a template. The network may approve or reject it at
// once, or change its category. If it breaks a rule, the error is a
// [*provider.Invalid].
//
// See https://developers.facebook.com/docs/whatsapp/business-management-api/message-templates
func (c *Client) CreateTemplate(ctx context.Context, t provider.TemplateDefinition) (provider.TemplateInfo, error) {
	if err := template.Check(t); err != nil {
		return provider.TemplateInfo{}, err
	}
	body := struct {
		Name       string            `json:"name"`
		Language   string            `json:"language"`
		Category   string            `json:"category"`
		Format     string            `json:"parameter_format,omitempty"`
		Components []json.RawMessage `json:"components"`
	}{t.Name, t.Language, t.Category, strings.ToUpper(t.ParameterFormat), t.Components}
	path, err := c.account(templatesEdge)
	if err != nil {
		return provider.TemplateInfo{}, err
	}
	var out wireTemplate
	if err := c.graph.Post(ctx, path, body, &out); err != nil {
		return provider.TemplateInfo{}, c.failed(ctx, "creating a template", err)
	}
	info := out.info()
	info.TemplateDefinition = t
	info.Category = first(out.Category, t.Category)
	return info, nil
}

// Templates returns a page of the account's templates and the cursor of the
// next page. "" is the cursor of the first page, and is returned with the last.
func (c *Client) Templates(ctx context.Context, cursor string) (list []provider.TemplateInfo, next string, err error) {
	query := url.Values{}
	if cursor != "" {
		query.Set("after", cursor)
	}
	return c.listTemplates(ctx, query)
}

func (c *Client) listTemplates(ctx context.Context, query url.Values) ([]provider.TemplateInfo, string, error) {
	query.Set("fields", templateFields)
	query.Set("limit", templatePage)
	path, err := c.account(templatesEdge)
	if err != nil {
		return nil, "", err
	}
	var p page[wireTemplate]
	if err := c.graph.Get(ctx, path, query, &p); err != nil {
		return nil, "", c.failed(ctx, "listing the templates", err)
	}
	list := make([]provider.TemplateInfo, len(p.Data))
	for i := range p.Data {
		list[i] = p.Data[i].info()
	}
	return list, p.next(), nil
}

// Template returns the template with an id.
func (c *Client) Template(ctx context.Context, id string) (provider.TemplateInfo, error) {
	if !plainID(id) {
		return provider.TemplateInfo{}, &provider.Rejected{Message: "the id of the template is invalid"}
	}
	var t wireTemplate
	if err := c.graph.Get(ctx, id, url.Values{"fields": {templateFields}}, &t); err != nil {
		return provider.TemplateInfo{}, c.failed(ctx, "reading a template", err)
	}
	return t.info(), nil
}

// DeleteTemplate deletes a template in one language; "": in all. The name of an
// approved template cannot be used again for 30 days.
func (c *Client) DeleteTemplate(ctx context.Context, name, language string) error {
	path, err := c.account(templatesEdge)
	if err != nil {
		return err
	}
	query := url.Values{"name": {name}}
	if language != "" {
		id, err := c.templateID(ctx, name, language)
		if err != nil {
			return err
		}
		query.Set("hsm_id", id)
	}
	var done graph.Confirmation
	if err := c.graph.Delete(ctx, path, query, &done); err != nil {
		return c.failed(ctx, "deleting a template", err)
	}
	return done.Check("deleting a template")
}

// templateID returns the id of a template. The network's search also finds
// parts of names.
func (c *Client) templateID(ctx context.Context, name, language string) (string, error) {
	for cursor := ""; ; {
		query := url.Values{"name": {name}}
		if cursor != "" {
			query.Set("after", cursor)
		}
		list, next, err := c.listTemplates(ctx, query)
		if err != nil {
			return "", err
		}
		for _, t := range list {
			if t.Name == name && t.Language == language {
				return t.ID, nil
			}
		}
		if next == "" || next == cursor {
			return "", &provider.Rejected{Code: "132001", Message: "the template does not exist: " + name + " in " + language}
		}
		cursor = next
	}
}

const templatesEdge = "message_templates"

// TemplateMessage is an approved template with its parameters.
type TemplateMessage template.Message

func (t TemplateMessage) check(r *graph.Rules) { template.Message(t).Check(r) }
func (t TemplateMessage) into(e *envelope)     { e.Type, e.Template = "template", t }

// rawTemplate is a [TemplateMessage] whose components are sent unchanged,
// including fields that this version does not support.
type rawTemplate struct{ call provider.TemplateCall }

func (t rawTemplate) check(r *graph.Rules) {
	template.CheckCall(r, t.call)
}

func (t rawTemplate) into(e *envelope) { e.Type, e.Template = "template", t.call }

// template reads a change of a message template: of its status, quality,
// category or components.
func (r *reader) template(kind string) {
	v := r.value
	t := &provider.TemplateChange{
		Raw:        r.Itself(kind, v),
		TemplateID: v.Get("message_template_id").ID(),
		Name:       v.Get("message_template_name").Text(),
		Language:   v.Get("message_template_language").Text(),
		At:         r.At.Time(),
	}
	if t.TemplateID == "" && t.Name == "" {
		r.Report(&t.Raw)
		return
	}
	switch kind {
	case "template_status":
		t.Status, t.Category = v.Get("event").Text(), v.Get("message_template_category").Text()
		t.Reason, t.Advice = templateReason(v)
	case "template_quality":
		t.Quality = v.Get("new_quality_score").Text()
	case "template_category":
		t.Category = v.Get("new_category").Text()
	case "template_components":
		t.Text = v.Get("message_template_element").Text()
	}
	r.Report(t)
}

// templateReason returns why a template has its status, and what to do about
// it.
func templateReason(v graph.Value) (reason, advice string) {
	if reason = v.Get("reason").Text(); reason == "NONE" {
		reason = ""
	}
	info, other := v.Get("rejection_info"), v.Get("other_info")
	reason = first(reason, other.Get("title").Text())
	advice = first(info.Get("reason").Text(), other.Get("description").Text())
	if what := info.Get("recommendation").Text(); what != "" {
		advice = joined(advice, what)
	}
	return reason, advice
}

// joined joins two sentences, either of which may be empty.
func joined(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + " " + b
}
