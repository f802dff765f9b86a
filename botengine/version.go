package botengine

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/versions"
	"github.com/trunklinehq/trunkline/internal/audit"
	"github.com/trunklinehq/trunkline/internal/database"
)

// Version is what a bot was when it was published. It never changes. A bot has
// no functions.
type Version = versions.Version

// Versions are the published versions of the bots of an account.
type Versions struct{ scope }

// Publish freezes the draft as a numbered version, which answers from now on.
// Conversations that are under way continue with the version that they began
// with. A draft with errors is a [*Refused]; one that is published already is
// not published again.
func (a Versions) Publish(ctx context.Context, id string) (Bot, error) {
	var r row
	err := a.s.db.InTx(ctx, func(tx *database.Tx) (err error) {
		if r, err = a.row(ctx, tx, id, a.s.db.Dialect.ForUpdate()); err != nil {
			return err
		}
		program, doc, problems := a.s.store.Compile([]byte(r.Draft), &flow.Environment{Engine: flow.EngineBot})
		if program == nil {
			return &Refused{problems}
		}
		if err := a.publishTx(ctx, tx, &r, doc); err != nil {
			return err
		}
		return recordTx(ctx, tx, audit.BotPublish, r, map[string]any{"version": r.Version})
	})
	if err != nil {
		return Bot{}, fmt.Errorf("publishing a bot: %w", a.s.store.OrSlugTaken(err))
	}
	return a.s.view(r), nil
}

// publishTx stores the draft of r as its newest version, unless it is that.
func (a Versions) publishTx(ctx context.Context, tx *database.Tx, r *row, doc *flow.Document) error {
	published, err := a.s.store.PublishTx(ctx, tx, &r.Row, versions.Edition{Text: json.RawMessage(r.Draft), Document: doc})
	if err != nil || !published {
		return err
	}
	return a.scheduleTx(ctx, tx, *r)
}

// scheduleTx has runs of a bot begin when its published trigger says so, while
// it is switched on.
func (a scope) scheduleTx(ctx context.Context, tx *database.Tx, r row) error {
	references := func() ([]int64, error) { return []int64{r.Reference}, nil }
	if !r.Active {
		references = nil
	}
	return a.s.store.ScheduleTx(ctx, tx, r.Row, references)
}

// List lists the published versions of a bot, the oldest first.
func (a Versions) List(ctx context.Context, id string, l List) (Page[Version], error) {
	return a.s.store.Versions(ctx, a.id, id, l)
}
