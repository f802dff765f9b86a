package botengine

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
)

// runWait is how long [Runs.Start] waits for the turn that it begins.
const runWait = 10 * time.Second

// Manual is a message that is given to a bot by hand, as if the contact had
// written it.
type Manual struct {
	Chat  runtime.Chat
	Text  string
	Draft bool // run the draft, whatever is published
}

// Runs are the runs of the bots of an account.
type Runs struct{ scope }

// Start has a bot take one turn in a chat: the conversation that waits there
// continues, otherwise a new one starts, whatever the bot's trigger says. The
// published version runs, or the draft if there is none; if that has errors,
// Start returns [ErrUnpublished]. It waits up to 10 s for the turn.
func (a Runs) Start(ctx context.Context, id string, m Manual) (runtime.Detail, error) {
	r, err := a.row(ctx, a.s.db, id, "")
	if err != nil {
		return runtime.Detail{}, err
	}
	message := map[string]any{"type": "text", "text": m.Text}
	runs := a.s.runs.For(a.id)
	waiting, err := a.waiting(ctx, id, m.Chat)
	if err != nil {
		return runtime.Detail{}, err
	}
	if waiting != "" {
		if _, err = runs.Reply(ctx, waiting, message); err != nil {
			return runtime.Detail{}, err
		}
		return runs.Detail(ctx, waiting)
	}
	version, err := a.runnable(r, m.Draft)
	if err != nil {
		return runtime.Detail{}, err
	}
	src, err := a.s.Source(ctx, a.id, id, version)
	if err != nil {
		return runtime.Detail{}, err
	}
	run, err := runs.Start(ctx, runtime.Start{
		Engine: a.s.Name(), Owner: id, Version: version, Source: src, Chat: m.Chat, Input: message, Wait: runWait,
	})
	if err != nil {
		return runtime.Detail{}, err
	}
	return runs.Detail(ctx, run.ID)
}

// runnable is the version of a bot that can run by hand.
func (a Runs) runnable(r row, draft bool) (int64, error) {
	if r.Version > 0 && !draft {
		return r.Version, nil
	}
	program, problems := a.s.compile(json.RawMessage(r.Draft))
	switch {
	case program != nil:
		return 0, nil
	case draft:
		return 0, &Refused{problems}
	}
	return 0, ErrUnpublished
}

// waiting is the run of a bot that waits for a reply in a chat; "" if there is
// none.
func (a Runs) waiting(ctx context.Context, bot string, c runtime.Chat) (string, error) {
	found, err := a.s.runs.For(a.id).Runs(ctx, runtime.Filter{
		Engine: a.s.Name(), Owner: bot, Status: runtime.Waiting, Reference: c.Reference, ChatID: c.ID, Limit: 1,
	})
	if err != nil || len(found.Items) == 0 || found.Items[0].WaitsFor != flow.WaitReply {
		return "", err
	}
	return found.Items[0].ID, nil
}

// List lists the runs of a bot, the newest first.
func (a Runs) List(ctx context.Context, id string, l List) (Page[runtime.Run], error) {
	if id == "" {
		return Page[runtime.Run]{}, ErrNotFound
	}
	return a.s.store.Runs(ctx, a.id, runtime.Filter{Owner: id, Limit: l.Limit, Cursor: l.Cursor})
}

// Get returns a run of one of the account's bots with its steps.
func (a Runs) Get(ctx context.Context, run string) (runtime.Detail, error) {
	return a.s.store.Detail(ctx, a.id, run)
}

// Jump is how the published bot of a reference begins to which a run
// jumps by its slug.
func (a *Account) Jump(ctx context.Context, reference int64, slug string) (runtime.Start, error) {
	var r row
	err := a.s.db.GetContext(ctx, &r, `SELECT `+columns+` FROM botengine_bot WHERE account = $1 AND slug = $2 AND reference = $3 AND NOT removed`, a.id, slug, reference)
	if errors.Is(err, sql.ErrNoRows) {
		return runtime.Start{}, ErrNotFound
	}
	if err != nil {
		return runtime.Start{}, fmt.Errorf("looking for a bot: %w", err)
	}
	src, err := a.s.Source(ctx, a.id, r.ID, r.Version)
	return runtime.Start{Engine: a.s.Name(), Owner: r.ID, Version: r.Version, Source: src}, err
}
