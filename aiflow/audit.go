package aiflow

import (
	"context"

	"github.com/trunklinehq/trunkline/internal/audit"
	"github.com/trunklinehq/trunkline/internal/database"
)

// recordProjectTx records what was done to a project; details may be nil.
func recordProjectTx(ctx context.Context, tx *database.Tx, action audit.Action, r projectRow, details map[string]any) error {
	return audit.RecordTx(ctx, tx, audit.Entry{Action: action, ObjectID: r.ID, ObjectName: r.Name, Details: details})
}

// recordFlowTx records what was done to a flow; details may be nil.
func recordFlowTx(ctx context.Context, tx *database.Tx, action audit.Action, r flowRow, details map[string]any) error {
	return audit.RecordTx(ctx, tx, audit.Entry{Action: action, ObjectID: r.ID, ObjectName: r.Name, Details: details})
}

// testsTx locks the flow whose tests are being stored, and records that they are.
func (s *Service) testsTx(ctx context.Context, tx *database.Tx, account, id string) error {
	r, err := s.For(account).flow(ctx, tx, id, s.db.Dialect.ForUpdate())
	if err != nil {
		return err
	}
	return recordFlowTx(ctx, tx, audit.FlowTests, r, nil)
}

// recordBindingTx records how a flow listens on a reference.
func recordBindingTx(ctx context.Context, tx *database.Tx, r flowRow, b Binding) error {
	return audit.RecordTx(ctx, tx, audit.Entry{
		Action: audit.FlowBind, ObjectID: r.ID, ObjectName: r.Name, Reference: b.Reference, Details: map[string]any{"enabled": b.Enabled},
	})
}

// changed returns the names of the members that a change sets.
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

// changed returns the names of the members that a change sets.
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
