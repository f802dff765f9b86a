package versions

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/trunklinehq/trunkline/internal/apierr"

	"github.com/google/uuid"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/simulate"
	"github.com/trunklinehq/trunkline/internal/database"
)

// Tests are the tests that are stored with the flows of an account, and what
// they are played with.
type Tests struct {
	s       *Store
	account string
}

// Tests returns the tests of the flows of an account.
func (s *Store) Tests(account string) Tests { return Tests{s, account} }

// Program returns a version of a flow, or its draft for version 0, ready to be
// simulated. If it has errors, the error is Options.Refused.
func (t Tests) Program(ctx context.Context, id string, version int64) (*flow.Document, *flow.Program, error) {
	src, err := t.s.opts.Source(ctx, t.account, id, version)
	if err != nil {
		return nil, nil, err
	}
	program, problems := t.s.opts.Runs.Types().Compile(src.Document, t.s.opts.Environment(src))
	if program == nil {
		return nil, nil, t.s.opts.Refused(problems)
	}
	return src.Document, program, nil
}

// Get returns the tests of a flow as they were given, or Options.NotFound.
func (t Tests) Get(ctx context.Context, id string) (json.RawMessage, error) {
	if uuid.Validate(id) != nil {
		return nil, t.s.opts.NotFound
	}
	var tests string
	err := t.s.db.GetContext(ctx, &tests, `SELECT tests FROM `+t.s.opts.Flows+` WHERE id = $1 AND account = $2 AND NOT removed`, id, t.account)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, t.s.opts.NotFound
	}
	if err != nil {
		return nil, fmt.Errorf("reading the tests of a %s: %w", t.s.opts.Noun, err)
	}
	return json.RawMessage(tests), nil
}

// Set stores the tests of a flow in place of those that it had. Tests that
// cannot be played are [*apierr.Invalid]; see [simulate.ParseTests].
func (t Tests) Set(ctx context.Context, id string, tests json.RawMessage) error {
	_, err := simulate.ParseTests(tests)
	if bad, ok := errors.AsType[*simulate.Invalid](err); ok {
		return &apierr.Invalid{Field: "tests" + bad.Path, Message: bad.Message}
	}
	if err != nil {
		return err
	}
	err = t.s.db.InTx(ctx, func(tx *database.Tx) error {
		if err := t.s.opts.TestsTx(ctx, tx, t.account, id); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `UPDATE `+t.s.opts.Flows+` SET tests = $1 WHERE id = $2`, string(tests), id)
		return err
	})
	if err != nil {
		return fmt.Errorf("storing the tests of a %s: %w", t.s.opts.Noun, err)
	}
	return nil
}
