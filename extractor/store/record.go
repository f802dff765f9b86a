package store

import (
	"context"

	"github.com/trunklinehq/trunkline/internal/audit"
	"github.com/trunklinehq/trunkline/internal/database"
)

// recordTx records an action on an extractor in the audit log. details may be nil.
func recordTx(ctx context.Context, tx *database.Tx, action audit.Action, r row, details map[string]any) error {
	return audit.RecordTx(ctx, tx, audit.Entry{Action: action, ObjectID: r.ID, ObjectName: r.Name, Reference: r.Reference, Details: details})
}

// changed returns the names of the fields that a change sets.
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
