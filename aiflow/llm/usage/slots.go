package usage

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/trunklinehq/trunkline/internal/database"
)

// The lengths of slots, in microseconds. Each is a multiple of the next.
const (
	daySlot     = 24 * hourSlot
	hourSlot    = 4 * quarterSlot
	quarterSlot = int64(15 * time.Minute / time.Microsecond)
)

const (
	// rollUpAge is the age of a call after which it is expected to have ended. Calls
	// that end later change their slot.
	rollUpAge  = 15 * time.Minute
	rollUpStep = 2000 // calls that a transaction reads, but whole slots
)

// slotKey are the columns that identify a row of usage_slot.
const slotKey = `account, length_us, at_us, reference, feature, flow, caller, provider, model`

// slotOf returns the beginning of the slot of a time in microseconds.
func slotOf(at, length int64) int64 { return at - at%length }

// RollUp sums the calls that are old enough by slots, so that reports need not read
// them. It works in small durable steps, and may be called again after an error or a
// crash, on any number of nodes. [Ledger.Run] does so by itself.
func (l *Ledger) RollUp(ctx context.Context) error {
	ctx = database.Chore(ctx)
	until := slotOf(database.Micros(l.opts.Now().Add(-rollUpAge)), quarterSlot)
	for last := ""; ; {
		// A subquery for each account, so that PostgreSQL does not join all calls.
		var accounts []string
		err := l.db.SelectContext(ctx, &accounts, `SELECT account FROM usage_account AS a WHERE account > $1 AND (SELECT at_us FROM usage_call AS c
			WHERE c.account = a.account AND c.at_us >= a.rolled_us ORDER BY at_us LIMIT 1) < $2 ORDER BY account LIMIT $3`, last, until, chunk)
		if err != nil {
			return fmt.Errorf("looking for calls to roll up: %w", err)
		}
		for _, account := range accounts {
			for more := true; more; {
				err := l.db.Write(ctx, func(tx *database.Tx) (err error) {
					more, err = rollUpTx(context.WithoutCancel(ctx), tx, account, until)
					return err
				})
				if err = errors.Join(err, ctx.Err()); err != nil {
					return fmt.Errorf("rolling calls up: %w", err)
				}
			}
		}
		if len(accounts) < chunk {
			return nil
		}
		last = accounts[len(accounts)-1]
	}
}

// rollUpTx rolls the next calls of an account up that began before until. more is
// false if there are no others.
func rollUpTx(ctx context.Context, tx *database.Tx, account string, until int64) (more bool, err error) {
	var from int64 // not by lock, which would make the row of an account that was deleted
	err = tx.GetContext(ctx, &from, `UPDATE usage_account SET account = account WHERE account = $1 RETURNING rolled_us`, account)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	if err != nil || from >= until {
		return false, err
	}
	var next int64 // the first call that is too many
	err = tx.GetContext(ctx, &next, `SELECT at_us FROM usage_call WHERE account = $1 AND at_us >= $2 AND at_us < $3 ORDER BY at_us LIMIT 1 OFFSET $4`,
		account, from, until, rollUpStep)
	switch {
	case errors.Is(err, sql.ErrNoRows):
	case err != nil:
		return false, err
	default:
		until, more = max(slotOf(next, quarterSlot), from+quarterSlot), true
	}
	if err := sumTx(ctx, tx, 1, `account = $2 AND at_us >= $3 AND at_us < $4`, account, from, until); err != nil {
		return false, err
	}
	_, err = tx.ExecContext(ctx, `UPDATE usage_account SET rolled_us = $1 WHERE account = $2`, until, account)
	return more, err
}

// sumTx adds the calls of a condition, whose parameters begin at $2, to their slots, or
// subtracts them if sign is -1. The account must be locked.
func sumTx(ctx context.Context, tx *database.Tx, sign int, where string, args ...any) error {
	_, err := tx.ExecContext(ctx, fmt.Sprintf(`INSERT INTO usage_slot (`+slotKey+`, calls, errors, input, cached, output, reasoning, cost, unpriced)
		SELECT `+slotKey+`, CAST($1 AS BIGINT) * calls, $1 * errors, $1 * input, $1 * cached, $1 * output, $1 * reasoning, $1 * cost, $1 * unpriced
		FROM (SELECT account, slot.column1 AS length_us, at_us - at_us %% slot.column1 AS at_us, reference, feature, flow, caller, provider, model, `+sumsOfSums+`
			FROM (SELECT account, at_us - at_us %% %[1]d AS at_us, reference, feature, flow, caller, provider, model, `+sums+`
				FROM usage_call WHERE %[4]s GROUP BY 1, 2, 3, 4, 5, 6, 7, 8) AS part
			CROSS JOIN (VALUES (%[1]d), (%[2]d), (%[3]d)) AS slot GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9) AS whole WHERE TRUE
		ON CONFLICT (`+slotKey+`) DO UPDATE SET calls = usage_slot.calls + excluded.calls, errors = usage_slot.errors + excluded.errors,
			input = usage_slot.input + excluded.input, cached = usage_slot.cached + excluded.cached, output = usage_slot.output + excluded.output,
			reasoning = usage_slot.reasoning + excluded.reasoning, cost = usage_slot.cost + excluded.cost,
			unpriced = usage_slot.unpriced + excluded.unpriced`, quarterSlot, hourSlot, daySlot, where), append([]any{sign}, args...)...)
	if err != nil {
		return fmt.Errorf("rolling calls up: %w", err)
	}
	return nil
}

// resumTx changes calls, of which those by seqs are in slots. The account must be locked.
func (l *Ledger) resumTx(ctx context.Context, tx *database.Tx, seqs []int64, change func() error) error {
	if len(seqs) == 0 {
		return change()
	}
	in, args := l.db.Dialect.InNumbers("seq", 2, seqs)
	if err := sumTx(ctx, tx, -1, in, args...); err != nil {
		return err
	}
	if err := change(); err != nil {
		return err
	}
	return sumTx(ctx, tx, 1, in, args...)
}

// deleteSlots deletes the slots of the account, whose calls are deleted.
func (a *Account) deleteSlots(ctx context.Context) error {
	ctx = database.Chore(ctx)
	for n := int64(1); n > 0; {
		err := a.l.db.InTx(ctx, func(tx *database.Tx) error {
			if _, err := lock(ctx, tx, a.id); err != nil { // waits for who rolls calls up
				return err
			}
			res, err := tx.ExecContext(ctx, `DELETE FROM usage_slot WHERE (`+slotKey+`) IN (SELECT `+slotKey+` FROM usage_slot WHERE account = $1 LIMIT $2)`, a.id, chunk)
			if err == nil {
				n, err = res.RowsAffected()
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
