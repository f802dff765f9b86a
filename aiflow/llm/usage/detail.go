package usage

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/page"
)

// List selects a page of a list.
type List = page.List

// Page is a page of a list.
type Page[T any] = page.Page[T]

// Record is a call in the ledger.
type Record struct {
	ID                 string
	At                 time.Time // when it started
	Reference          int64     // 0: no chat
	ChatID             string    // "": no chat, or a chat that was erased
	Feature            string
	Project, Flow, Run string
	User               string
	Provider, Model    string // of the answer
	Input, Cached      int64  // tokens; Cached is part of Input
	Output, Reasoning  int64  // Reasoning is part of Output
	Cost               Cost
	// Reserved and ReservedCost are what budgets count for a call whose usage is
	// unknown: tokens and nano-USD. Zero for other calls.
	Reserved, ReservedCost int64
	Duration               time.Duration // 0 while it runs
	Error                  string        // a code; "": it has succeeded, or is in progress
}

// callRow is a row of usage_call.
type callRow struct {
	Seq          int64
	ID           string
	At           int64 `db:"at_us"`
	Reference    int64
	ChatID       string `db:"chat_id"`
	Feature      string
	Project      string
	Flow         string
	Run          string
	Caller       string
	Provider     string
	Model        string
	CostStatus   CostStatus `db:"cost_status"`
	Error        string
	Measured     bool
	Input        int64
	Cached       int64
	CacheWrite   int64 `db:"cache_write"`
	CacheWrite1h int64 `db:"cache_write_1h"`
	Output       int64
	Reasoning    int64
	Cost         sql.NullInt64
	PriceSource  string `db:"price_source"`
	PriceVersion string `db:"price_version"`
	HeldTokens   int64  `db:"held_tokens"`
	HeldCost     int64  `db:"held_cost"`
	Duration     int64  `db:"duration_us"`
}

const callColumns = `seq, id, at_us, reference, chat_id, feature, project, flow, run, caller, provider, model, cost_status, error, measured,
	input, cached, cache_write, cache_write_1h, output, reasoning, cost, price_source, price_version, held_tokens, held_cost, duration_us`

// Detail lists calls, the newest first. The error for an invalid filter or page is
// an [*Invalid].
func (a *Account) Detail(ctx context.Context, f Filter, list List) (Page[Record], error) {
	last, size, err := list.Parse()
	if err != nil {
		return Page[Record]{}, err
	}
	if err := f.bounds(a.l.opts.Now()); err != nil {
		return Page[Record]{}, err
	}
	where, args := f.where(a.id)
	if list.Cursor != "" {
		args = append(args, last)
		where += fmt.Sprintf(` AND (at_us, seq) < ((SELECT at_us FROM usage_call WHERE seq = $%[1]d AND account = $1), $%[1]d)`, len(args))
	}
	args = append(args, size+1)
	var rows []callRow
	err = a.l.db.SelectContext(ctx, &rows, fmt.Sprintf(`SELECT %s FROM usage_call WHERE %s ORDER BY at_us DESC, seq DESC LIMIT $%d`, callColumns, where, len(args)), args...)
	if err != nil {
		return Page[Record]{}, fmt.Errorf("listing calls of models: %w", err)
	}
	return page.Cut(rows, size, func(r callRow) int64 { return r.Seq }, callRow.record), nil
}

func (r callRow) record() Record {
	v := Record{
		ID: r.ID, At: database.Time(r.At), Reference: r.Reference, ChatID: r.ChatID, Feature: r.Feature, Project: r.Project, Flow: r.Flow,
		Run: r.Run, User: r.Caller, Provider: r.Provider, Model: r.Model, Input: r.Input, Cached: r.Cached, Output: r.Output, Reasoning: r.Reasoning,
		Cost:     Cost{Nano: r.Cost.Int64, Known: r.Cost.Valid, Status: r.CostStatus, Source: r.PriceSource, Version: r.PriceVersion},
		Duration: time.Duration(r.Duration) * time.Microsecond, Error: r.Error,
	}
	if r.CostStatus == CostUnknown || r.CostStatus == CostNoUsage {
		v.Reserved, v.ReservedCost = r.HeldTokens, r.HeldCost
	}
	return v
}

// OfRuns returns the sums of runs by the run's id. Runs without calls are missing.
func (a *Account) OfRuns(ctx context.Context, runs []string) (map[string]Sum, error) {
	out := make(map[string]Sum, len(runs))
	for part := range slices.Chunk(runs, chunk) {
		ids := make([]any, len(part))
		for i, id := range part {
			ids[i] = id
		}
		in, args := a.l.db.Dialect.In("run", 2, ids)
		var rows []struct {
			Run string
			Sum
		}
		err := a.l.db.SelectContext(ctx, &rows, `SELECT run, `+sums+` FROM usage_call WHERE account = $1 AND run <> '' AND `+in+` GROUP BY run`,
			append([]any{a.id}, args...)...)
		if err != nil {
			return nil, fmt.Errorf("summing what runs took: %w", err)
		}
		for _, r := range rows {
			out[r.Run] = r.Sum
		}
	}
	return out, nil
}

// Missing is a model without prices.
type Missing struct {
	Provider, Model     string
	Calls               int64
	Input, Output       int64 // tokens
	FirstSeen, LastSeen time.Time
}

// MissingPricing lists the models of calls that have no cost because a price is
// missing, those with the most calls first.
func (a *Account) MissingPricing(ctx context.Context) ([]Missing, error) {
	var rows []struct {
		Provider, Model string
		Calls           int64
		Input, Output   int64
		First, Last     int64
	}
	err := a.l.db.SelectContext(ctx, &rows, `SELECT provider, model, COUNT(*) AS calls, CAST(SUM(input) AS BIGINT) AS input,
		CAST(SUM(output) AS BIGINT) AS output, MIN(at_us) AS first, MAX(at_us) AS last
		FROM usage_call WHERE account = $1 AND cost_status IN ($2, $3) GROUP BY provider, model ORDER BY calls DESC, provider, model LIMIT $4`,
		a.id, CostUnpricedModel, CostUnpricedKind, maxRows)
	if err != nil {
		return nil, fmt.Errorf("listing models without prices: %w", err)
	}
	out := make([]Missing, len(rows))
	for i, r := range rows {
		out[i] = Missing{r.Provider, r.Model, r.Calls, r.Input, r.Output, database.Time(r.First), database.Time(r.Last)}
	}
	return out, nil
}

// usage returns the usage of the call as the provider reported it.
func (r *callRow) usage() llm.Usage {
	return llm.Usage{
		Known: r.Measured, Input: r.Input, CacheRead: r.Cached, CacheWrite: r.CacheWrite, CacheWrite1h: r.CacheWrite1h, Output: r.Output, Reasoning: r.Reasoning,
	}
}
