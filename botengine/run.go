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

// runWait is how long [Account.Run] waits for the turn that it begins.
const runWait = 10 * time.Second

// Manual is a message that is given to a bot by hand, as if the contact had
// written it.
type Manual struct {
	Chat  runtime.Chat
	Text  string
	Draft bool // run the draft, whatever is published
}

// Run has a bot take one turn in a chat: the conversation that waits there goes
// on, else one begins, whatever the bot's trigger says. It is the published
// version that runs, or the draft of a bot that has none; [ErrUnpublished] is
// for one whose draft has errors. It waits up to 10 s for the turn.
func (a *Account) Run(ctx context.Context, id string, m Manual) (runtime.Detail, error) {
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
func (a *Account) runnable(r row, draft bool) (int64, error) {
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
func (a *Account) waiting(ctx context.Context, bot string, c runtime.Chat) (string, error) {
	found, err := a.s.runs.For(a.id).Runs(ctx, runtime.Filter{
		Engine: a.s.Name(), Owner: bot, Status: runtime.Waiting, Reference: c.Reference, ChatID: c.ID, Limit: 1,
	})
	if err != nil || len(found.Items) == 0 || found.Items[0].WaitsFor != flow.WaitReply {
		return "", err
	}
	return found.Items[0].ID, nil
}

// Runs lists the runs of a bot, the newest first.
func (a *Account) Runs(ctx context.Context, id string, l List) (Page[runtime.Run], error) {
	if _, _, err := a.s.store.Bounds(l); err != nil {
		return Page[runtime.Run]{}, err
	}
	if _, err := a.row(ctx, a.s.db, id, ""); err != nil {
		return Page[runtime.Run]{}, err
	}
	return a.s.store.Runs(ctx, a.id, runtime.Filter{Owner: id, Limit: l.Limit, Cursor: l.Cursor})
}

// Detail returns a run of one of the account's bots with its steps.
func (a *Account) Detail(ctx context.Context, run string) (runtime.Detail, error) {
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
