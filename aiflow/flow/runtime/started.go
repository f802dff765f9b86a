package runtime

import (
	"context"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/database"
)

// Started counts the runs of an account that have begun since a moment and are
// still kept, those that other runs began apart.
func (r *Runtime) Started(ctx context.Context, q sqlx.QueryerContext, account string, since time.Time) (n int64, err error) {
	err = sqlx.GetContext(ctx, q, &n, `SELECT count(*) FROM flow_run WHERE account = $1 AND started_us >= $2 AND parent = ''`, account, database.Micros(since))
	if err != nil {
		return 0, fmt.Errorf("counting runs: %w", err)
	}
	return n, nil
}
