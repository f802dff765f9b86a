package messaging

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/audit"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/messaging/internal/refusal"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/messaging/internal/template"
	"github.com/trunklinehq/trunkline/provider"
)

// TemplateFilter chooses among the templates of a reference; "": all.
type TemplateFilter struct{ Name, Status string }

// templateReference is a reference of the account whose network has templates. The
// manager is nil where they are kept here: [Service.reviewer].
func (a *Account) templateReference(ctx context.Context, id provider.ReferenceID) (*store.Reference, provider.TemplateManager, error) {
	row, _, err := a.opened(ctx, id)
	if err != nil || a.s.reviewer(row.Kind) != nil {
		return row, nil, err
	}
	m, err := a.s.templateManager(ctx, row)
	return row, m, err
}

func (s *Service) templateManager(ctx context.Context, row *store.Reference) (provider.TemplateManager, error) {
	sess, err := s.sessions.get(ctx, s, row)
	if err != nil {
		return nil, err
	}
	m, ok := sess.(provider.TemplateManager)
	if !ok {
		return nil, &Error{Code: CodeUnsupported, Message: "A line of type " + string(row.Kind) + " has no templates."}
	}
	return m, nil
}

// Templates lists a reference's templates from our copy, which is fetched from the
// network when there is none yet.
func (a *Account) Templates(ctx context.Context, ref provider.ReferenceID, f TemplateFilter, l List) (Page[Template], error) {
	limit, err := l.limit()
	if err != nil {
		return Page[Template]{}, err
	}
	after, err := store.ParseCursor("cursor", l.Cursor, 1)
	if err != nil {
		return Page[Template]{}, err
	}
	row, m, err := a.templateReference(ctx, ref)
	if err != nil {
		return Page[Template]{}, err
	}
	if err := a.s.haveTemplates(ctx, row, m); err != nil {
		return Page[Template]{}, err
	}
	p := store.Params{row.ID}
	q := `SELECT ` + template.Columns + ` FROM messaging_template WHERE reference = $1`
	if f.Name != "" {
		q += ` AND name = ` + p.Add(store.Sanitize(f.Name))
	}
	if f.Status != "" {
		q += ` AND status = ` + p.Add(store.Sanitize(f.Status))
	}
	if after != nil {
		q += ` AND seq > ` + p.Add(after[0])
	}
	var rows []*template.Row
	if err := a.s.db.SelectContext(ctx, &rows, q+` ORDER BY seq LIMIT `+p.Add(limit+1), p...); err != nil {
		return Page[Template]{}, fmt.Errorf("listing templates: %w", err)
	}
	return page(rows, limit, func(r *template.Row) store.Cursor { return store.Cursor{r.Seq} }, (*template.Row).View), nil
}

// CreateTemplate hands a template in for approval. What breaks a rule of the
// network is an [*Invalid], its refusal an [*Error] with its own words.
func (a *Account) CreateTemplate(ctx context.Context, ref provider.ReferenceID, t provider.TemplateDefinition) (Template, error) {
	row, m, err := a.templateReference(ctx, ref)
	if err != nil {
		return Template{}, err
	}
	if r := a.s.reviewer(row.Kind); r != nil {
		return a.s.keepTemplate(ctx, row, r, t)
	}
	info, err := m.CreateTemplate(ctx, t)
	if err != nil {
		return Template{}, templateRefused(ctx, err)
	}
	made := template.RowOf(row.ID, info)
	if made.Status == "" {
		made.Status = provider.TemplateStatusOf(made.ProviderStatus)
	}
	// It exists now, whether or not the caller still listens.
	err = a.s.db.InTx(context.WithoutCancel(ctx), func(tx *sqlx.Tx) error {
		u := a.s.store.Begin(tx)
		made.UpdatedUS = database.Micros(u.Now)
		if err := putTemplates(ctx, u, made); err != nil {
			return err
		}
		if err := recordTemplateTx(ctx, tx, audit.TemplateCreate, row.ID, made.ID, made.Name, made.Language); err != nil {
			return err
		}
		return templatesDue(ctx, u, row) // the network may have changed it, and other references have it too
	})
	return made.View(), err
}

// DeleteTemplate deletes a template in one language; "": in all. One that the
// network does not know is [ErrNotFound].
func (a *Account) DeleteTemplate(ctx context.Context, ref provider.ReferenceID, name, language string) error {
	row, m, err := a.templateReference(ctx, ref)
	if err != nil {
		return err
	}
	if a.s.reviewer(row.Kind) != nil {
		return a.s.dropTemplate(ctx, row.ID, name, language)
	}
	if err := m.DeleteTemplate(ctx, name, language); err != nil {
		return a.s.notDeleted(ctx, row.ID, name, language, err)
	}
	ctx = context.WithoutCancel(ctx)
	return a.s.db.InTx(ctx, func(tx *sqlx.Tx) error {
		if _, err := deleteTemplates(ctx, tx, row.ID, name, language); err != nil {
			return err
		}
		if err := recordTemplateTx(ctx, tx, audit.TemplateDelete, row.ID, "", name, language); err != nil {
			return err
		}
		return templatesDue(ctx, a.s.store.Begin(tx), row)
	})
}

// deleteTemplates deletes the rows of a template in one language, or in all,
// and counts them.
func deleteTemplates(ctx context.Context, tx *sqlx.Tx, ref provider.ReferenceID, name, language string) (int64, error) {
	p := store.Params{ref, store.Sanitize(name)}
	q := `DELETE FROM messaging_template WHERE reference = $1 AND name = $2`
	if language != "" {
		q += ` AND language = ` + p.Add(store.Sanitize(language))
	}
	res, err := tx.ExecContext(ctx, q, p...)
	if err != nil {
		return 0, fmt.Errorf("deleting a template: %w", err)
	}
	return res.RowsAffected()
}

// notDeleted is the error of a refused deletion: [ErrNotFound] when our copy,
// too, has no such template.
func (s *Service) notDeleted(ctx context.Context, ref provider.ReferenceID, name, language string, err error) error {
	var rejected *provider.Rejected
	if !errors.As(err, &rejected) {
		return templateRefused(ctx, err)
	}
	var have []string
	found := s.db.SelectContext(ctx, &have, `SELECT language FROM messaging_template WHERE reference = $1 AND name = $2`, ref, store.Sanitize(name))
	if found == nil && len(have) == 0 || language != "" && !slices.Contains(have, store.Sanitize(language)) {
		return ErrNotFound
	}
	return templateRefused(ctx, err)
}

// codeNoTemplate is how the Cloud API says that it has no such template.
const codeNoTemplate = "132001"

// templateRefused is the error of a call about templates that failed.
func templateRefused(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if broken := refusal.BrokenRules(err); broken != nil {
		return broken
	}
	return refusal.OfNetwork(err)
}
