package usage

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/internal/database"
)

// Call is a call of a model that is about to be made.
type Call struct {
	Account   string
	Reference int64  // the reference of the chat; 0: it is in no chat
	ChatID    string // as the reference knows it
	// Feature is what asks: "assistant", "agent", "extractor", "draft",
	// "knowledge". Required.
	Feature            string
	Project, Flow, Run string // "": none
	User               string // who asked, by id; "": a contact, or no one
	// Provider and Model are who is asked, such as "openai" and "gpt-5".
	Provider, Model string
	// Reserve is the most that the call can take: see [WorstCase]. Zero: unknown;
	// then a budget is only known to be used up after the call that does it.
	Reserve llm.Usage
}

// Entry is a call in the ledger that has begun.
type Entry struct {
	ID       string
	seq      int64
	call     Call
	began    time.Time
	reserved amount
}

// amount is what budgets count of a call.
type amount struct {
	Tokens int64
	Cost   int64 // nano-USD
}

// CostStatus says how a cost came about, or why there is none.
type CostStatus string

// How a cost came about.
const (
	// CostPriced is a cost by the prices that held then. What a provider turned
	// down cost nothing, which is priced as well.
	CostPriced CostStatus = "priced"
	// CostEstimated is the most it can have cost: no price is known for the
	// cached input, so it counts as if it were not cached.
	CostEstimated CostStatus = "estimated"
	// CostUnpricedModel says that no price of the model is known.
	CostUnpricedModel CostStatus = "unpriced_model"
	// CostUnpricedKind says that no price is known of a kind of token that it
	// took, such as input that was written to a cache.
	CostUnpricedKind CostStatus = "unpriced_usage_kind"
	// CostNoUsage says that the provider did not say what the call took.
	CostNoUsage CostStatus = "no_usage"
	// CostUnknown says that the call has not ended, or its end was not seen.
	CostUnknown CostStatus = "unknown"
)

// Cost is what a call cost.
type Cost struct {
	Nano    int64 // nano-USD; 0 where Known is false
	Known   bool
	Status  CostStatus
	Source  string // of the price: "account", "file", "built-in"; "": none was needed
	Version string // of that source
}

// maxTokens is the most of a kind that a call can have; more is a provider's
// mistake.
const maxTokens = 1_000_000_000

func (c *Call) check() error {
	for _, t := range []struct {
		name, value string
		limit       int
		required    bool
	}{
		{"account", c.Account, 64, true},
		{"chatId", c.ChatID, 512, false},
		{"feature", c.Feature, 64, true},
		{"project", c.Project, 64, false},
		{"flow", c.Flow, 64, false},
		{"run", c.Run, 64, false},
		{"user", c.User, 64, false},
		{"provider", c.Provider, 64, true},
		{"model", c.Model, 200, true},
	} {
		switch {
		case t.required && t.value == "":
			return &Invalid{Field: t.name, Message: "is required"}
		case len(t.value) > t.limit:
			return &Invalid{Field: t.name, Message: fmt.Sprintf("must have at most %d bytes", t.limit)}
		case !isText(t.value):
			return &Invalid{Field: t.name, Message: "must be UTF-8 without U+0000"}
		}
	}
	return nil
}

func isText(s string) bool { return utf8.ValidString(s) && !strings.Contains(s, "\x00") }

// Begin writes a call down before it is made. It returns an [*Exceeded] when a
// budget has no room for what the call reserves; then there is no entry.
// [Ledger.Complete] must follow, whatever becomes of the call.
func (l *Ledger) Begin(ctx context.Context, c Call) (e *Entry, err error) {
	err = l.db.Write(ctx, func(tx *sqlx.Tx) (err error) {
		e, err = l.BeginTx(context.WithoutCancel(ctx), tx, c)
		return err
	})
	return e, err
}

// BeginTx is [Ledger.Begin] in the caller's transaction, which must be committed
// before the call is made, and rolled back after an error.
func (l *Ledger) BeginTx(ctx context.Context, tx *sqlx.Tx, c Call) (*Entry, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	id, err := uuid.NewV7()
	if err != nil {
		return nil, fmt.Errorf("making an id of a call: %w", err)
	}
	e := &Entry{ID: id.String(), call: c, began: l.opts.Now()}
	err = l.beginTx(ctx, tx, e)
	var over *Exceeded
	if errors.As(err, &over) {
		return nil, over
	}
	if err != nil {
		return nil, fmt.Errorf("writing a call down: %w", err)
	}
	return e, nil
}

func (l *Ledger) beginTx(ctx context.Context, tx *sqlx.Tx, e *Entry) error {
	c := &e.call
	if err := lock(ctx, tx, c.Account); err != nil {
		return err
	}
	p, found, err := l.priceTx(ctx, tx, c.Account, c.Provider, c.Model)
	if err != nil {
		return err
	}
	reserve := tidy(c.Reserve)
	e.reserved = amount{Tokens: reserve.Input + reserve.Output}
	if found {
		e.reserved.Cost = p.worst(reserve)
	}
	if err := l.roomTx(ctx, tx, e, found); err != nil {
		return err
	}
	const insert = `INSERT INTO usage_call (id, account, at_us, reference, chat_id, feature, project, flow, run, caller, provider, model,
		cost_status, error, measured, input, cached, cache_write, cache_write_1h, output, reasoning, price_source, price_version,
		held_tokens, held_cost, duration_us)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, '', FALSE, 0, 0, 0, 0, 0, 0, '', '', $14, $15, 0) RETURNING seq`
	if err := tx.GetContext(ctx, &e.seq, insert, e.ID, c.Account, database.Micros(e.began), c.Reference, c.ChatID, c.Feature, c.Project, c.Flow,
		c.Run, c.User, c.Provider, c.Model, CostUnknown, e.reserved.Tokens, e.reserved.Cost); err != nil {
		return err
	}
	return countTx(ctx, tx, e, e.reserved)
}

// lock keeps others from counting for the account until tx ends.
func lock(ctx context.Context, tx *sqlx.Tx, account string) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO usage_account (account) VALUES ($1)
		ON CONFLICT (account) DO UPDATE SET account = excluded.account`, account)
	return err
}

// Complete writes down what became of a call: its answer, or its error. It is
// written even after ctx has ended, and once: of a second time nothing is kept.
func (l *Ledger) Complete(ctx context.Context, e *Entry, r *llm.Response, failed error) (Cost, error) {
	var cost Cost
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), completeTimeout)
	defer cancel()
	err := l.db.Write(ctx, func(tx *sqlx.Tx) (err error) {
		cost, err = l.CompleteTx(context.WithoutCancel(ctx), tx, e, r, failed)
		return err
	})
	return cost, err
}

// completeTimeout is how long what a call took waits to be written down.
const completeTimeout = 15 * time.Second

// CompleteTx is [Ledger.Complete] in the caller's transaction.
func (l *Ledger) CompleteTx(ctx context.Context, tx *sqlx.Tx, e *Entry, r *llm.Response, failed error) (Cost, error) {
	cost, err := l.completeTx(ctx, tx, e, outcomeOf(e, r, failed, l.opts.Now()))
	if err != nil {
		return Cost{}, fmt.Errorf("writing down what a call took: %w", err)
	}
	return cost, nil
}

func (l *Ledger) completeTx(ctx context.Context, tx *sqlx.Tx, e *Entry, o outcome) (Cost, error) {
	if err := lock(ctx, tx, e.call.Account); err != nil {
		return Cost{}, err
	}
	cost, err := l.costTx(ctx, tx, e.call.Account, &o)
	if err != nil {
		return Cost{}, err
	}
	uncertain := e.reserved // what is not known may have been all of it
	if o.usage.Known || o.free {
		uncertain = amount{Tokens: o.usage.Input + o.usage.Output, Cost: cost.Nano}
	}
	u := o.usage
	res, err := tx.ExecContext(ctx, `UPDATE usage_call SET provider = $1, model = $2, cost_status = $3, error = $4, measured = $5, input = $6,
		cached = $7, cache_write = $8, cache_write_1h = $9, output = $10, reasoning = $11, cost = $12, price_source = $13, price_version = $14,
		held_tokens = $15, held_cost = $16, duration_us = $17 WHERE seq = $18 AND cost_status = $19`,
		o.provider, o.model, cost.Status, o.code, u.Known, u.Input, u.CacheRead, u.CacheWrite, u.CacheWrite1h, u.Output, u.Reasoning,
		cost.null(), cost.Source, cost.Version, uncertain.Tokens, uncertain.Cost, o.duration.Microseconds(), e.seq, CostUnknown)
	if err != nil {
		return Cost{}, err
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 { // settled already, or erased with its account
		return cost, err
	}
	return cost, countTx(ctx, tx, e, amount{uncertain.Tokens - e.reserved.Tokens, uncertain.Cost - e.reserved.Cost})
}

func (c *Cost) null() sql.NullInt64 { return sql.NullInt64{Int64: c.Nano, Valid: c.Known} }
