package botengine

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/internal/audit"
)

// Program is a version of a bot, or its draft for version 0, made ready to be
// simulated. One with errors is a [*Refused].
func (a *Account) Program(ctx context.Context, id string, version int64) (*flow.Document, *flow.Program, error) {
	src, err := a.s.Source(ctx, a.id, id, version)
	if err != nil {
		return nil, nil, err
	}
	return a.s.store.Program(src, &flow.Environment{Engine: flow.EngineBot})
}

// Tests are those that are kept beside a bot, as they were given.
func (a *Account) Tests(ctx context.Context, id string) (json.RawMessage, error) {
	if _, err := a.row(ctx, a.s.db, id, ""); err != nil {
		return nil, err
	}
	return a.s.store.Tests(ctx, id)
}

// SetTests keeps tests beside a bot, in place of those that were there. An
// [*Invalid] names what cannot be played; see [simulate.ParseTests].
func (a *Account) SetTests(ctx context.Context, id string, tests json.RawMessage) error {
	if err := a.s.store.CheckTests(tests); err != nil {
		return err
	}
	err := a.s.db.InTx(ctx, func(tx *sqlx.Tx) error {
		r, err := a.row(ctx, tx, id, a.s.db.Dialect.ForUpdate())
		if err != nil {
			return err
		}
		if err := a.s.store.SetTestsTx(ctx, tx, id, tests); err != nil {
			return err
		}
		return recordTx(ctx, tx, audit.BotTests, r, nil)
	})
	if err != nil {
		return fmt.Errorf("storing the tests of a bot: %w", err)
	}
	return nil
}
