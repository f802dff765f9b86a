package mcp

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/database"
)

const (
	maxLimit = 1_000_000 // calls of a minute
	minute   = int64(time.Minute / time.Microsecond)
	// chargeTimeout is how long the database may take to count calls.
	chargeTimeout = 5 * time.Second
)

// bucket is a limit in the database: of a user and a function, or of an
// account.
type bucket struct {
	account, caller, function string
}

// rate is how many calls of a minute a bucket allows, all of them at once.
//
// It is counted as in the generic cell rate algorithm: a call makes the time
// at which the bucket is full again later by an interval, and is refused where
// that would be more than a minute ahead.
type rate int

// interval is after how many microseconds one more call is allowed.
func (r rate) interval() int64 { return minute / int64(r) }

// excess is how far a bucket is from allowing a call; 0 or less: it does.
func (r rate) excess(full, now int64) int64 {
	return max(full, now) - now - (int64(r)-1)*r.interval()
}

// charge is a call that is to be counted in all of its buckets, or in none.
type charge struct {
	from []share

	wait time.Duration // it is refused, until then
	over string        // what is, for people
}

type share struct {
	bucket
	rate rate
}

// charge are the limits of a call, nil if there are none.
func (x *execution) charge() *charge {
	t := &charge{}
	if x.f != nil && x.f.limit > 0 {
		t.from = append(t.from, share{bucket{x.caller.Account, x.caller.User, x.f.tool.Name}, rate(x.f.limit)})
	}
	if n := x.r.opts.AccountLimit; n > 0 {
		t.from = append(t.from, share{bucket{account: x.caller.Account}, rate(n)})
	}
	if len(t.from) == 0 {
		return nil
	}
	return t
}

// chargeAll counts calls that came together: two statements for all of them. The
// commit is not waited for, because a power cut may take it back.
func (r *Registry) chargeAll(ctx context.Context, takes []*charge) []error {
	ctx, cancel := context.WithTimeout(ctx, chargeTimeout)
	defer cancel()
	err := r.db.WriteLazy(ctx, func(tx *sqlx.Tx) error { return r.chargeTx(ctx, tx, takes) })
	if err != nil {
		err = fmt.Errorf("counting calls: %w", err)
	}
	return slices.Repeat([]error{err}, len(takes))
}

func (r *Registry) chargeTx(ctx context.Context, tx *sqlx.Tx, takes []*charge) error {
	full, now, err := r.lockBuckets(ctx, tx, takes)
	if err != nil {
		return err
	}
	changed := map[bucket]bool{}
	for _, t := range takes {
		if t.decide(full, now) {
			for _, s := range t.from {
				changed[s.bucket] = true
			}
		}
	}
	if len(changed) == 0 {
		return nil
	}
	values := make([]any, 0, 4*len(changed))
	for b := range changed {
		values = append(values, b.account, b.caller, b.function, full[b])
	}
	return r.db.ExecRows(ctx, tx, database.Rows{
		Before: `UPDATE mcp_limit SET full_us = l.column4 FROM (`,
		After: `) AS l WHERE mcp_limit.account = l.column1 AND mcp_limit.caller = l.column2
			AND mcp_limit.function = l.column3`,
		Types: []string{"TEXT", "TEXT", "TEXT", "BIGINT"}, Values: values,
	})
}

// decide lets the call through, or says until when not.
func (t *charge) decide(full map[bucket]int64, now int64) bool {
	t.wait, t.over = 0, "" // a transaction may run again
	for _, s := range t.from {
		wait := time.Duration(s.rate.excess(full[s.bucket], now)) * time.Microsecond
		if wait <= t.wait {
			continue
		}
		t.wait, t.over = wait, fmt.Sprintf("this function has a limit of %d calls a minute and user", s.rate)
		if s.function == "" {
			t.over = fmt.Sprintf("the account has a limit of %d calls a minute", s.rate)
		}
	}
	if t.wait > 0 {
		return false
	}
	for _, s := range t.from {
		full[s.bucket] = max(full[s.bucket], now) + s.rate.interval()
	}
	return true
}

type limitRow struct {
	Account  string
	Caller   string
	Function string
	Full     int64 `db:"full_us"`
	Now      int64 `db:"now_us"`
	Lazy     string
}

// lockBuckets reads the buckets of calls, which no other call can change then,
// and the time. All nodes lock in one order.
func (r *Registry) lockBuckets(ctx context.Context, tx *sqlx.Tx, takes []*charge) (map[bucket]int64, int64, error) {
	full := map[bucket]int64{}
	for _, t := range takes {
		for _, s := range t.from {
			full[s.bucket] = 0
		}
	}
	values := make([]any, 0, 3*len(full))
	for _, b := range slices.SortedFunc(maps.Keys(full), compareBuckets) {
		values = append(values, b.account, b.caller, b.function)
	}
	rows, err := database.SelectRows[limitRow](ctx, r.db, tx, database.Rows{
		Before: `INSERT INTO mcp_limit (account, caller, function, full_us) SELECT column1, column2, column3, 0 FROM (`,
		After: `) AS l WHERE true ORDER BY column1, column2, column3
			ON CONFLICT (account, caller, function) DO UPDATE SET full_us = mcp_limit.full_us
			RETURNING account, caller, function, full_us` + r.clock,
		Types: []string{"TEXT", "TEXT", "TEXT"}, Values: values,
	})
	var now int64
	for _, row := range rows {
		full[bucket{row.Account, row.Caller, row.Function}] = row.Full
		now = max(now, row.Now)
	}
	if now == 0 {
		now = database.Micros(r.opts.Now())
	}
	return full, now, err
}

func compareBuckets(a, b bucket) int {
	return cmp.Or(cmp.Compare(a.account, b.account), cmp.Compare(a.caller, b.caller), cmp.Compare(a.function, b.function))
}

// clockColumns are further columns of limits: the database's time, unless the
// clock is given, and one that makes the commit lazy on PostgreSQL. SQLite has
// one machine's time.
func clockColumns(d database.Dialect, given bool) string {
	if d != database.Postgres {
		return ""
	}
	columns := `, ` + database.LazySQL + ` AS lazy`
	if !given {
		columns += `, CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT) AS now_us`
	}
	return columns
}
