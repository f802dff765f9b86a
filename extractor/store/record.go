package store

import (
	"context"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/audit"
)

// recordTx records what was done to an extractor; details may be nil.
func recordTx(ctx context.Context, tx *sqlx.Tx, action audit.Action, r row, details map[string]any) error {
	return audit.RecordTx(ctx, tx, audit.Entry{Action: action, ObjectID: r.ID, ObjectName: r.Name, Reference: r.Reference, Details: details})
}

// changed are the names of what a change has.
func (c Change) changed() []string {
	var names []string
	for _, m := range []struct {
		name string
		is   bool
	}{
		{"name", c.Name != nil},
		{"scope", c.Scope != nil},
		{"config", c.Config != nil},
		{"enabled", c.Enabled != nil},
	} {
		if m.is {
			names = append(names, m.name)
		}
	}
	return names
}
