package template

import (
	"context"
	"fmt"

	"github.com/trunklinehq/trunkline/internal/audit"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

// reviewer decides on the templates of references of a kind whose templates
// are kept here alone, where they are no copy; nil: their network keeps them.
func (c *Copies) reviewer(k provider.Kind) provider.TemplateReviewer {
	r, _ := c.kinds[k].(provider.TemplateReviewer)
	return r
}

// keepTemplate has a template reviewed and stores it, unless there is one of
// its name and language.
func (c *Copies) keepTemplate(ctx context.Context, row *store.Reference, r provider.TemplateReviewer, t provider.TemplateDefinition) (payload.Template, error) {
	info, err := r.ReviewTemplate(t)
	if err != nil {
		return payload.Template{}, templateRefused(ctx, err)
	}
	made := RowOf(row.ID, info)
	err = c.store.DB.InTx(ctx, func(tx *database.Tx) error {
		made.UpdatedUS = database.Micros(c.store.Now())
		res, err := tx.ExecContext(ctx, `INSERT INTO messaging_template (reference, id, name, language, category, format, components, status,
			provider_status, reason, quality, reported_us, updated_us)
			SELECT id, $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 0, CAST($11 AS BIGINT) FROM messaging_reference WHERE id = $12
			ON CONFLICT (reference, name, language) DO NOTHING`,
			made.ID, made.Name, made.Language, made.Category, made.Format, made.Components, string(made.Status),
			made.ProviderStatus, made.Reason, made.Quality, made.UpdatedUS, row.ID)
		if err != nil {
			return fmt.Errorf("storing a template: %w", err)
		}
		n, err := res.RowsAffected()
		if err == nil && n == 0 {
			err = &payload.Error{Code: payload.CodeProvider, Message: "A template with this name exists in this language. Choose another name."}
		}
		if err != nil {
			return err
		}
		return recordTemplateTx(ctx, tx, audit.TemplateCreate, row.ID, made.ID, made.Name, made.Language)
	})
	return made.View(), err
}

// dropTemplate deletes a template that is kept here.
func (c *Copies) dropTemplate(ctx context.Context, ref provider.ReferenceID, name, language string) error {
	return c.store.DB.InTx(ctx, func(tx *database.Tx) error {
		n, err := deleteTemplates(ctx, tx, ref, name, language)
		if err == nil && n == 0 {
			err = payload.ErrNotFound
		}
		if err != nil {
			return err
		}
		return recordTemplateTx(ctx, tx, audit.TemplateDelete, ref, "", name, language)
	})
}
