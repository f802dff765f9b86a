package template

import (
	"strconv"
	"strings"

	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

// Preview fills the template in with values that fit it.
func (r *Row) Preview(call provider.TemplateCall) payload.TemplatePreview {
	fill, err := fillings(call)
	if err != nil {
		return payload.TemplatePreview{}
	}
	var out payload.TemplatePreview
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

func shownButtons(p *templatePart, fill []filling) []payload.TemplateButton {
	out := make([]payload.TemplateButton, len(p.Buttons))
	for i := range p.Buttons {
		b := &p.Buttons[i]
		out[i] = payload.TemplateButton{Type: strings.ToUpper(b.Type), Text: b.Text}
		if b.URL != "" {
			place := strconv.Itoa(i)
			out[i].URL = fillText(b.URL, one(fill, func(c *filling) bool { return c.is("button") && c.index() == place }))
		}
	}
	return out
}
