package runtime

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/text"
)

// What becomes of a message.
const (
	RouteContinued = "continued" // a run waited for it
	RouteStarted   = "begun"     // a flow answers
	RouteQueued    = "queued"    // a flow answers once an earlier run of it has ended
	RouteSilent    = "silent"    // no bot may speak in the chat
	RouteNobody    = "nobody"    // nothing that listens takes it
	RouteFailed    = "failed"    // it was given up after many attempts
)

// What a flow says that is asked whether it answers.
const (
	AskedAnswers = "answers"
	AskedAfter   = "behind"  // it would, but another one was asked first
	AskedPasses  = "passes"  // its trigger does not take the message
	AskedCooling = "cooling" // it was begun in the chat a short time ago
	AskedBusy    = "busy"    // a run of it is active in the chat, and its trigger ignores messages then
)

// Route says why a message was answered, and by whom, or why it was not.
type Route struct {
	At      time.Time `json:"-"`
	Outcome string    `json:"outcome"`       // one of the Route constants
	Run     string    `json:"run,omitempty"` // that took it, or that it began; "": none
	// Asked are the flows that were asked, in their order; empty when a run
	// waited for the message, and when no run may speak. Of those that pass at
	// most 20 are named.
	Asked []Asked `json:"asked,omitempty"`
	// Sent are the ids of the messages that the run sent from then on until it
	// took another one, 50 at most.
	Sent []string `json:"-"`

	Turn int64 `json:"turn,omitempty"` // of the run, that began so
}

// Asked is a flow that was asked whether it answers a message.
type Asked struct {
	Engine   string `json:"engine"`
	Owner    string `json:"owner"`
	Version  int64  `json:"version"`
	Priority int    `json:"priority"`
	Outcome  string `json:"outcome"` // one of the Asked constants
}

// maxPassing bounds how many flows of a [Route] are named that pass.
const maxPassing = 20

// routeTTL is how long routes are kept, or as long as runs, if that is
// shorter.
const routeTTL = 30 * 24 * time.Hour

// routing is a [Route] that is being found.
type routing struct {
	Route
	account, chatID, message string
	reference                int64
}

// route begins the route of a message. One without an id has none: no user
// could ask for it.
func (in *inputRow) route(m Incoming) {
	if id, _ := m.Message["id"].(string); id != "" {
		in.routed = &routing{account: m.Chat.Account, reference: m.Chat.Reference, chatID: m.Chat.ID, message: id}
	}
}

// routeTo says where a message goes.
func (in *inputRow) routeTo(outcome, run string, asked []Asked) {
	if in.routed != nil {
		in.routed.Route = Route{Outcome: outcome, Run: run, Asked: asked}
	}
}

// inTurn says in which turn of the run the message is taken.
func (in *inputRow) inTurn(turn int64) {
	if in.routed != nil {
		in.routed.Turn = turn
	}
}

// routeTx notes where inputs go that are messages.
func (i *inbox) routeTx(ctx context.Context, tx *database.Tx, ins []*inputRow) error {
	rows, err := i.routes(ins)
	if err == nil {
		err = i.db.ExecRows(ctx, tx, rows)
	}
	if err != nil {
		return fmt.Errorf("noting where messages go: %w", err)
	}
	return nil
}

// routes stores where inputs went that are messages.
func (i *inbox) routes(ins []*inputRow) (database.Rows, error) {
	rows := database.Rows{
		Before: `INSERT INTO flow_route (account, reference, chat_id, message, body, at_us) `,
		Types:  []string{"TEXT", "BIGINT", "TEXT", "TEXT", "TEXT", "BIGINT"},
	}
	for _, in := range ins {
		to := in.routed
		if to == nil || to.Outcome == "" {
			continue
		}
		body, err := json.Marshal(to.Route)
		if err != nil {
			return rows, fmt.Errorf("writing where a message goes: %w", err)
		}
		rows.Values = append(rows.Values, to.account, to.reference, to.chatID, text.Sanitize(to.message), string(body), database.Micros(i.now()))
	}
	return rows, nil
}

// Routes say why a message, of which these are all ids, was answered, or why
// not, the oldest first. There are none of messages that came where nothing
// listens, and of those from more than 30 days ago.
func (a *Account) Routes(ctx context.Context, reference int64, messages []string) ([]Route, error) {
	if len(messages) == 0 {
		return nil, nil
	}
	in, args := a.r.db.Dialect.In("message", 3, anyOf(messages))
	var rows []routeRow
	err := a.r.db.SelectContext(ctx, &rows, `SELECT id, chat_id, body, at_us FROM flow_route WHERE account = $1 AND reference = $2 AND `+in+` ORDER BY id`,
		append([]any{a.id, reference}, args...)...)
	if err != nil {
		return nil, fmt.Errorf("reading where a message went: %w", err)
	}
	out := make([]Route, len(rows))
	for i, row := range rows {
		if out[i], err = row.view(); err != nil {
			return nil, err
		}
		if err := a.answered(ctx, reference, row, &out[i]); err != nil {
			return nil, fmt.Errorf("reading what a run sent: %w", err)
		}
	}
	return out, nil
}

type routeRow struct {
	ID     int64  `db:"id"`
	ChatID string `db:"chat_id"`
	Body   string `db:"body"`
	AtUS   int64  `db:"at_us"`
}

func (row routeRow) view() (Route, error) {
	out := Route{}
	if err := json.Unmarshal([]byte(row.Body), &out); err != nil {
		return Route{}, fmt.Errorf("reading where a message went: %w", err)
	}
	out.At = database.Time(row.AtUS)
	return out, nil
}

// maxAnswers bounds how many messages of a [Route] are named, and how many
// later messages of the chat are looked at to find the next one of the run.
const maxAnswers = 50

// answered finds what the run of a route sent from then on, until it took
// another message.
func (a *Account) answered(ctx context.Context, reference int64, row routeRow, to *Route) error {
	if to.Run == "" {
		return nil
	}
	var later []routeRow
	err := a.r.db.SelectContext(ctx, &later, `SELECT id, chat_id, body, at_us FROM flow_route WHERE account = $1 AND reference = $2 AND chat_id = $3
		AND id > $4 ORDER BY id LIMIT $5`, a.id, reference, row.ChatID, row.ID, maxAnswers)
	if err != nil {
		return err
	}
	until := int64(math.MaxInt64)
	for _, l := range later {
		if next, err := l.view(); err != nil {
			return err
		} else if next.Run == to.Run {
			until = next.Turn
			break
		}
	}
	return a.r.db.SelectContext(ctx, &to.Sent, `SELECT s.message FROM flow_sent s JOIN flow_run r ON r.seq = s.run
		WHERE r.id = $1 AND r.account = $2 AND s.turn >= $3 AND s.turn < $4 ORDER BY s.id LIMIT $5`, to.Run, a.id, to.Turn, until, maxAnswers)
}

// SentBy is the run that sent a message, of which these are all ids, or
// [ErrNotFound].
func (a *Account) SentBy(ctx context.Context, reference int64, messages []string) (Run, error) {
	if len(messages) == 0 {
		return Run{}, ErrNotFound
	}
	in, args := a.r.db.Dialect.In("s.message", 3, anyOf(messages))
	var rows []*runRow
	err := a.r.db.SelectContext(ctx, &rows, `SELECT `+runColumns+` FROM flow_sent s JOIN flow_run r ON r.seq = s.run
		WHERE r.account = $1 AND r.reference = $2 AND `+in+` LIMIT 1`, append([]any{a.id, reference}, args...)...)
	if err != nil {
		return Run{}, fmt.Errorf("looking for the run of a message: %w", err)
	}
	if len(rows) == 0 {
		return Run{}, ErrNotFound
	}
	return rows[0].view(), nil
}

// pruneRoutes deletes routes from before a time. They are in its order, nearly.
func (e *eraser) pruneRoutes(ctx context.Context, before time.Time) error {
	err := e.db.InSteps(ctx, `DELETE FROM flow_route WHERE at_us < $1 AND id IN (SELECT id FROM flow_route ORDER BY id LIMIT $2)`,
		database.Micros(before), eraseChunk)
	if err != nil {
		return fmt.Errorf("deleting old routes: %w", err)
	}
	return nil
}
