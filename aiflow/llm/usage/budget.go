package usage

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/database"
)

// Scope says whose calls a budget is for.
type Scope string

// Whose calls a budget is for.
const (
	ScopeAccount Scope = "account"
	ScopeProject Scope = "project"
	ScopeFlow    Scope = "flow"
	ScopeChat    Scope = "chat"
)

// Period says when a budget begins again.
type Period string

// When a budget begins again: at midnight, on the first of the month, never.
const (
	PeriodDay   Period = "day"
	PeriodMonth Period = "month"
	PeriodTotal Period = "total"
)

// Budget bounds what calls may take in a period. A call must fit all budgets
// that are for it.
type Budget struct {
	Scope Scope
	// ID is the project, the flow or the chat; "": each of them has so much for
	// itself. Reference is the reference of the chat in ID, else 0.
	ID        string
	Reference int64
	Period    Period
	Timezone  string // IANA name, whose midnight counts; "": UTC
	// Cost is the most in nano-USD, Tokens the most of input and output
	// together. nil: no bound; at least one is set. A call whose price is not
	// known counts only against Tokens.
	Cost, Tokens *int64
	// RefuseUnpriced stops calls of models whose price is not known.
	RefuseUnpriced bool
}

// maxBudgets is the most budgets of an account.
const maxBudgets = 200

// CodeExceeded is the code of an [Exceeded].
const CodeExceeded = "budget.exceeded"

// Exceeded says that a call has not been made, because a budget has no room for
// the most that it can take.
type Exceeded struct {
	Budget Budget
	// Reason is "cost" or "tokens", or "unpriced" for a model whose price is not
	// known.
	Reason string
	Until  time.Time // when the budget begins again; zero: never
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

// window is when a budget counts, and what for.
type window struct {
	Scope     Scope
	Reference int64
	ID        string
	Starts    int64
	Ends      int64
}

// window is the one of a call at an instant; ok is false when the budget is not
// for the call.
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

// span is the period around an instant.
func (r *budgetRow) span(at time.Time) (starts, ends int64) {
	zone, err := time.LoadLocation(r.Timezone)
	if err != nil { // it was there when the budget was set
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

// roomTx says whether the budgets have room for a call.
func (l *Ledger) roomTx(ctx context.Context, tx *sqlx.Tx, e *Entry, priced bool) error {
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

// full says that there is no room for more. It is not known what a call takes that
// reserves nothing: it needs some.
func (e *Entry) full(used, more, limit int64) bool {
	if e.reserved.Tokens == 0 {
		return used >= limit
	}
	return more > 0 && used+more > limit
}

// spentTx is what has been counted in a window. The lock of the account is
// held.
func spentTx(ctx context.Context, tx *sqlx.Tx, account string, w window) (amount, error) {
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

// countTx adds to the windows that a call lies in. The lock of the account is
// held.
func countTx(ctx context.Context, tx *sqlx.Tx, e *Entry, more amount) error {
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

// forgetSpent forgets windows that have been over for a day: calls may still
// end.
func (l *Ledger) forgetSpent(ctx context.Context) error {
	before := database.Micros(l.opts.Now().Add(-24 * time.Hour))
	return l.db.InSteps(ctx, `DELETE FROM usage_spent WHERE (account, scope, reference, scope_id, starts_us, ends_us) IN
		(SELECT account, scope, reference, scope_id, starts_us, ends_us FROM usage_spent WHERE ends_us < $1 LIMIT $2)`, before, chunk)
}

// chunk is how many rows a transaction works on.
const chunk = 500
