package usage

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/trunklinehq/trunkline/internal/audit"
	"github.com/trunklinehq/trunkline/internal/database"
)

// Pricing returns the account's own prices, by provider and model.
func (a *Account) Pricing(ctx context.Context) ([]Price, error) {
	t, err := a.l.ownTable(ctx, a.l.db, a.id)
	if err != nil {
		return nil, fmt.Errorf("reading prices: %w", err)
	}
	out := make([]Price, 0, len(t.prices))
	for _, key := range slices.SortedFunc(maps.Keys(t.prices), modelKey.compare) {
		out = append(out, *t.prices[key])
	}
	return out, nil
}

// Source is a table of prices for all accounts.
type Source struct {
	Name    string // "file", for Options.Prices, or "built-in"
	Version string // date of the built-in table, hash of another
	Models  int
}

// Sources returns the tables of prices for all accounts, in order of precedence.
func (l *Ledger) Sources() []Source {
	ts := *l.prices.Load()
	out := make([]Source, len(ts))
	for i, t := range ts {
		out[i] = Source{t.source, t.version, len(t.prices)}
	}
	return out
}

// SetPricing replaces the account's own prices, at most 1,000. They take precedence
// over all others for calls from now on; [Account.Reprice] changes the cost of
// earlier calls. The error for an invalid price is an [*Invalid].
func (a *Account) SetPricing(ctx context.Context, items []Price) error {
	if err := checkPrices(items, maxPrices); err != nil {
		return err
	}
	values := make([]any, 0, 4*len(items))
	for i := range items {
		text, err := json.Marshal(&items[i])
		if err != nil {
			return fmt.Errorf("writing prices: %w", err)
		}
		values = append(values, a.id, items[i].Provider, items[i].Model, string(text))
	}
	err := a.l.db.Write(ctx, func(tx *database.Tx) error {
		ctx := context.WithoutCancel(ctx)
		if _, err := lock(ctx, tx, a.id); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM usage_price WHERE account = $1`, a.id); err != nil {
			return err
		}
		err := a.l.db.Insert(ctx, tx, `INSERT INTO usage_price (account, provider, model, price)`, []string{"TEXT", "TEXT", "TEXT", "TEXT"}, values)
		if err != nil {
			return err
		}
		return audit.RecordTx(ctx, tx, audit.Entry{Action: audit.PricingUpdate, Details: map[string]any{"prices": len(items)}})
	})
	if err != nil {
		return fmt.Errorf("storing prices: %w", err)
	}
	return nil
}

// repriceRows is the number of calls that one transaction prices.
const repriceRows = 1000

// Reprice computes the cost of calls again with the current prices: of those
// started at from or later and before to; zero: no bound. It returns the number of
// calls whose cost or status has changed; a second time that is 0. Calls with an
// unknown usage stay unchanged. It works in durable steps, and may be called again
// after an error.
func (a *Account) Reprice(ctx context.Context, from, to time.Time) (changed int, err error) {
	f := Filter{From: from, To: to}
	if f.From.IsZero() {
		f.From = time.Unix(0, 0)
	}
	if f.To.IsZero() {
		f.To = lastInstant
	}
	if err := f.bounds(a.l.opts.Now()); err != nil {
		return 0, err
	}
	at, seq := database.Micros(f.From), int64(0)
	for {
		var rows []callRow
		n := 0
		err := a.l.db.Write(ctx, func(tx *database.Tx) (err error) {
			ctx := context.WithoutCancel(ctx)
			if rows, n, err = a.repriceTx(ctx, tx, at, seq, database.Micros(f.To)); err != nil || seq > 0 {
				return err
			}
			return audit.RecordTx(ctx, tx, audit.Entry{Action: audit.UsageReprice}) // once, with the first step
		})
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return changed, fmt.Errorf("pricing calls again: %w", err)
		}
		changed += n
		if len(rows) < repriceRows {
			return changed, nil
		}
		at, seq = rows[len(rows)-1].At, rows[len(rows)-1].Seq
	}
}

// repriceTx prices the next calls after (at, seq).
func (a *Account) repriceTx(ctx context.Context, tx *database.Tx, at, seq, to int64) (rows []callRow, changed int, err error) {
	rolled, err := lock(ctx, tx, a.id)
	if err != nil {
		return nil, 0, err
	}
	err = tx.SelectContext(ctx, &rows, `SELECT `+callColumns+` FROM usage_call WHERE account = $1 AND (at_us, seq) > ($2, $3) AND at_us < $4
		ORDER BY at_us, seq LIMIT $5`, a.id, at, seq, to, repriceRows)
	if err != nil {
		return nil, 0, err
	}
	own, err := a.l.ownTable(ctx, tx, a.id)
	if err != nil {
		return nil, 0, err
	}
	all := append(tables{own}, *a.l.prices.Load()...)
	var values []any
	var late []int64 // calls in slots
	for i := range rows {
		c, ok := rows[i].priceAgain(all)
		if !ok {
			continue
		}
		changed++
		if rows[i].At < rolled {
			late = append(late, rows[i].Seq)
		}
		known := 0
		if c.Known {
			known = 1
		}
		values = append(values, rows[i].Seq, c.Nano, known, string(c.Status), c.Source, c.Version)
	}
	if changed == 0 {
		return rows, 0, nil
	}
	err = a.l.resumTx(ctx, tx, late, func() error {
		return a.l.db.ExecRows(ctx, tx, database.Rows{
			Before: `UPDATE usage_call SET cost = CASE list.column3 WHEN 1 THEN list.column2 END, held_cost = list.column2, cost_status = list.column4,
			price_source = list.column5, price_version = list.column6 FROM (`,
			After: `) AS list WHERE seq = list.column1`,
			Types: []string{"BIGINT", "BIGINT", "BIGINT", "TEXT", "TEXT", "TEXT"}, Values: values,
		})
	})
	if err != nil {
		return nil, 0, err
	}
	_, err = tx.ExecContext(ctx, `DELETE FROM usage_spent WHERE account = $1`, a.id) // the sums are computed again on demand
	return rows, changed, err
}

// priceAgain returns the cost of a call with current prices; ok is false if it is
// unchanged.
func (r *callRow) priceAgain(all tables) (c Cost, ok bool) {
	if !r.Measured {
		return c, false
	}
	q, found := all.find(r.Provider, r.Model, maxHops)
	c = costOf(q, found, r.usage())
	before := r.record().Cost
	return c, c.Known != before.Known || c.Nano != before.Nano || c.Status != before.Status
}
