package mcp

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/text"
)

// auditTimeout bounds how long a call waits for its audit row.
const auditTimeout = 10 * time.Second

// auditRow is a row of mcp_audit.
type auditRow struct {
	ID        int64
	At        int64 `db:"at_us"`
	Account   string
	Caller    string
	Token     string
	Function  string
	Arguments string
	DryRun    bool `db:"dry_run"`
	Outcome   string
	Duration  int64 `db:"duration_us"`
}

const auditColumns = `at_us, account, caller, token, function, arguments, dry_run, outcome, duration_us`

var auditTypes = []string{"BIGINT", "TEXT", "TEXT", "TEXT", "TEXT", "TEXT", "BOOLEAN", "TEXT", "BIGINT"}

// audit records the call before its answer is sent, also when the caller has gone.
// If that fails, the call is not undone: the program's log has the error.
func (x *execution) audit(ctx context.Context, out *Outcome, duration time.Duration) {
	if x.r.opts.NoAudit {
		return
	}
	row := &auditRow{
		At: database.Micros(x.r.opts.Now()), Account: x.caller.Account, Caller: x.caller.User, Token: x.caller.Token,
		Function: x.name, Arguments: x.masked(), DryRun: x.req.DryRun,
		Outcome: shown(text.Sanitize(out.code())), Duration: duration.Microseconds(),
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), auditTimeout)
	defer cancel()
	if err := x.r.log.Do(ctx, row); err != nil {
		x.r.opts.Logger.ErrorContext(ctx, "a function call is not in the audit log", slog.String("account", row.Account),
			slog.String("user", row.Caller), slog.String("function", row.Function), slog.String("outcome", row.Outcome), slog.Any("error", err))
	}
}

// storeAudit stores the rows of calls that ended at the same time.
func (r *Registry) storeAudit(ctx context.Context, rows []*auditRow) []error {
	ctx, cancel := context.WithTimeout(ctx, auditTimeout)
	defer cancel()
	values := make([]any, 0, len(auditTypes)*len(rows))
	for _, a := range rows {
		values = append(values, a.At, a.Account, a.Caller, a.Token, a.Function, a.Arguments, a.DryRun, a.Outcome, a.Duration)
	}
	err := r.db.Write(ctx, func(tx *database.Tx) error {
		return r.db.Insert(ctx, tx, `INSERT INTO mcp_audit (`+auditColumns+`)`, auditTypes, values)
	})
	if err != nil {
		err = fmt.Errorf("storing calls: %w", err)
	}
	return slices.Repeat([]error{err}, len(rows))
}
