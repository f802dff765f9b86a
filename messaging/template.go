package messaging

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/trunklinehq/trunkline/internal/page"

	"github.com/trunklinehq/trunkline/internal/text"
	"github.com/trunklinehq/trunkline/messaging/internal/outbox"
	"github.com/trunklinehq/trunkline/messaging/internal/render"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/messaging/internal/template"
	"github.com/trunklinehq/trunkline/provider"
)

// TemplateFilter chooses among the templates of a reference; "": all.
type TemplateFilter struct{ Name, Status string }

// Templates are the message templates of the references of an account.
type Templates Account

// Templates returns the message templates of the account.
func (a *Account) Templates() *Templates { return (*Templates)(a) }

// reference reads a reference whose network has templates. The manager is nil
// when templates exist here alone.
func (a *Templates) reference(ctx context.Context, id provider.ReferenceID) (*store.Reference, provider.TemplateManager, error) {
	row, _, err := a.s.store.Opened(ctx, a.s.db, a.id, id)
	if err != nil {
		return nil, nil, err
	}
	m, err := a.s.templates.Manager(ctx, row)
	return row, m, err
}

// List lists the templates of a reference from our copy. It fetches the copy from
// the network when there is none yet.
func (a *Templates) List(ctx context.Context, ref provider.ReferenceID, f TemplateFilter, l List) (Page[Template], error) {
	after, limit, err := position(l, 1)
	if err != nil {
		return Page[Template]{}, err
	}
	row, m, err := a.reference(ctx, ref)
	if err != nil {
		return Page[Template]{}, err
	}
	if err := a.s.templates.EnsureFetched(ctx, row, m); err != nil {
		return Page[Template]{}, err
	}
	p := store.Params{row.ID}
	q := `SELECT ` + template.Columns + ` FROM messaging_template WHERE reference = $1`
	if f.Name != "" {
		q += ` AND name = ` + p.Add(text.Sanitize(f.Name))
	}
	if f.Status != "" {
		q += ` AND status = ` + p.Add(text.Sanitize(f.Status))
	}
	if after != nil {
		q += ` AND seq > ` + p.Add(after[0])
	}
	var rows []*template.Row
	if err := a.s.db.SelectContext(ctx, &rows, q+` ORDER BY seq LIMIT `+p.Add(limit+1), p...); err != nil {
		return Page[Template]{}, fmt.Errorf("listing templates: %w", err)
	}
	return page.CutAt(rows, limit, func(r *template.Row) string { return page.Cursor{r.Seq}.String() }, (*template.Row).View), nil
}

// Create submits a template to the network for approval. A template that breaks
// a rule is an [*Invalid]; a refusal is an [*Error] with the network's own words.
func (a *Templates) Create(ctx context.Context, ref provider.ReferenceID, t provider.TemplateDefinition) (Template, error) {
	row, m, err := a.reference(ctx, ref)
	if err != nil {
		return Template{}, err
	}
	return a.s.templates.Create(ctx, row, m, t)
}

// Delete deletes a template in one language; "": in all. One that the
// network does not know is [ErrNotFound].
func (a *Templates) Delete(ctx context.Context, ref provider.ReferenceID, name, language string) error {
	row, m, err := a.reference(ctx, ref)
	if err != nil {
		return err
	}
	return a.s.templates.Delete(ctx, row, m, name, language)
}

// Preview fills a template in without sending it. What sending would
// refuse is refused with the same error, its fields as in a send without
// "message.".
func (a *Templates) Preview(ctx context.Context, ref provider.ReferenceID, call provider.TemplateCall) (TemplatePreview, error) {
	row, m, err := a.reference(ctx, ref)
	if err != nil {
		return TemplatePreview{}, err
	}
	if err := a.s.templates.EnsureFetched(ctx, row, m); err != nil {
		return TemplatePreview{}, err
	}
	t, err := a.s.templateFor(ctx, row, call)
	if broken, ok := errors.AsType[*Invalid](err); ok {
		return TemplatePreview{}, &Invalid{Field: strings.TrimPrefix(broken.Field, "message."), Message: broken.Message}
	}
	if err != nil {
		return TemplatePreview{}, err
	}
	return t.Preview(call), nil
}

// templateFor finds the template of a call, with the checks of a send.
func (s *Service) templateFor(ctx context.Context, row *store.Reference, call provider.TemplateCall) (*template.Row, error) {
	p, err := s.store.Provider(row.Kind)
	if err != nil {
		return nil, err
	}
	content := provider.Template{Template: call}
	if err := render.CheckContent(content); err != nil {
		return nil, err
	}
	if err := outbox.ValidateContent(p, content); err != nil {
		return nil, err
	}
	return s.templates.Find(ctx, s.db, row, call)
}
