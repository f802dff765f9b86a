package template

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"github.com/trunklinehq/trunkline/internal/audit"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/text"
	"github.com/trunklinehq/trunkline/messaging/internal/refusal"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

// Copies keeps the templates of references: copies of those that their
// networks have, and those that are kept here alone.
type Copies struct {
	store   *store.Store
	logger  *slog.Logger
	kinds   map[provider.Kind]provider.Provider
	session func(ctx context.Context, row *store.Reference) (provider.Session, error)
}

// NewCopies returns the templates of the references of a store. session
// is the open session of a reference.
func NewCopies(
	s *store.Store, logger *slog.Logger, kinds map[provider.Kind]provider.Provider,
	session func(ctx context.Context, row *store.Reference) (provider.Session, error),
) *Copies {
	return &Copies{store: s, logger: logger, kinds: kinds, session: session}
}

// Create hands a template in for approval, or has it reviewed here.
func (c *Copies) Create(ctx context.Context, row *store.Reference, m provider.TemplateManager, t provider.TemplateDefinition) (payload.Template, error) {
	if r := c.reviewer(row.Kind); r != nil {
		return c.keepTemplate(ctx, row, r, t)
	}
	info, err := m.CreateTemplate(ctx, t)
	if err != nil {
		return payload.Template{}, templateRefused(ctx, err)
	}
	made := RowOf(row.ID, info)
	if made.Status == "" {
		made.Status = provider.TemplateStatusOf(made.ProviderStatus)
	}
	// It exists now, whether or not the caller still listens.
	err = c.store.DB.InTx(context.WithoutCancel(ctx), func(tx *database.Tx) error {
		u := c.store.Begin(tx)
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

// Delete deletes a template from the network and from our copy.
func (c *Copies) Delete(ctx context.Context, row *store.Reference, m provider.TemplateManager, name, language string) error {
	if c.reviewer(row.Kind) != nil {
		return c.dropTemplate(ctx, row.ID, name, language)
	}
	if err := m.DeleteTemplate(ctx, name, language); err != nil {
		return c.notDeleted(ctx, row.ID, name, language, err)
	}
	ctx = context.WithoutCancel(ctx)
	return c.store.DB.InTx(ctx, func(tx *database.Tx) error {
		if _, err := deleteTemplates(ctx, tx, row.ID, name, language); err != nil {
			return err
		}
		if err := recordTemplateTx(ctx, tx, audit.TemplateDelete, row.ID, "", name, language); err != nil {
			return err
		}
		return templatesDue(ctx, c.store.Begin(tx), row)
	})
}

// Manager is who has the templates of a reference, nil where they
// are kept here.
func (c *Copies) Manager(ctx context.Context, row *store.Reference) (provider.TemplateManager, error) {
	if c.reviewer(row.Kind) != nil {
		return nil, nil
	}
	return c.templateManager(ctx, row)
}

func (c *Copies) templateManager(ctx context.Context, row *store.Reference) (provider.TemplateManager, error) {
	sess, err := c.session(ctx, row)
	if err != nil {
		return nil, err
	}
	m, ok := sess.(provider.TemplateManager)
	if !ok {
		return nil, &payload.Error{Code: payload.CodeUnsupported, Message: "A reference of type " + string(row.Kind) + " has no templates."}
	}
	return m, nil
}

// deleteTemplates deletes the rows of a template in one language, or in all,
// and counts them.
func deleteTemplates(ctx context.Context, tx *database.Tx, ref provider.ReferenceID, name, language string) (int64, error) {
	p := store.Params{ref, text.Sanitize(name)}
	q := `DELETE FROM messaging_template WHERE reference = $1 AND name = $2`
	if language != "" {
		q += ` AND language = ` + p.Add(text.Sanitize(language))
	}
	res, err := tx.ExecContext(ctx, q, p...)
	if err != nil {
		return 0, fmt.Errorf("deleting a template: %w", err)
	}
	return res.RowsAffected()
}

// notDeleted is the error of a refused deletion: [payload.ErrNotFound] when our copy,
// too, has no such template.
func (c *Copies) notDeleted(ctx context.Context, ref provider.ReferenceID, name, language string, err error) error {
	var rejected *provider.Rejected
	if !errors.As(err, &rejected) {
		return templateRefused(ctx, err)
	}
	var have []string
	found := c.store.DB.SelectContext(ctx, &have, `SELECT language FROM messaging_template WHERE reference = $1 AND name = $2`, ref, text.Sanitize(name))
	if found == nil && len(have) == 0 || language != "" && !slices.Contains(have, text.Sanitize(language)) {
		return payload.ErrNotFound
	}
	return templateRefused(ctx, err)
}

// CodeUnknown is how the Cloud API says that it has no such template.
const CodeUnknown = "132001"

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

// recordTemplateTx records what was done to a template; language "": in all.
func recordTemplateTx(ctx context.Context, tx *database.Tx, action audit.Action, ref provider.ReferenceID, id, name, language string) error {
	e := audit.Entry{Action: action, ObjectID: id, ObjectName: name, Reference: int64(ref)}
	if language != "" {
		e.Details = map[string]any{"language": language}
	}
	return audit.RecordTx(ctx, tx, e)
}
