package messaging

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/trunklinehq/trunkline/messaging/internal/render"
	"github.com/trunklinehq/trunkline/provider"
)

// TemplatePreview is what a contact would see of a template.
type TemplatePreview struct {
	Text    string           `json:"text"`
	Header  string           `json:"header,omitempty" doc:"Its text; of a file its address, or else its kind."`
	Footer  string           `json:"footer,omitempty"`
	Buttons []TemplateButton `json:"buttons,omitempty" nullable:"false"`
}

// TemplateButton is a button under a template.
type TemplateButton struct {
	Type string `json:"type" example:"URL"`
	Text string `json:"text"`
	URL  string `json:"url,omitempty" doc:"Where it leads."`
}

// PreviewTemplate fills a template in without sending it. What sending would
// refuse is refused with the same error, its fields as in a send without
// "message.".
func (a *Account) PreviewTemplate(ctx context.Context, ref provider.ReferenceID, call provider.TemplateCall) (TemplatePreview, error) {
	row, m, err := a.templateReference(ctx, ref)
	if err != nil {
		return TemplatePreview{}, err
	}
	if err := a.s.haveTemplates(ctx, row, m); err != nil {
		return TemplatePreview{}, err
	}
	t, err := a.s.previewed(ctx, row, call)
	var broken *Invalid
	if errors.As(err, &broken) {
		return TemplatePreview{}, &Invalid{Field: strings.TrimPrefix(broken.Field, "message."), Message: broken.Message}
	}
	if err != nil {
		return TemplatePreview{}, err
	}
	return t.preview(call), nil
}

// previewed makes the checks of a send.
func (s *Service) previewed(ctx context.Context, row *referenceRow, call provider.TemplateCall) (*templateRow, error) {
	p, err := s.kind(row.Kind)
	if err != nil {
		return nil, err
	}
	content := provider.Template{Template: call}
	if err := render.CheckContent(content); err != nil {
		return nil, err
	}
	if err := validateContent(p, content); err != nil {
		return nil, err
	}
	return s.template(ctx, s.db, row, call)
}

// preview fills the template in with values that fit it.
func (r *templateRow) preview(call provider.TemplateCall) TemplatePreview {
	fill, err := fillings(call)
	if err != nil {
		return TemplatePreview{}
	}
	var out TemplatePreview
	shape := r.shape()
	for i := range shape.parts {
		p := &shape.parts[i]
		c := one(fill, func(c *filling) bool { return c.is(p.Type) })
		switch {
		case p.is("HEADER"):
			out.Header = shownHeader(p, c)
		case p.is("BODY"):
			out.Text = fillText(p.Text, c)
		case p.is("FOOTER"):
			out.Footer = p.Text
		case p.is("BUTTONS"):
			out.Buttons = shownButtons(p, fill)
		}
	}
	return out
}

// text is what a record says of a template that was sent.
func (p TemplatePreview) text() string {
	lines := slices.DeleteFunc([]string{p.Header, p.Text, p.Footer}, func(s string) bool { return s == "" })
	return strings.Join(lines, "\n")
}

// fillText puts values into a text, by place or by name.
func fillText(text string, c *filling) string {
	if c == nil {
		return text
	}
	return templateVariable.ReplaceAllStringFunc(text, func(v string) string {
		name := templateVariable.FindStringSubmatch(v)[1]
		for i := range c.Parameters {
			if p := &c.Parameters[i]; p.Name == name || p.Name == "" && strconv.Itoa(i+1) == name {
				return p.shown()
			}
		}
		return v
	})
}

func shownHeader(p *templatePart, c *filling) string {
	kind := strings.ToLower(p.Format)
	if kind == "" || kind == "text" {
		return fillText(p.Text, c)
	}
	if c == nil || len(c.Parameters) == 0 {
		return kind
	}
	v := c.Parameters[0]
	for _, file := range []*fileParam{v.Image, v.Video, v.Document} {
		switch {
		case file == nil:
		case file.Link != "":
			return file.Link
		case file.Filename != "":
			return file.Filename
		}
	}
	return kind
}

func shownButtons(p *templatePart, fill []filling) []TemplateButton {
	out := make([]TemplateButton, len(p.Buttons))
	for i := range p.Buttons {
		b := &p.Buttons[i]
		out[i] = TemplateButton{Type: strings.ToUpper(b.Type), Text: b.Text}
		if b.URL != "" {
			place := strconv.Itoa(i)
			out[i].URL = fillText(b.URL, one(fill, func(c *filling) bool { return c.is("button") && c.index() == place }))
		}
	}
	return out
}
