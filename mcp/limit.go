package mcp

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/trunklinehq/trunkline/internal/database"
)

const (
	maxLimit = 1_000_000 // calls per minute
	minute   = int64(time.Minute / time.Microsecond)
	// chargeTimeout bounds how long the database may take to count a call.
	chargeTimeout = 5 * time.Second
)

// bucket identifies a limit in the database: of a user and a function, or of an
// account.
type bucket struct {
	account, caller, function string
}

// rate is the number of calls per minute that a bucket allows, also all at once.
//
// It uses the generic cell rate algorithm: each call moves the time at which the
// bucket is full again by one interval. A call that would move it more than a
// minute ahead is refused.
type rate int

// interval returns the time in which a bucket regains one call, in microseconds.
func (r rate) interval() int64 { return minute / int64(r) }

// excess returns how long a bucket refuses a call; 0 or less: it allows one.
func (r rate) excess(full, now int64) int64 {
	return max(full, now) - now - (int64(r)-1)*r.interval()
}

// charge is a call that counts against all of its limits or against none.
type charge struct {
	from []share

	wait time.Duration // until a refused call is allowed; 0: it is not refused
	over string        // the limit that is reached, for people
}

type share struct {
	bucket
	rate rate
}

// charge returns the limits of a call, nil if there are none.
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

// chargeAll counts concurrent calls with two statements. It does not wait for a
// durable commit: a power cut may undo the count.
func (r *Registry) chargeAll(ctx context.Context, takes []*charge) []error {
	ctx, cancel := context.WithTimeout(ctx, chargeTimeout)
	defer cancel()
	err := r.db.WriteLazy(ctx, func(tx *database.Tx) error { return r.chargeTx(ctx, tx, takes) })
	if err != nil {
		err = fmt.Errorf("counting calls: %w", err)
	}
	return slices.Repeat([]error{err}, len(takes))
}

func (r *Registry) chargeTx(ctx context.Context, tx *database.Tx, takes []*charge) error {
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

// decide counts the call, or refuses it until a limit allows it.
func (t *charge) decide(full map[bucket]int64, now int64) bool {
	t.wait, t.over = 0, "" // the transaction may be a retry
	for _, s := range t.from {
		wait := time.Duration(s.rate.excess(full[s.bucket], now)) * time.Microsecond
		if wait <= t.wait {
			continue
		}
		t.wait, t.over = wait, fmt.Sprintf("this function allows each user %d calls per minute", s.rate)
		if s.function == "" {
			t.over = fmt.Sprintf("the account may make %d calls per minute", s.rate)
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

// lockBuckets reads and locks the buckets of calls, and reads the time. All nodes
// lock in the same order.
func (r *Registry) lockBuckets(ctx context.Context, tx *database.Tx, takes []*charge) (map[bucket]int64, int64, error) {
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

// clockColumns returns further columns of the statement: the database's time,
// unless a clock is given, and one that makes the commit asynchronous on
// PostgreSQL. SQLite uses the time of its only machine.
func clockColumns(d database.Dialect, given bool) string {
	if d != database.Postgres {
		return ""
	}
	columns := `, ` + database.LazySQL + ` AS lazy`
	if !given {
		columns += ", " + d.Now() + " AS now_us"
	}
	return columns
}
