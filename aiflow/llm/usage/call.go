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

	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/internal/database"
)

// Call is a call of a model before it is made.
type Call struct {
	Account   string
	Reference int64  // the reference of the chat; 0: no chat
	ChatID    string // id of the chat on the reference
	// Feature is the feature that makes the call: "assistant", "agent",
	// "extractor", "draft", "knowledge". Required.
	Feature            string
	Project, Flow, Run string // "": none
	User               string // id of the user who asked; "": a contact or a program
	// Provider and Model name the model, such as "openai" and "gpt-5".
	Provider, Model string
	// Reserve is the maximum usage of the call: see [WorstCase]. Zero: unknown; a
	// budget is then found to be exceeded only after the call.
	Reserve llm.Usage
}

// Entry is a started call in the ledger.
type Entry struct {
	ID       string
	seq      int64
	call     Call
	began    time.Time
	reserved amount
}

// amount is the amount that budgets count for a call.
type amount struct {
	Tokens int64
	Cost   int64 // nano-USD
}

// CostStatus tells how a cost was determined, or why there is none.
type CostStatus string

// How a cost was determined.
const (
	// CostPriced is a cost by the prices at the time. It includes calls that the
	// provider refused, which cost nothing.
	CostPriced CostStatus = "priced"
	// CostEstimated is an upper bound: the price of cached input is unknown, so it
	// counts as uncached.
	CostEstimated CostStatus = "estimated"
	// CostUnpricedModel means that the model has no known price.
	CostUnpricedModel CostStatus = "unpriced_model"
	// CostUnpricedKind means that a kind of token has no known price, such as input
	// written to a cache.
	CostUnpricedKind CostStatus = "unpriced_usage_kind"
	// CostNoUsage means that the provider returned no usage.
	CostNoUsage CostStatus = "no_usage"
	// CostUnknown means that the call has not ended, or that its end was not
	// recorded.
	CostUnknown CostStatus = "unknown"
)

// Cost is the cost of a call.
type Cost struct {
	Nano    int64 // nano-USD; 0 unless Known
	Known   bool
	Status  CostStatus
	Source  string // of the price: "account", "file", "built-in"; "": no price was needed
	Version string // of that source
}

// maxTokens is the maximum number of tokens of a kind. A larger number is a mistake
// of the provider.
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

// Begin records a call before it is made. It returns an [*Exceeded], and records
// nothing, if the reservation of the call would exceed a budget. [Ledger.Complete]
// must follow, whatever the outcome of the call.
func (l *Ledger) Begin(ctx context.Context, c Call) (e *Entry, err error) {
	err = l.db.Write(ctx, func(tx *database.Tx) (err error) {
		e, err = l.BeginTx(context.WithoutCancel(ctx), tx, c)
		return err
	})
	return e, err
}

// BeginTx is [Ledger.Begin] in the caller's transaction, which must be committed
// before the call is made, and rolled back after an error.
func (l *Ledger) BeginTx(ctx context.Context, tx *database.Tx, c Call) (*Entry, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	id, err := uuid.NewV7()
	if err != nil {
		return nil, fmt.Errorf("making an id of a call: %w", err)
	}
	e := &Entry{ID: id.String(), call: c, began: l.opts.Now()}
	err = l.beginTx(ctx, tx, e)
	if over, ok := errors.AsType[*Exceeded](err); ok {
		return nil, over
	}
	if err != nil {
		return nil, fmt.Errorf("writing a call down: %w", err)
	}
	return e, nil
}

func (l *Ledger) beginTx(ctx context.Context, tx *database.Tx, e *Entry) error {
	c := &e.call
	rolled, err := lock(ctx, tx, c.Account)
	if err != nil {
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
	if database.Micros(e.began) < rolled { // by a clock that is behind
		if err := sumTx(ctx, tx, 1, `seq = $2`, e.seq); err != nil {
			return err
		}
	}
	return countTx(ctx, tx, e, e.reserved)
}

// lock locks the account, so that no other transaction counts for it until tx ends. It
// returns the time before which its calls are in slots: see [sumTx].
func lock(ctx context.Context, tx *database.Tx, account string) (rolled int64, err error) {
	err = tx.GetContext(ctx, &rolled, `INSERT INTO usage_account (account) VALUES ($1)
		ON CONFLICT (account) DO UPDATE SET account = excluded.account RETURNING rolled_us`, account)
	return rolled, err
}

// Complete records the outcome of a call: its answer or its error. It does so even
// after ctx has ended. Only the first Complete of a call counts.
func (l *Ledger) Complete(ctx context.Context, e *Entry, r *llm.Response, failed error) (Cost, error) {
	var cost Cost
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), completeTimeout)
	defer cancel()
	err := l.db.Write(ctx, func(tx *database.Tx) (err error) {
		cost, err = l.CompleteTx(context.WithoutCancel(ctx), tx, e, r, failed)
		return err
	})
	return cost, err
}

// completeTimeout bounds how long Complete may take.
const completeTimeout = 15 * time.Second

// CompleteTx is [Ledger.Complete] in the caller's transaction.
func (l *Ledger) CompleteTx(ctx context.Context, tx *database.Tx, e *Entry, r *llm.Response, failed error) (Cost, error) {
	cost, err := l.completeTx(ctx, tx, e, outcomeOf(e, r, failed, l.opts.Now()))
	if err != nil {
		return Cost{}, fmt.Errorf("writing down what a call took: %w", err)
	}
	return cost, nil
}

func (l *Ledger) completeTx(ctx context.Context, tx *database.Tx, e *Entry, o outcome) (Cost, error) {
	rolled, err := lock(ctx, tx, e.call.Account)
	if err != nil {
		return Cost{}, err
	}
	cost, err := l.costTx(ctx, tx, e.call.Account, &o)
	if err != nil {
		return Cost{}, err
	}
	uncertain := e.reserved // the actual usage is unknown and may be all of it
	if o.usage.Known || o.free {
		uncertain = amount{Tokens: o.usage.Input + o.usage.Output, Cost: cost.Nano}
	}
	u := o.usage
	var late []int64 // the call, if it is in a slot
	if database.Micros(e.began) < rolled {
		late = []int64{e.seq}
	}
	var n int64
	err = l.resumTx(ctx, tx, late, func() error {
		res, err := tx.ExecContext(ctx, `UPDATE usage_call SET provider = $1, model = $2, cost_status = $3, error = $4, measured = $5, input = $6,
		cached = $7, cache_write = $8, cache_write_1h = $9, output = $10, reasoning = $11, cost = $12, price_source = $13, price_version = $14,
		held_tokens = $15, held_cost = $16, duration_us = $17 WHERE seq = $18 AND cost_status = $19`,
			o.provider, o.model, cost.Status, o.code, u.Known, u.Input, u.CacheRead, u.CacheWrite, u.CacheWrite1h, u.Output, u.Reasoning,
			cost.null(), cost.Source, cost.Version, uncertain.Tokens, uncertain.Cost, o.duration.Microseconds(), e.seq, CostUnknown)
		if err == nil {
			n, err = res.RowsAffected()
		}
		return err
	})
	if err != nil {
		return Cost{}, err
	}
	if n == 0 { // completed already, or erased with its account
		return cost, err
	}
	return cost, countTx(ctx, tx, e, amount{uncertain.Tokens - e.reserved.Tokens, uncertain.Cost - e.reserved.Cost})
}

func (c *Cost) null() sql.NullInt64 { return sql.NullInt64{Int64: c.Nano, Valid: c.Known} }
