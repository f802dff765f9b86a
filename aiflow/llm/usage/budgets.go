package usage

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"math"
	"time"

	"github.com/trunklinehq/trunkline/internal/audit"
	"github.com/trunklinehq/trunkline/internal/database"
)

// BudgetState is a budget with the amount spent.
type BudgetState struct {
	Budget
	// Spent and SpentTokens are the amounts in the current period, in nano-USD and
	// tokens, including the reservations of calls in progress. Both are nil for a
	// budget without an ID, which has many amounts.
	Spent, SpentTokens *int64
	Until              time.Time // when it starts again; zero: never
}

// Budgets returns the budgets of the account, in the order in which they were set.
func (a *Account) Budgets(ctx context.Context) ([]BudgetState, error) {
	var out []BudgetState
	err := a.l.db.Write(ctx, func(tx *database.Tx) (err error) {
		out, err = a.budgetsTx(context.WithoutCancel(ctx), tx)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("reading budgets: %w", err)
	}
	return out, nil
}

func (a *Account) budgetsTx(ctx context.Context, tx *database.Tx) ([]BudgetState, error) {
	if _, err := lock(ctx, tx, a.id); err != nil {
		return nil, err
	}
	var rows []budgetRow
	if err := tx.SelectContext(ctx, &rows, `SELECT `+budgetColumns+` FROM usage_budget WHERE account = $1 ORDER BY seq`, a.id); err != nil {
		return nil, err
	}
	now := a.l.opts.Now()
	out := make([]BudgetState, len(rows))
	for i := range rows {
		r := &rows[i]
		out[i] = BudgetState{Budget: r.budget()}
		starts, ends := r.span(now)
		if ends != math.MaxInt64 {
			out[i].Until = database.Time(ends)
		}
		if r.Scope != ScopeAccount && r.ScopeID == "" {
			continue
		}
		used, err := spentTx(ctx, tx, a.id, window{r.Scope, r.Reference, r.ScopeID, starts, ends})
		if err != nil {
			return nil, err
		}
		out[i].Spent, out[i].SpentTokens = &used.Cost, &used.Tokens
	}
	return out, nil
}

// SetBudgets replaces the budgets of the account, at most 200. Earlier spending in
// the current period counts. The error for an invalid budget is an [*Invalid].
func (a *Account) SetBudgets(ctx context.Context, budgets []Budget) error {
	if err := CheckBudgets(budgets); err != nil {
		return err
	}
	err := a.l.db.Write(ctx, func(tx *database.Tx) error {
		ctx := context.WithoutCancel(ctx)
		if err := a.setBudgetsTx(ctx, tx, budgets); err != nil {
			return err
		}
		return audit.RecordTx(ctx, tx, audit.Entry{Action: audit.BudgetUpdate, Details: map[string]any{"budgets": len(budgets)}})
	})
	if err != nil {
		return fmt.Errorf("storing budgets: %w", err)
	}
	return nil
}

func (a *Account) setBudgetsTx(ctx context.Context, tx *database.Tx, budgets []Budget) error {
	if _, err := lock(ctx, tx, a.id); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `DELETE FROM usage_budget WHERE account = $1`, a.id); err != nil {
		return err
	}
	for i := range budgets {
		b := &budgets[i]
		zone := b.Timezone
		zone = cmp.Or(zone, "UTC")
		_, err := tx.ExecContext(ctx, `INSERT INTO usage_budget (account, scope, reference, scope_id, period, timezone, cost, tokens, refuse_unpriced)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`, a.id, b.Scope, b.Reference, b.ID, b.Period, zone, nullable(b.Cost), nullable(b.Tokens), b.RefuseUnpriced)
		if err != nil {
			return err
		}
	}
	return nil
}

func nullable(n *int64) sql.NullInt64 {
	if n == nil {
		return sql.NullInt64{}
	}
	return sql.NullInt64{Int64: *n, Valid: true}
}

// maxAmount is the maximum limit of a budget: 10⁹ USD, or the same number of tokens
// as of nano-USD.
const maxAmount = nano * nano

// CheckBudgets validates budgets as [Account.SetBudgets] does. The error is an
// [*Invalid].
func CheckBudgets(budgets []Budget) error {
	if len(budgets) > maxBudgets {
		return &Invalid{Field: "items", Message: fmt.Sprintf("must be at most %d", maxBudgets)}
	}
	for i := range budgets {
		if bad := budgets[i].check(); bad != nil {
			return &Invalid{Field: fmt.Sprintf("items[%d].%s", i, bad.Field), Message: bad.Message}
		}
	}
	return nil
}

func (b *Budget) check() *Invalid {
	id := map[Scope]string{ScopeAccount: "scope", ScopeProject: "projectId", ScopeFlow: "flowId", ScopeChat: "chatId"}[b.Scope]
	switch {
	case id == "":
		return &Invalid{Field: "scope", Message: "must be account, project, flow or chat"}
	case b.Scope == ScopeAccount && b.ID != "":
		return &Invalid{Field: "scope", Message: "takes no id when it is account"}
	case len(b.ID) > 512 || !isText(b.ID):
		return &Invalid{Field: id, Message: "must be UTF-8 without U+0000, of at most 512 bytes"}
	case (b.Reference != 0) != (b.Scope == ScopeChat && b.ID != "") || b.Reference < 0:
		return &Invalid{Field: "reference", Message: "must be given with a chat, and only then"}
	case b.Period != PeriodDay && b.Period != PeriodMonth && b.Period != PeriodTotal:
		return &Invalid{Field: "period", Message: "must be day, month or total"}
	case b.Cost == nil && b.Tokens == nil:
		return &Invalid{Field: "cost", Message: "or tokens must be given"}
	case b.Cost != nil && (*b.Cost < 0 || *b.Cost > maxAmount):
		return &Invalid{Field: "cost", Message: "must be from 0 to 1000000000000000"}
	case b.Tokens != nil && (*b.Tokens < 0 || *b.Tokens > maxAmount):
		return &Invalid{Field: "tokens", Message: "must be from 0 to 1000000000000000000"}
	}
	if _, err := loadZone(b.Timezone); err != nil {
		return &Invalid{Field: "timezone", Message: "must be an IANA name such as Europe/Berlin"}
	}
	return nil
}
