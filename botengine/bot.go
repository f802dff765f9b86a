package botengine

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/versions"
	"github.com/trunklinehq/trunkline/internal/audit"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/page"
	"github.com/trunklinehq/trunkline/internal/text"
)

// Status says whether a bot answers.
type Status string

// The states of a bot.
const (
	StatusDraft     Status = "draft"     // it answers no chat yet
	StatusPublished Status = "published" // its newest published version answers
)

// Bot is a flow that answers the chats of a reference. Its draft may be wrong; what
// is published may not.
type Bot struct {
	ID        string
	Reference int64
	Name      string
	Trigger   Trigger         // what starts it, by its draft
	Flow      json.RawMessage // the draft, as it was given
	Problems  []flow.Problem  // of the draft; never nil
	Status    Status
	Active    bool  // whether what is published answers
	Version   int64 // the published one; 0: none is
	Revision  int64 // raised by every change of what is not published

	CreatedAt, UpdatedAt time.Time
}

// NewBot describes a bot to be made.
type NewBot struct {
	Reference int64
	Name      string
	Trigger   string   // see [Trigger]; "": what Flow says
	Keywords  []string // of the triggers keyword and regex
	Flow      json.RawMessage
}

// BotChange says what is to become of a bot; what is nil stays.
type BotChange struct {
	Name     *string
	Trigger  *string
	Keywords []string
	Flow     json.RawMessage
	Active   *bool // false: it begins no conversation; those under way continue
	Revision int64 // that the change was made from; 0: whatever it is
}

const maxName = 200

// Bots are the bots of an account.
type Bots struct{ scope }

// Create makes a bot with a draft: Flow, in which Trigger is written, or one
// with nothing but a trigger. An [*Invalid] names what is refused; a draft that
// could not be published is not.
func (a Bots) Create(ctx context.Context, n NewBot) (Bot, error) {
	if err := checkName(n.Name); err != nil {
		return Bot{}, err
	}
	if n.Flow == nil {
		n.Flow = blank(n.Name)
		n.Trigger = cmp.Or(n.Trigger, TriggerManual)
	}
	draft, err := a.s.edit(n.Flow, n.Trigger, n.Keywords)
	if err != nil {
		return Bot{}, err
	}
	id, err := uuid.NewV7()
	if err != nil {
		return Bot{}, fmt.Errorf("making an id: %w", err)
	}
	now := database.Micros(a.s.opts.Now())
	r := row{
		Row:       versions.Row{ID: id.String(), Account: a.id, Name: n.Name, Draft: string(draft), Revision: 1, Created: now, Updated: now},
		Reference: n.Reference, Active: true,
	}
	err = a.s.db.Write(ctx, func(tx *database.Tx) error {
		if err := r.insertTx(ctx, tx); err != nil {
			return err
		}
		return recordTx(ctx, tx, audit.BotCreate, r, nil)
	})
	if err != nil {
		return Bot{}, fmt.Errorf("storing a bot: %w", err)
	}
	return a.s.view(r), nil
}

// Get returns a bot, or [ErrNotFound].
func (a Bots) Get(ctx context.Context, id string) (Bot, error) {
	r, err := a.row(ctx, a.s.db, id, "")
	if err != nil {
		return Bot{}, err
	}
	return a.s.view(r), nil
}

// List lists the bots of some references, or of all if references is nil, the
// oldest first. A page holds fewer than asked where drafts are large.
func (a Bots) List(ctx context.Context, references []int64, l List) (Page[Bot], error) {
	which, args := ` FROM botengine_bot WHERE account = $1 AND NOT removed`, []any{a.id}
	if references != nil {
		in, more := a.s.db.Dialect.InNumbers("reference", 2, references)
		which, args = which+` AND `+in, append(args, more...)
	}
	which += fmt.Sprintf(` AND number > $%d ORDER BY number LIMIT $%d`, len(args)+1, len(args)+2)
	return page.Read(ctx, a.s.db, l, "bots", func(r row) int64 { return r.Number }, a.s.view, columns, `OCTET_LENGTH(draft)`, which, args...)
}

// Update changes a bot's name, its draft, or what starts it, which is written
// into the draft. What is published stays as it is. A change of another revision
// than the newest is [ErrRevision].
func (a Bots) Update(ctx context.Context, id string, c BotChange) (Bot, error) {
	if err := a.s.check(c); err != nil {
		return Bot{}, err
	}
	var r row
	err := a.s.db.InTx(ctx, func(tx *database.Tx) (err error) {
		if r, err = a.row(ctx, tx, id, a.s.db.Dialect.ForUpdate()); err != nil {
			return err
		}
		if c.Revision != 0 && c.Revision != r.Revision {
			return ErrRevision
		}
		if c.Name != nil {
			r.Name = *c.Name
		}
		if c.Active != nil {
			r.Active = *c.Active
		}
		draft := json.RawMessage(r.Draft)
		if c.Flow != nil {
			draft = c.Flow
		}
		trigger := ""
		if c.Trigger != nil {
			trigger = *c.Trigger
		}
		if draft, err = a.s.edit(draft, trigger, c.Keywords); err != nil {
			return err
		}
		r.Draft, r.Updated = string(draft), database.Micros(a.s.opts.Now())
		r.Revision++
		_, err = tx.ExecContext(ctx, `UPDATE botengine_bot SET name = $1, draft = $2, active = $3, revision = $4, updated_us = $5 WHERE id = $6`,
			r.Name, r.Draft, r.Active, r.Revision, r.Updated, r.ID)
		if err == nil && c.Active != nil {
			err = a.scheduleTx(ctx, tx, r)
		}
		if err != nil {
			return err
		}
		return recordTx(ctx, tx, audit.BotUpdate, r, audit.Changed(c.changed()...))
	})
	if err != nil {
		return Bot{}, fmt.Errorf("changing a bot: %w", err)
	}
	return a.s.view(r), nil
}

// Switch lets a bot of a reference answer, or not, and returns what was before.
func (a Bots) Switch(ctx context.Context, reference int64, id string, active bool) (before bool, err error) {
	err = a.s.db.InTx(ctx, func(tx *database.Tx) error {
		r, err := a.row(ctx, tx, id, a.s.db.Dialect.ForUpdate())
		if err == nil && r.Reference != reference {
			err = ErrNotFound
		}
		if err != nil {
			return err
		}
		before = r.Active
		_, err = tx.ExecContext(ctx, `UPDATE botengine_bot SET active = $1, revision = revision + 1, updated_us = $2 WHERE id = $3`,
			active, database.Micros(a.s.opts.Now()), id)
		if err != nil {
			return err
		}
		r.Active = active
		if err := a.scheduleTx(ctx, tx, r); err != nil {
			return err
		}
		return recordTx(ctx, tx, audit.BotUpdate, r, audit.Changed("active"))
	})
	if err != nil {
		return false, fmt.Errorf("switching a bot: %w", err)
	}
	return before, nil
}

// Validate returns what is wrong with the draft of a bot.
func (a Bots) Validate(ctx context.Context, id string) ([]flow.Problem, error) {
	b, err := a.Get(ctx, id)
	return b.Problems, err
}

// check refuses what a bot cannot be changed to.
func (s *Service) check(c BotChange) error {
	if c.Name != nil {
		if err := checkName(*c.Name); err != nil {
			return err
		}
	}
	if c.Trigger != nil {
		if err := checkTrigger(*c.Trigger); err != nil {
			return err
		}
	}
	if c.Flow != nil {
		return s.store.CheckDraft("flow", c.Flow)
	}
	return nil
}

func checkName(name string) error {
	if wrong := text.Check(name, 1, maxName); wrong != "" {
		return &Invalid{Field: "name", Message: wrong}
	}
	return nil
}
