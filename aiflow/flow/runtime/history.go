package runtime

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/internal/database"
)

// Past is what came to a run and what the world answered it, so that it can be
// replayed.
type Past struct {
	Run      Run
	Document *flow.Document // that it ran
	Program  *flow.Program
	Came     []Came // after its beginning, in order
	Calls    []PastCall
}

// Came is something that a run took.
type Came struct {
	At      time.Time
	Message string     // the id of a contact's message; "": it is Input
	Input   flow.Input // an event, an approval, what became of a handoff, or a cancel
}

// PastCall is a call of a run whose result is known.
type PastCall struct {
	Node    string
	Kind    flow.CallKind
	Request json.RawMessage
	Result  any         // numbers as they were written; nil with Error
	Error   *flow.Error // nil: it succeeded
}

// The most that a [Past] holds; of longer ones it is the beginning.
const (
	maxCame  = 500
	maxCalls = 500
)

// Past returns what is known of a run, or [ErrNotFound]. Messages are known for
// 30 days.
func (a *Account) Past(ctx context.Context, id string) (Past, error) {
	row, err := a.row(ctx, id)
	if err != nil {
		return Past{}, err
	}
	l, err := a.r.programs.load(ctx, row.Document)
	if err != nil {
		return Past{}, err
	}
	p := Past{Run: row.view(), Document: l.source.Document, Program: l.program}
	if p.Came, err = a.came(ctx, row); err != nil {
		return Past{}, fmt.Errorf("reading what came to a run: %w", err)
	}
	if p.Calls, err = a.calls(ctx, row); err != nil {
		return Past{}, fmt.Errorf("reading the calls of a run: %w", err)
	}
	return p, nil
}

type cameRow struct {
	Message string `db:"message"`
	Body    string `db:"body"`
	AtUS    int64  `db:"at_us"`
}

func (a *Account) came(ctx context.Context, row *runRow) ([]Came, error) {
	var messages, changed []cameRow
	err := a.r.db.SelectContext(ctx, &messages, `SELECT message, body, at_us FROM flow_route WHERE account = $1 AND reference = $2 AND chat_id = $3
		AND body LIKE $4 ORDER BY id LIMIT $5`, a.id, row.Reference, row.ChatID, `{"outcome":"`+RouteContinued+`","run":"`+row.ID+`"%`, maxCame)
	if err == nil {
		err = a.r.db.SelectContext(ctx, &changed, `SELECT body, at_us FROM flow_signal WHERE run = $1 ORDER BY id LIMIT $2`, row.Seq, maxCame)
	}
	if err != nil {
		return nil, err
	}
	var out []Came
	for _, m := range messages {
		out = append(out, Came{At: database.Time(m.AtUS), Message: m.Message})
	}
	for _, t := range changed {
		in, err := flow.DecodeInput(json.RawMessage(t.Body))
		if err != nil {
			return nil, err
		}
		out = append(out, Came{At: database.Time(t.AtUS), Input: in})
	}
	slices.SortStableFunc(out, func(x, y Came) int { return x.At.Compare(y.At) })
	return out, nil
}

func (a *Account) calls(ctx context.Context, row *runRow) ([]PastCall, error) {
	var rows []struct {
		Node    string        `db:"node"`
		Kind    flow.CallKind `db:"kind"`
		Request string        `db:"request"`
		Result  string        `db:"result"`
		Error   string        `db:"error"`
	}
	err := a.r.db.SelectContext(ctx, &rows, `SELECT node, kind, request, result, error FROM flow_effect WHERE run = $1 AND done_us > 0
		ORDER BY id LIMIT $2`, row.Seq, maxCalls)
	if err != nil {
		return nil, err
	}
	out := make([]PastCall, len(rows))
	for i, r := range rows {
		out[i] = PastCall{Node: r.Node, Kind: r.Kind, Request: json.RawMessage(r.Request)}
		if r.Error != "" {
			out[i].Error = &flow.Error{}
			err = json.Unmarshal([]byte(r.Error), out[i].Error)
		} else {
			out[i].Result, err = exactly[any](r.Result)
		}
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}
