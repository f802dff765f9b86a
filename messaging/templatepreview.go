package messaging

import (
	"context"
	"errors"
	"strings"

	"github.com/trunklinehq/trunkline/messaging/internal/render"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/messaging/internal/template"
	"github.com/trunklinehq/trunkline/provider"
)

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
	return t.Preview(call), nil
}

// previewed makes the checks of a send.
func (s *Service) previewed(ctx context.Context, row *store.Reference, call provider.TemplateCall) (*template.Row, error) {
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
