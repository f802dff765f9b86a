package versions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/aiflow/flow/simulate"
)

// Tests are those that are kept beside a flow, as they were given. The caller
// has made sure that the flow belongs to its account.
func (s *Store) Tests(ctx context.Context, id string) (json.RawMessage, error) {
	var tests string
	if err := s.db.GetContext(ctx, &tests, `SELECT tests FROM `+s.opts.Flows+` WHERE id = $1`, id); err != nil {
		return nil, fmt.Errorf("reading the tests of a %s: %w", s.opts.Noun, err)
	}
	return json.RawMessage(tests), nil
}

// CheckTests refuses tests that cannot be played, as Options.Invalid; see
// [simulate.ParseTests].
func (s *Store) CheckTests(tests json.RawMessage) error {
	_, err := simulate.ParseTests(tests)
	var bad *simulate.Invalid
	if errors.As(err, &bad) {
		return s.opts.Invalid("tests"+bad.Path, bad.Message)
	}
	return err
}

// SetTestsTx keeps tests beside a flow, in place of those that were there.
func (s *Store) SetTestsTx(ctx context.Context, tx *sqlx.Tx, id string, tests json.RawMessage) error {
	_, err := tx.ExecContext(ctx, `UPDATE `+s.opts.Flows+` SET tests = $1 WHERE id = $2`, string(tests), id)
	return err
}
