package usage

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"time"

	"github.com/trunklinehq/trunkline/internal/database"
)

// Scope is the set of calls that a budget covers.
type Scope string

// The scopes of budgets.
const (
	ScopeAccount Scope = "account"
	ScopeProject Scope = "project"
	ScopeFlow    Scope = "flow"
	ScopeChat    Scope = "chat"
)

// Period is the period after which a budget starts again.
type Period string

// The periods of budgets: they start again at midnight, on the first of the month,
// or never.
const (
	PeriodDay   Period = "day"
	PeriodMonth Period = "month"
	PeriodTotal Period = "total"
)

// Budget limits the cost of calls in a period. A call must be within all budgets
// that cover it.
type Budget struct {
	Scope Scope
	// ID is the project, the flow or the chat; "": the limit applies to each of
	// them. Reference is the reference of the chat in ID, else 0.
	ID        string
	Reference int64
	Period    Period
	Timezone  string // IANA name; its midnight starts a period; "": UTC
	// Cost is the limit in nano-USD, Tokens that of input and output together. nil:
	// no limit; at least one must be set. A call whose price is unknown counts only
	// against Tokens.
	Cost, Tokens *int64
	// RefuseUnpriced refuses calls of models whose price is unknown.
	RefuseUnpriced bool
}

// maxBudgets is the maximum number of budgets of an account.
const maxBudgets = 200

// CodeExceeded is the code of an [Exceeded].
const CodeExceeded = "budget.exceeded"

// Exceeded is the error of a call that was not made, because its maximum cost would
// exceed a budget.
type Exceeded struct {
	Budget Budget
	// Reason is "cost" or "tokens", or "unpriced" for a model whose price is
	// unknown.
	Reason string
	Until  time.Time // when the budget starts again; zero: never
}

func (e *Exceeded) Error() string {
	if e.Reason == "unpriced" {
		return fmt.Sprintf("%s: the budget of the %s allows no model whose price is not known", CodeExceeded, e.Budget.Scope)
	}
	return fmt.Sprintf("%s: the budget of the %s for %s is used up", CodeExceeded, e.Budget.Scope, e.Reason)
}

// budgetRow is a row of usage_budget.
type budgetRow struct {
	Seq            int64
	Account        string
	Scope          Scope
	Reference      int64
	ScopeID        string `db:"scope_id"`
	Period         Period
	Timezone       string
	Cost, Tokens   sql.NullInt64
	RefuseUnpriced bool `db:"refuse_unpriced"`
}

const budgetColumns = `seq, account, scope, reference, scope_id, period, timezone, cost, tokens, refuse_unpriced`

func (r *budgetRow) budget() Budget {
	b := Budget{Scope: r.Scope, ID: r.ScopeID, Reference: r.Reference, Period: r.Period, Timezone: r.Timezone, RefuseUnpriced: r.RefuseUnpriced}
	if r.Cost.Valid {
		b.Cost = &r.Cost.Int64
	}
	if r.Tokens.Valid {
		b.Tokens = &r.Tokens.Int64
	}
	return b
}

// window is the period of a budget, and what it counts.
type window struct {
	Scope     Scope
	Reference int64
	ID        string
	Starts    int64
	Ends      int64
}

// window returns the window of a call at an instant; ok is false if the budget does
// not cover the call.
func (r *budgetRow) window(c *Call, at time.Time) (w window, ok bool) {
	w = window{Scope: r.Scope}
	switch r.Scope {
	case ScopeProject:
		w.ID = c.Project
	case ScopeFlow:
		w.ID = c.Flow
	case ScopeChat:
		w.ID, w.Reference = c.ChatID, c.Reference
	}
	if r.Scope != ScopeAccount && (w.ID == "" || r.ScopeID != "" && (r.ScopeID != w.ID || r.Reference != w.Reference)) {
		return w, false
	}
	w.Starts, w.Ends = r.span(at)
	return w, true
}

// span returns the bounds of the period around an instant.
func (r *budgetRow) span(at time.Time) (starts, ends int64) {
	zone, err := time.LoadLocation(r.Timezone)
	if err != nil { // SetBudgets has validated it
		zone = time.UTC
	}
	at = at.In(zone)
	y, m, d := at.Date()
	switch r.Period {
	case PeriodDay:
		return midnight(y, m, d, zone).UnixMicro(), midnight(y, m, d+1, zone).UnixMicro()
	case PeriodMonth:
		return midnight(y, m, 1, zone).UnixMicro(), midnight(y, m+1, 1, zone).UnixMicro()
	}
	return 0, math.MaxInt64
}

// roomTx returns an error if a call would exceed a budget.
func (l *Ledger) roomTx(ctx context.Context, tx *database.Tx, e *Entry, priced bool) error {
	var rows []budgetRow
	if err := tx.SelectContext(ctx, &rows, `SELECT `+budgetColumns+` FROM usage_budget WHERE account = $1 ORDER BY seq`, e.call.Account); err != nil {
		return err
	}
	for i := range rows {
		r := &rows[i]
		w, ok := r.window(&e.call, e.began)
		if !ok {
			continue
		}
		over := &Exceeded{Budget: r.budget()}
		if w.Ends != math.MaxInt64 {
			over.Until = database.Time(w.Ends)
		}
		if r.RefuseUnpriced && !priced {
			over.Reason = "unpriced"
			return over
		}
		used, err := spentTx(ctx, tx, e.call.Account, w)
		if err != nil {
			return err
		}
		switch {
		case r.Tokens.Valid && e.full(used.Tokens, e.reserved.Tokens, r.Tokens.Int64):
			over.Reason = "tokens"
		case r.Cost.Valid && priced && e.full(used.Cost, e.reserved.Cost, r.Cost.Int64):
			over.Reason = "cost"
		default:
			continue
		}
		return over
	}
	return nil
}

// full reports whether the limit is reached. A call that reserves nothing still
// needs some room, since its cost is unknown.
func (e *Entry) full(used, more, limit int64) bool {
	if e.reserved.Tokens == 0 {
		return used >= limit
	}
	return more > 0 && used+more > limit
}

// spentTx returns the amount counted in a window. The account must be locked.
func spentTx(ctx context.Context, tx *database.Tx, account string, w window) (amount, error) {
	const insert = `INSERT INTO usage_spent (account, scope, reference, scope_id, starts_us, ends_us, cost, tokens)
		SELECT $1, $2, $3, $4, $5, $6, CAST(COALESCE(SUM(held_cost), 0) AS BIGINT), CAST(COALESCE(SUM(held_tokens), 0) AS BIGINT)
		FROM usage_call WHERE account = $1 AND at_us >= $5 AND at_us < $6`
	const read = `SELECT tokens, cost FROM usage_spent WHERE account = $1 AND scope = $2 AND reference = $3 AND scope_id = $4 AND starts_us = $5 AND ends_us = $6`
	args := []any{account, w.Scope, w.Reference, w.ID, w.Starts, w.Ends}
	var used []amount
	if err := tx.SelectContext(ctx, &used, read, args...); err != nil || len(used) == 1 {
		return first(used), err
	}
	of := map[Scope]string{
		ScopeAccount: ``, ScopeProject: ` AND project = $4`, ScopeFlow: ` AND flow = $4`, ScopeChat: ` AND reference = $3 AND chat_id = $4`,
	}
	if _, err := tx.ExecContext(ctx, insert+of[w.Scope], args...); err != nil {
		return amount{}, err
	}
	err := tx.SelectContext(ctx, &used, read, args...)
	return first(used), err
}

func first(a []amount) amount {
	if len(a) == 0 {
		return amount{}
	}
	return a[0]
}

// countTx adds an amount to the windows of a call. The account must be locked.
func countTx(ctx context.Context, tx *database.Tx, e *Entry, more amount) error {
	if more == (amount{}) {
		return nil
	}
	c := &e.call
	_, err := tx.ExecContext(ctx, `UPDATE usage_spent SET tokens = tokens + $1, cost = cost + $2 WHERE account = $3
		AND starts_us <= $4 AND ends_us > $4 AND (scope = 'account' OR scope = 'project' AND scope_id = $5 OR scope = 'flow' AND scope_id = $6
		OR scope = 'chat' AND reference = $7 AND scope_id = $8)`,
		more.Tokens, more.Cost, c.Account, database.Micros(e.began), c.Project, c.Flow, c.Reference, c.ChatID)
	return err
}

// forgetSpent deletes windows that ended more than a day ago. Until then calls in
// them may still end.
func (l *Ledger) forgetSpent(ctx context.Context) error {
	before := database.Micros(l.opts.Now().Add(-24 * time.Hour))
	return l.db.InSteps(ctx, `DELETE FROM usage_spent WHERE (account, scope, reference, scope_id, starts_us, ends_us) IN
		(SELECT account, scope, reference, scope_id, starts_us, ends_us FROM usage_spent WHERE ends_us < $1 LIMIT $2)`, before, chunk)
}

// chunk is the number of rows that a transaction changes.
const chunk = 500
