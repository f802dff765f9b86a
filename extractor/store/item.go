package store

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/trunklinehq/trunkline/internal/audit"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/text"
)

// Extractor finds values in messages.
type Extractor struct {
	ID      string
	Name    string
	Kind    string // Regex, Entity, Intent or AI
	Scope   Scope
	Config  json.RawMessage // as its kind has it
	Enabled bool
	// Training is the state of learning intents: [Training], [Ready] or [Failed];
	// "" for other kinds. Until training ends, the previous model is in use.
	Training      string
	TrainingError string // why it failed

	CreatedAt, UpdatedAt time.Time
}

// States of training.
const (
	Training = "training"
	Ready    = "ready"
	Failed   = "failed"
)

// Scope selects the messages that an extractor reads: those of a reference, of the
// reference of a bot, or of the chats that a flow answers.
type Scope struct {
	Reference int64 // with Bot: that of the bot
	Bot, Flow string
}

// NewExtractor describes an extractor to create.
type NewExtractor struct {
	Name     string
	Kind     string // in any letter case
	Scope    Scope
	Config   json.RawMessage
	Disabled bool
}

// Change describes changes of an extractor. Nil fields stay as they are.
type Change struct {
	Name    *string
	Scope   *Scope
	Config  json.RawMessage
	Enabled *bool
}

const (
	maxName = 200
	maxAll  = 1000 // extractors of an account
	// maxConfigs bounds the total size of an account's configs: nodes keep them in
	// memory.
	maxConfigs = 4 * MaxConfig
)

// Create creates an extractor. An [*Invalid] names the field that is refused.
// Intents are learned in the background.
func (a *Account) Create(ctx context.Context, n NewExtractor) (Extractor, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return Extractor{}, fmt.Errorf("making an id: %w", err)
	}
	now := database.Micros(a.s.now())
	r := row{
		ID: id.String(), Account: a.id, Name: n.Name, Kind: strings.ToLower(n.Kind), Reference: n.Scope.Reference, Bot: n.Scope.Bot, Flow: n.Scope.Flow,
		Config: string(n.Config), Enabled: !n.Disabled, Revision: 1, Created: now, Updated: now,
	}
	if err := r.check(); err != nil {
		return Extractor{}, err
	}
	err = a.s.db.InTx(ctx, func(tx *database.Tx) error {
		if err := a.changedTx(ctx, tx); err != nil {
			return err
		}
		if err := a.roomTx(ctx, tx, r); err != nil {
			return err
		}
		if err := r.insertTx(ctx, tx); err != nil {
			return err
		}
		return recordTx(ctx, tx, audit.ExtractorCreate, r, map[string]any{"kind": r.Kind})
	})
	if err != nil {
		return Extractor{}, fmt.Errorf("storing an extractor: %w", err)
	}
	a.s.db.Notify(trainTopic)
	return r.view(), nil
}

// roomTx refuses an extractor that exceeds the limits of the account.
func (a *Account) roomTx(ctx context.Context, tx *database.Tx, r row) error {
	var others struct{ Count, Bytes int }
	err := tx.GetContext(ctx, &others, `SELECT count(*) AS count, COALESCE(CAST(sum(OCTET_LENGTH(config)) AS BIGINT), 0) AS bytes FROM extractor_item
		WHERE account = $1 AND id <> $2`, a.id, r.ID)
	switch {
	case err != nil:
		return fmt.Errorf("measuring extractors: %w", err)
	case others.Count >= maxAll:
		return &Invalid{Field: "kind", Message: fmt.Sprintf("would exceed the limit of %d extractors in an account: delete one first", maxAll)}
	case others.Bytes+len(r.Config) > maxConfigs:
		return &Invalid{Field: "config", Message: fmt.Sprintf("would exceed the limit of %d MiB for the configs of an account: shorten or delete one", maxConfigs>>20)}
	}
	return nil
}

// Extractor returns an extractor, or [ErrNotFound].
func (a *Account) Extractor(ctx context.Context, id string) (Extractor, error) {
	r, err := a.row(ctx, a.s.db, id, "")
	return r.view(), err
}

// Update changes an extractor. Changed intents are learned again in the background.
// Until then the previous model is in use.
func (a *Account) Update(ctx context.Context, id string, c Change) (Extractor, error) {
	if err := c.check(); err != nil {
		return Extractor{}, err
	}
	var r row
	err := a.s.db.InTx(ctx, func(tx *database.Tx) (err error) {
		if err := a.changedTx(ctx, tx); err != nil {
			return err
		}
		if r, err = a.row(ctx, tx, id, a.s.db.Dialect.ForUpdate()); err != nil {
			return err
		}
		r.apply(c)
		if err := r.check(); err != nil {
			return err
		}
		if c.Config != nil {
			if err := a.roomTx(ctx, tx, r); err != nil {
				return err
			}
		}
		r.Updated = database.Micros(a.s.now())
		if err := r.updateTx(ctx, tx); err != nil {
			return err
		}
		return recordTx(ctx, tx, audit.ExtractorUpdate, r, audit.Changed(c.changed()...))
	})
	if err != nil {
		return Extractor{}, fmt.Errorf("changing an extractor: %w", err)
	}
	a.s.db.Notify(trainTopic)
	return r.view(), nil
}

// check refuses values that no extractor can have.
func (c Change) check() error {
	if c.Name != nil {
		if err := checkName(*c.Name); err != nil {
			return err
		}
	}
	if c.Config != nil && !bytes.HasPrefix(bytes.TrimSpace(c.Config), []byte("{")) {
		return &Invalid{Field: "config", Message: "must be an object"}
	}
	return nil
}

func (r *row) apply(c Change) {
	if c.Name != nil {
		r.Name = *c.Name
	}
	if c.Scope != nil {
		r.Reference, r.Bot, r.Flow = c.Scope.Reference, c.Scope.Bot, c.Scope.Flow
	}
	if c.Config != nil && string(c.Config) != r.Config {
		r.Config = string(c.Config)
		r.Revision++
		r.Training = ""
	}
	if c.Enabled != nil {
		r.Enabled = *c.Enabled
	}
}

// check refuses an invalid extractor. It reports whether the extractor has to be
// trained.
func (r *row) check() error {
	if err := checkName(r.Name); err != nil {
		return err
	}
	if _, err := ready(r.view()); err != nil {
		return err
	}
	if (r.Flow == "") == (r.Reference == 0) {
		return &Invalid{Field: "scope", Message: "must name a reference, a bot or a flow"}
	}
	if r.Kind == Intent && r.Training == "" {
		r.Training, r.TrainingError, r.Claim, r.ClaimUS = Training, "", "", 0
	}
	return nil
}

func checkName(name string) error {
	if wrong := text.Check(name, 1, maxName); wrong != "" {
		return &Invalid{Field: "name", Message: wrong}
	}
	return nil
}

// Delete removes an extractor with its trained model.
func (a *Account) Delete(ctx context.Context, id string) error {
	err := a.s.db.InTx(ctx, func(tx *database.Tx) error {
		if err := a.changedTx(ctx, tx); err != nil {
			return err
		}
		r, err := a.row(ctx, tx, id, a.s.db.Dialect.ForUpdate())
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM extractor_item WHERE id = $1`, id); err != nil {
			return err
		}
		return recordTx(ctx, tx, audit.ExtractorDelete, r, nil)
	})
	if err != nil {
		return fmt.Errorf("deleting an extractor: %w", err)
	}
	return nil
}
