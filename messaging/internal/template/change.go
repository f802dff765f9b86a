package template

import (
	"context"
	"fmt"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/text"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/provider"
)

// ApplyChange brings our copy of a template in line with what its network
// reports. What the report does not say in full, or what comes late, makes the
// copy due. A reference without a copy needs none.
func ApplyChange(ctx context.Context, u *store.Batch, l store.ReferenceInfo, e *provider.TemplateChange) error {
	// The update locks the copy; every change of templates does so first.
	res, err := u.Tx.ExecContext(ctx, `UPDATE messaging_template_copy SET fetched_us = fetched_us WHERE reference = $1`, l.ID)
	if err != nil {
		return fmt.Errorf("locking templates: %w", err)
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return err
	}
	var rows []*Row
	err = u.Tx.SelectContext(ctx, &rows, `SELECT `+Columns+` FROM messaging_template WHERE reference = $1 AND (id = $2 OR name = $3 AND language = $4)
		ORDER BY seq`, l.ID, text.Sanitize(e.TemplateID), text.Sanitize(e.Name), text.Sanitize(e.Language))
	if err != nil {
		return fmt.Errorf("finding a template: %w", err)
	}
	at := store.NetworkTime(u, e.At)
	incomplete := len(rows) == 0 || e.Status+e.Quality+e.Category == ""
	for _, r := range rows {
		if at < r.ReportedUS {
			incomplete = true // which of the two came first, its network knows
			continue
		}
		r.ApplyChange(e, at, database.Micros(u.Now))
		if err := putTemplates(ctx, u, r); err != nil {
			return err
		}
	}
	if !incomplete {
		return nil
	}
	return wantTemplates(ctx, u, l.ID)
}
