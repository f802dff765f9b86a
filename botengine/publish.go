package botengine

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/internal/audit"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/page"
)

// Version is what a bot was when it was published. It never changes.
type Version struct {
	Version   int64
	Document  json.RawMessage
	CreatedAt time.Time
}

// Validate says what is wrong with a bot's draft.
func (a *Account) Validate(ctx context.Context, id string) ([]flow.Problem, error) {
	r, err := a.row(ctx, a.s.db, id, "")
	if err != nil {
		return nil, err
	}
	_, problems := a.s.compile(json.RawMessage(r.Draft))
	return problems, nil
}

// Publish freezes the draft as a numbered version, which answers from now on.
// Conversations that are under way go on with the version that they began
// with. A draft with errors is a [*Refused]; one that is published already is
// not published again.
func (a *Account) Publish(ctx context.Context, id string) (Bot, error) {
	var r row
	err := a.s.db.InTx(ctx, func(tx *sqlx.Tx) (err error) {
		if r, err = a.row(ctx, tx, id, a.s.db.Dialect.ForUpdate()); err != nil {
			return err
		}
		doc, _ := flow.Decode([]byte(r.Draft))
		if program, problems := a.s.compile([]byte(r.Draft)); program == nil || doc == nil {
			return &Refused{problems}
		}
		if err := a.publishTx(ctx, tx, &r, doc); err != nil {
			return err
		}
		return recordTx(ctx, tx, audit.BotPublish, r, map[string]any{"version": r.Version})
	})
	if database.IsUnique(err) {
		err = &Refused{[]flow.Problem{{
			Severity: flow.SeverityError, Code: "slug.taken", Path: "/slug", Message: "is that of another published bot of the reference",
		}}}
	}
	if err != nil {
		return Bot{}, fmt.Errorf("publishing a bot: %w", err)
	}
	return a.s.view(r), nil
}

// publishTx stores the draft of r as its newest version, unless it is that.
func (a *Account) publishTx(ctx context.Context, tx *sqlx.Tx, r *row, doc *flow.Document) error {
	var same bool
	if err := tx.GetContext(ctx, &same, `SELECT EXISTS (SELECT 1 FROM botengine_version WHERE bot = $1 AND version = $2 AND hash = $3)`,
		r.ID, r.Version, doc.Hash()); err != nil || same {
		return err
	}
	r.Versions++
	r.Version, r.Slug, r.Updated = r.Versions, doc.Slug, database.Micros(a.s.opts.Now())
	if _, err := tx.ExecContext(ctx, `INSERT INTO botengine_version (bot, version, document, hash, created_us) VALUES ($1, $2, $3, $4, $5)`,
		r.ID, r.Version, r.Draft, doc.Hash(), r.Updated); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `UPDATE botengine_bot SET version = $1, versions = $2, slug = $3, updated_us = $4 WHERE id = $5`,
		r.Version, r.Versions, r.Slug, r.Updated, r.ID); err != nil {
		return err
	}
	return a.scheduleTx(ctx, tx, *r)
}

// scheduleTx has runs of a bot begin when its published trigger says so, while
// it is switched on.
func (a *Account) scheduleTx(ctx context.Context, tx *sqlx.Tx, r row) error {
	s := runtime.Scheduled{Engine: a.s.Name(), Owner: r.ID, Version: r.Version, References: []int64{r.Reference}}
	if r.Version > 0 && r.Active {
		var document string
		if err := tx.GetContext(ctx, &document, `SELECT document FROM botengine_version WHERE bot = $1 AND version = $2`, r.ID, r.Version); err != nil {
			return fmt.Errorf("reading a bot's flow: %w", err)
		}
		s.Times = a.s.runs.Types().Schedules([]byte(document))
	}
	return a.s.runs.For(a.id).ScheduleTx(ctx, tx, s)
}

type versionRow struct {
	Version  int64
	Document string
	Created  int64 `db:"created_us"`
}

// Versions lists what was published of a bot, the oldest first.
func (a *Account) Versions(ctx context.Context, id string, l List) (Page[Version], error) {
	last, size, err := l.bounds()
	if err != nil {
		return Page[Version]{}, err
	}
	if _, err := a.row(ctx, a.s.db, id, ""); err != nil {
		return Page[Version]{}, err
	}
	const which = ` FROM botengine_version WHERE bot = $1 AND version > $2 ORDER BY version LIMIT $3`
	rows, size, err := page.Read[versionRow](ctx, a.s.db, `version, document, created_us`, `OCTET_LENGTH(document)`, which, size, id, last)
	if err != nil {
		return Page[Version]{}, fmt.Errorf("listing versions: %w", err)
	}
	versions, next := page.Cut(rows, size, func(r versionRow) int64 { return r.Version }, func(r versionRow) Version {
		return Version{r.Version, json.RawMessage(r.Document), database.Time(r.Created)}
	})
	return Page[Version]{versions, next}, nil
}
