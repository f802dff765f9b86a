package botengine

import (
	"context"
	"encoding/json"

	"github.com/trunklinehq/trunkline/aiflow/flow/versions"
	"github.com/trunklinehq/trunkline/internal/database"
)

const columns = `number, id, account, reference, name, draft, slug, active, version, versions, revision, created_us, updated_us`

// row is a bot as it is stored.
type row struct {
	versions.Row
	Reference int64
	Active    bool
}

func (r *row) insertTx(ctx context.Context, tx *database.Tx) error {
	return tx.GetContext(ctx, &r.Number, `INSERT INTO botengine_bot (id, account, reference, name, draft, slug, active, version, versions, revision, created_us, updated_us)
		VALUES ($1, $2, $3, $4, $5, '', $6, 0, 0, $7, $8, $9) RETURNING number`,
		r.ID, r.Account, r.Reference, r.Name, r.Draft, r.Active, r.Revision, r.Created, r.Updated)
}

// view is a bot with what is wrong with its draft.
func (s *Service) view(r row) Bot {
	b := Bot{
		ID: r.ID, Reference: r.Reference, Name: r.Name, Flow: json.RawMessage(r.Draft), Status: StatusDraft, Active: r.Active, Version: r.Version,
		Revision:  r.Revision,
		CreatedAt: database.Time(r.Created), UpdatedAt: database.Time(r.Updated),
	}
	if r.Version > 0 {
		b.Status = StatusPublished
	}
	b.Trigger = triggerOf(b.Flow)
	_, b.Problems = s.compile(b.Flow)
	return b
}

// row reads a bot of the account. lock ends the statement.
func (a scope) row(ctx context.Context, q database.Reader, id, lock string) (row, error) {
	return versions.Find[row](ctx, a.s.store, q, columns, a.id, id, lock)
}
