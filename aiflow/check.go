package aiflow

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/trunklinehq/trunkline/aiflow/flow"
)

// Check says what would be wrong with a draft if it were that of a flow.
// Nothing is stored.
func (a *Account) Check(ctx context.Context, id string, draft json.RawMessage) ([]flow.Problem, error) {
	r, err := a.flow(ctx, a.s.db, id, "")
	if err != nil {
		return nil, fmt.Errorf("looking for a flow: %w", err)
	}
	env, err := a.surroundings(ctx, a.s.db, r.Project)
	if err != nil {
		return nil, err
	}
	_, _, problems := a.s.compile(draft, env)
	return problems, nil
}
