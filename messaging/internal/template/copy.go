package template

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

const (
	// templateTTL is how long our copy of a reference's templates is good.
	templateTTL = 6 * time.Hour
	// templateRetry is how long after a fetch that failed, or that died with
	// its node, the next one begins.
	templateRetry = 5 * time.Minute
	// templatePause is the least time between two fetches that refused sends
	// ask for.
	templatePause = time.Minute
	// templateTimeout bounds how long all pages of a list may take.
	templateTimeout = 2 * time.Minute
	// templateFetches is how many references are fetched at once.
	templateFetches = 4
)

// Run fetches the copies that are due, until ctx ends. Any node may:
// who moves the time of a copy has it.
func (c *Copies) Run(ctx context.Context) error {
	due := c.store.DB.Due(ctx, "", func(first int, ahead time.Duration) (string, []any) {
		return fmt.Sprintf(`SELECT 1 FROM messaging_template_copy WHERE due_us <= $%d`, first), []any{database.Micros(c.store.Now().Add(ahead))}
	})
	for {
		select {
		case <-due:
		case <-ctx.Done():
			return nil
		}
		if err := c.fetchDue(ctx); err != nil && ctx.Err() == nil {
			c.logger.WarnContext(ctx, "looking for templates to fetch", slog.Any("error", err))
		}
	}
}

func (c *Copies) fetchDue(ctx context.Context) error {
	var due []struct {
		Reference provider.ReferenceID `db:"reference"`
		DueUS     int64                `db:"due_us"`
	}
	err := c.store.DB.SelectContext(ctx, &due, `SELECT reference, due_us FROM messaging_template_copy WHERE due_us <= $1 ORDER BY due_us LIMIT 100`,
		database.Micros(c.store.Now()))
	if err != nil {
		return err
	}
	var g errgroup.Group
	g.SetLimit(templateFetches)
	for _, d := range due {
		g.Go(func() error {
			ours, err := c.claimTemplates(ctx, d.Reference, d.DueUS)
			if err != nil || !ours {
				return err
			}
			if err := c.fetchTemplatesOf(ctx, d.Reference); err != nil && ctx.Err() == nil {
				c.logger.WarnContext(ctx, "fetching templates", slog.Int64("reference", int64(d.Reference)), slog.Any("error", err))
			}
			return nil
		})
	}
	return g.Wait()
}

// claimTemplates moves the time of a copy, and reports whether it was the first.
func (c *Copies) claimTemplates(ctx context.Context, ref provider.ReferenceID, dueUS int64) (ours bool, err error) {
	err = c.store.DB.Write(ctx, func(tx *database.Tx) error {
		res, err := tx.ExecContext(ctx, `UPDATE messaging_template_copy SET due_us = $1 WHERE reference = $2 AND due_us = $3`,
			database.Micros(c.store.Now().Add(templateRetry)), ref, dueUS)
		if err != nil {
			return err
		}
		n, err := res.RowsAffected()
		ours = n == 1
		return err
	})
	return ours, err
}

func (c *Copies) fetchTemplatesOf(ctx context.Context, ref provider.ReferenceID) error {
	row := &store.Reference{}
	err := c.store.DB.GetContext(ctx, row, `SELECT `+store.ReferenceColumns+` FROM messaging_reference WHERE id = $1`, ref)
	if errors.Is(err, sql.ErrNoRows) {
		return nil // deleted meanwhile
	}
	if err != nil {
		return err
	}
	m, err := c.templateManager(ctx, row)
	if err != nil {
		return err
	}
	return c.fetchTemplates(ctx, row, m)
}

// EnsureFetched fetches the copy of a reference that was never fetched.
func (c *Copies) EnsureFetched(ctx context.Context, row *store.Reference, m provider.TemplateManager) error {
	have, err := c.knowsTemplates(ctx, c.store.DB, row)
	if err != nil || have {
		return err
	}
	if err := c.fetchTemplates(ctx, row, m); err != nil {
		return templateRefused(ctx, err)
	}
	return nil
}

// knowsTemplates reports whether all templates of a reference are stored here.
func (c *Copies) knowsTemplates(ctx context.Context, q database.Reader, row *store.Reference) (bool, error) {
	if c.reviewer(row.Kind) != nil {
		return true, nil
	}
	var n int
	err := q.GetContext(ctx, &n, `SELECT count(*) FROM messaging_template_copy WHERE reference = $1 AND fetched_us > 0`, row.ID)
	if err != nil {
		return false, fmt.Errorf("looking for templates: %w", err)
	}
	return n > 0, nil
}

// fetchTemplates asks the network for all templates of a reference and keeps them.
func (c *Copies) fetchTemplates(ctx context.Context, row *store.Reference, m provider.TemplateManager) error {
	ctx, cancel := context.WithTimeout(ctx, templateTimeout)
	defer cancel()
	began := c.store.Now()
	found := map[Key]*Row{}
	for cursor := ""; ; {
		list, next, err := m.Templates(ctx, cursor)
		if err != nil {
			return err
		}
		for _, t := range list {
			r := RowOf(row.ID, t)
			found[r.Key()] = r
		}
		if next == "" || next == cursor {
			break
		}
		cursor = next
	}
	err := c.store.DB.InTx(ctx, func(tx *database.Tx) error {
		u := c.store.Begin(tx)
		fetched, again, err := templatesFetched(ctx, u, row, began)
		if err != nil || !fetched {
			return err // or they are of another account
		}
		return replaceTemplates(ctx, u, row.ID, found, database.Micros(began), again)
	})
	if err != nil {
		return fmt.Errorf("storing templates: %w", err)
	}
	return nil
}

// templatesFetched notes the time of a fetch and locks the reference's copy. A copy
// that became due while it was fetched stays so: it is fetched again. It reports
// fetched as false when the reference was deleted or got other settings meanwhile.
func templatesFetched(ctx context.Context, u *store.Batch, row *store.Reference, began time.Time) (fetched, again bool, err error) {
	now, next := u.Now, database.Micros(u.Now.Add(templateTTL))
	var due []int64
	err = u.Tx.SelectContext(ctx, &due, `INSERT INTO messaging_template_copy (reference, fetched_us, due_us)
		SELECT id, CAST($1 AS BIGINT), CAST($2 AS BIGINT) FROM messaging_reference WHERE id = $3 AND revision = $4
		ON CONFLICT (reference) DO UPDATE SET fetched_us = excluded.fetched_us, due_us = CASE
			WHEN messaging_template_copy.due_us > $5 AND messaging_template_copy.due_us <= $1 THEN messaging_template_copy.due_us
			ELSE excluded.due_us END RETURNING due_us`,
		database.Micros(now), next, row.ID, row.Revision, database.Micros(began))
	if err != nil || len(due) == 0 {
		return false, false, err
	}
	return true, due[0] != next, nil
}

// replaceTemplates makes the copy what was found, except where there was news
// of a template since the fetch began. If it is fetched again, what was found and is
// not in the copy may have been deleted meanwhile: the next fetch tells. The first
// copy of all takes it, because it has nothing else to show.
func replaceTemplates(ctx context.Context, u *store.Batch, ref provider.ReferenceID, found map[Key]*Row, beganUS int64, again bool) error {
	var rows []*Row
	if err := u.Tx.SelectContext(ctx, &rows, `SELECT `+Columns+` FROM messaging_template WHERE reference = $1`, ref); err != nil {
		return err
	}
	var gone []any
	had := map[Key]bool{}
	for _, r := range rows {
		had[r.Key()] = true
		f := found[r.Key()]
		switch {
		case r.UpdatedUS > beganUS:
			delete(found, r.Key())
		case f == nil:
			gone = append(gone, r.Seq)
		default:
			f.Seq, f.ReportedUS, f.UpdatedUS = r.Seq, r.ReportedUS, r.UpdatedUS
			if f.Reason == "" && f.ProviderStatus == r.ProviderStatus {
				f.Reason = r.Reason // which lists do not tell of every status
			}
			if *f == *r {
				delete(found, r.Key())
			}
		}
	}
	var changed []*Row
	for _, f := range found {
		if again && len(rows) > 0 && !had[f.Key()] {
			continue
		}
		f.UpdatedUS = database.Micros(u.Now)
		changed = append(changed, f)
	}
	slices.SortFunc(changed, func(a, b *Row) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Language, b.Language))
	})
	err := u.Store.DB.ExecRows(ctx, u.Tx, database.Rows{
		Before: `DELETE FROM messaging_template WHERE seq IN (`, After: `)`, Types: store.NumberTypes, Values: gone, Set: true,
	})
	if err != nil {
		return err
	}
	return putTemplates(ctx, u, changed...)
}

// putTemplates stores templates as they are now.
func putTemplates(ctx context.Context, u *store.Batch, rows ...*Row) error {
	values := make([][]any, len(rows))
	for i, r := range rows {
		values[i] = []any{
			r.Reference, r.ID, r.Name, r.Language, r.Category, r.Format, r.Components, string(r.Status), r.ProviderStatus, r.Reason, r.Quality,
			r.ReportedUS, r.UpdatedUS,
		}
	}
	err := u.Insert(ctx, `INSERT INTO messaging_template (reference, id, name, language, category, format, components, status, provider_status,
		reason, quality, reported_us, updated_us)`,
		[]string{"BIGINT", "TEXT", "TEXT", "TEXT", "TEXT", "TEXT", "TEXT", "TEXT", "TEXT", "TEXT", "TEXT", "BIGINT", "BIGINT"}, values,
		` ON CONFLICT (reference, name, language) DO UPDATE SET id = excluded.id, category = excluded.category, format = excluded.format,
			components = excluded.components, status = excluded.status, provider_status = excluded.provider_status, reason = excluded.reason,
			quality = excluded.quality, reported_us = excluded.reported_us, updated_us = excluded.updated_us`)
	if err != nil {
		return fmt.Errorf("storing templates: %w", err)
	}
	return nil
}

// FetchAfterStart makes the copy of a reference due whose network has just let
// it in.
func (c *Copies) FetchAfterStart(ctx context.Context, row *store.Reference) error {
	_, err := c.templateManager(ctx, row)
	if _, ok := errors.AsType[*payload.Error](err); ok {
		return nil
	}
	if err != nil {
		return err
	}
	return c.store.DB.InTx(ctx, func(tx *database.Tx) error { return wantTemplates(ctx, c.store.Begin(tx), row.ID) })
}

// Forget drops the copy of a reference that gets another account above it.
func Forget(ctx context.Context, tx *database.Tx, ref provider.ReferenceID, groupKey string) error {
	for _, table := range []string{"messaging_template_copy", "messaging_template"} {
		_, err := tx.ExecContext(ctx, `DELETE FROM `+table+` WHERE reference = $1
			AND EXISTS (SELECT 1 FROM messaging_reference WHERE id = $1 AND group_key <> $2)`, ref, groupKey)
		if err != nil {
			return fmt.Errorf("forgetting templates: %w", err)
		}
	}
	return nil
}

// wantTemplates makes the copy of a reference due, one that does not exist yet
// included.
func wantTemplates(ctx context.Context, u *store.Batch, ref provider.ReferenceID) error {
	_, err := u.Tx.ExecContext(ctx, `INSERT INTO messaging_template_copy (reference, fetched_us, due_us) VALUES ($1, 0, $2)
		ON CONFLICT (reference) DO UPDATE SET due_us = excluded.due_us WHERE messaging_template_copy.due_us > excluded.due_us`,
		ref, database.Micros(u.Now))
	if err != nil {
		return fmt.Errorf("asking for templates: %w", err)
	}
	return nil
}

// templatesDue makes the copies of all references of the account due that have the
// same templates as the reference of row.
func templatesDue(ctx context.Context, u *store.Batch, row *store.Reference) error {
	_, err := u.Tx.ExecContext(ctx, `UPDATE messaging_template_copy SET due_us = $1 WHERE due_us > $1 AND (reference = $2 OR reference IN
		(SELECT o.id FROM messaging_reference o JOIN messaging_reference r ON r.account = o.account AND r.kind = o.kind AND r.group_key = o.group_key
			WHERE r.id = $2 AND r.group_key <> ''))`, database.Micros(u.Now), row.ID)
	if err != nil {
		return fmt.Errorf("asking for templates: %w", err)
	}
	return nil
}

// RefetchUnknown is for a send that the network refused because it has no
// such template: a copy that is older than the message is fetched again, unless
// it is about to be.
func RefetchUnknown(ctx context.Context, u *store.Batch, m *store.Message) error {
	_, err := u.Tx.ExecContext(ctx, `INSERT INTO messaging_template_copy (reference, fetched_us, due_us) VALUES ($1, 0, $2)
		ON CONFLICT (reference) DO UPDATE SET due_us = CASE WHEN messaging_template_copy.fetched_us + CAST($3 AS BIGINT) > excluded.due_us
			THEN messaging_template_copy.fetched_us + CAST($3 AS BIGINT) ELSE excluded.due_us END
		WHERE messaging_template_copy.fetched_us <= $4 AND messaging_template_copy.due_us > $5`,
		m.Reference, database.Micros(u.Now), templatePause.Microseconds(), m.CreatedUS, database.Micros(u.Now.Add(templateRetry)))
	if err != nil {
		return fmt.Errorf("asking for templates: %w", err)
	}
	return nil
}
