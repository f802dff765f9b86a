package aiflow

import (
	"context"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/audit"
)

// recordProjectTx records what was done to a project; details may be nil.
func recordProjectTx(ctx context.Context, tx *sqlx.Tx, action audit.Action, r projectRow, details map[string]any) error {
	return audit.RecordTx(ctx, tx, audit.Entry{Action: action, ObjectID: r.ID, ObjectName: r.Name, Details: details})
}

// recordFlowTx records what was done to a flow; details may be nil.
func recordFlowTx(ctx context.Context, tx *sqlx.Tx, action audit.Action, r flowRow, details map[string]any) error {
	return audit.RecordTx(ctx, tx, audit.Entry{Action: action, ObjectID: r.ID, ObjectName: r.Name, Details: details})
}

// recordBindingTx records how a flow listens on a reference.
func recordBindingTx(ctx context.Context, tx *sqlx.Tx, r flowRow, b Binding) error {
	return audit.RecordTx(ctx, tx, audit.Entry{
		Action: audit.FlowBind, ObjectID: r.ID, ObjectName: r.Name, Reference: b.Reference, Details: map[string]any{"enabled": b.Enabled},
	})
}

// changed are the names of what a change has.
func (c ProjectChange) changed() []string {
	var names []string
	if c.Name != nil {
		names = append(names, "name")
	}
	if c.Description != nil {
		names = append(names, "description")
	}
	return names
}

// changed are the names of what a change has.
func (c FlowChange) changed() []string {
	var names []string
	if c.Name != nil {
		names = append(names, "name")
	}
	if c.Draft != nil {
		names = append(names, "draft")
	}
	return names
}
