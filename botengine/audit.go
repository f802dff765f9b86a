package botengine

import (
	"context"

	"github.com/trunklinehq/trunkline/internal/audit"
	"github.com/trunklinehq/trunkline/internal/database"
)

// recordTx records what was done to a bot; details may be nil.
func recordTx(ctx context.Context, tx *database.Tx, action audit.Action, r row, details map[string]any) error {
	return audit.RecordTx(ctx, tx, audit.Entry{Action: action, ObjectID: r.ID, ObjectName: r.Name, Reference: r.Reference, Details: details})
}

// testsTx locks the bot whose tests are being stored, and records that they are.
func (s *Service) testsTx(ctx context.Context, tx *database.Tx, account, id string) error {
	r, err := s.For(account).row(ctx, tx, id, s.db.Dialect.ForUpdate())
	if err != nil {
		return err
	}
	return recordTx(ctx, tx, audit.BotTests, r, nil)
}

// changed returns the names of the members that a change sets.
func (c BotChange) changed() []string {
	var names []string
	for _, m := range []struct {
		name string
		is   bool
	}{
		{"name", c.Name != nil},
		{"flow", c.Flow != nil},
		{"active", c.Active != nil},
		{"trigger", c.Trigger != nil},
		{"keywords", c.Keywords != nil},
	} {
		if m.is {
			names = append(names, m.name)
		}
	}
	return names
}
