package botengine

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/versions"
	"github.com/trunklinehq/trunkline/internal/audit"
)

// Version is what a bot was when it was published. It never changes.
type Version struct {
	Version   int64
	Document  json.RawMessage
	CreatedAt time.Time
}

// Validate says what is wrong with a bot's draft.
func (a *Account) Validate(ctx context.Context, id string) ([]flow.Problem, error) {
	r, err := a.row(ctx, a.s.db, id, "")
	if err != nil {
		return nil, err
	}
	_, problems := a.s.compile(json.RawMessage(r.Draft))
	return problems, nil
}

// Publish freezes the draft as a numbered version, which answers from now on.
// Conversations that are under way continue with the version that they began
// with. A draft with errors is a [*Refused]; one that is published already is
// not published again.
func (a *Account) Publish(ctx context.Context, id string) (Bot, error) {
	var r row
	err := a.s.db.InTx(ctx, func(tx *sqlx.Tx) (err error) {
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
func (a *Account) publishTx(ctx context.Context, tx *sqlx.Tx, r *row, doc *flow.Document) error {
	published, err := a.s.store.PublishTx(ctx, tx, &r.Row, versions.Edition{Text: json.RawMessage(r.Draft), Document: doc})
	if err != nil || !published {
		return err
	}
	return a.scheduleTx(ctx, tx, *r)
}

// scheduleTx has runs of a bot begin when its published trigger says so, while
// it is switched on.
func (a *Account) scheduleTx(ctx context.Context, tx *sqlx.Tx, r row) error {
	references := func() ([]int64, error) { return []int64{r.Reference}, nil }
	if !r.Active {
		references = nil
	}
	return a.s.store.ScheduleTx(ctx, tx, r.Row, references)
}

// Versions lists what was published of a bot, the oldest first.
func (a *Account) Versions(ctx context.Context, id string, l List) (Page[Version], error) {
	if _, _, err := a.s.store.Bounds(l); err != nil {
		return Page[Version]{}, err
	}
	if _, err := a.row(ctx, a.s.db, id, ""); err != nil {
		return Page[Version]{}, err
	}
	p, err := a.s.store.Versions(ctx, id, l)
	out := Page[Version]{Items: make([]Version, len(p.Items)), Next: p.Next}
	for i, v := range p.Items {
		out.Items[i] = Version{v.Version, v.Document, v.CreatedAt}
	}
	return out, err
}
