package aiflow

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/trunklinehq/trunkline/internal/database"
)

// Publisher is who made a version of a flow the one that runs. What its agents
// do, they do with the rights that the publisher has then.
type Publisher struct {
	User string // id of the user; "": there is none, and there are no rights
	// Permissions limit these rights, as the scoped token does with which the user
	// published. nil: they are not cut down.
	Permissions []string
}

// setPublisherTx says who made a version the one that runs.
func setPublisherTx(ctx context.Context, tx *database.Tx, flow string, version int64, by Publisher) error {
	var permissions sql.NullString
	if by.Permissions != nil {
		raw, err := json.Marshal(by.Permissions)
		if err != nil {
			return fmt.Errorf("writing the rights of a publisher: %w", err)
		}
		permissions = sql.NullString{String: string(raw), Valid: true}
	}
	_, err := tx.ExecContext(ctx, `UPDATE aiflow_version SET publisher = $1, permissions = $2 WHERE flow = $3 AND version = $4`,
		by.User, permissions, flow, version)
	return err
}

// Publisher says who made a version of a flow the one that runs. Without such a
// version it is [ErrNotFound].
func (a Versions) Publisher(ctx context.Context, flow string, version int64) (Publisher, error) {
	if !isID(flow) {
		return Publisher{}, ErrNotFound
	}
	var row struct {
		Publisher   string
		Permissions sql.NullString
	}
	err := a.s.db.GetContext(ctx, &row, `SELECT v.publisher, v.permissions FROM aiflow_version v
		JOIN aiflow_flow f ON f.id = v.flow WHERE v.flow = $1 AND v.version = $2 AND f.account = $3 AND NOT f.removed`, flow, version, a.id)
	if errors.Is(err, sql.ErrNoRows) {
		return Publisher{}, ErrNotFound
	}
	if err != nil {
		return Publisher{}, fmt.Errorf("reading who published a flow: %w", err)
	}
	by := Publisher{User: row.Publisher}
	if row.Permissions.Valid {
		if err := json.Unmarshal([]byte(row.Permissions.String), &by.Permissions); err != nil {
			return Publisher{}, fmt.Errorf("reading the rights of a publisher: %w", err)
		}
	}
	return by, nil
}
