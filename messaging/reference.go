package messaging

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/trunklinehq/trunkline/internal/page"

	"github.com/trunklinehq/trunkline/internal/audit"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/text"
	"github.com/trunklinehq/trunkline/messaging/internal/recipient"
	"github.com/trunklinehq/trunkline/messaging/internal/session"
	"github.com/trunklinehq/trunkline/messaging/internal/settings"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

// Reference is one connection to a chat network, with its configuration.
type Reference struct {
	ID           provider.ReferenceID `json:"id"`
	Account      string               `json:"-"`
	Name         string               `json:"name"`
	Type         provider.Kind        `json:"type"`
	Settings     map[string]any       `json:"settings" doc:"The settings: strings, or objects of strings and booleans. Of secrets, only the last four characters are returned."`
	Session      Session              `json:"session"`
	Capabilities Capabilities         `json:"capabilities"`
	CreatedAt    UnixTime             `json:"createdAt"`
	UpdatedAt    UnixTime             `json:"updatedAt"`
}

// Capabilities says what a reference can do.
type Capabilities struct {
	Send      []string         `json:"send" nullable:"false" doc:"Types of messages that it sends unchanged."`
	Media     map[string]int64 `json:"media" doc:"Maximum size in bytes, by type."`
	Window    *int64           `json:"window" doc:"How long after the contact's last message free-form messages may be sent, in hours; null if always."`
	Templates bool             `json:"templates"`
	Groups    bool             `json:"groups"`
	Typing    bool             `json:"typing"`
	Receipts  bool             `json:"receipts"`
	Calls     bool             `json:"calls" doc:"Whether it can reject calls."`
}

// NewReference is what a reference is made from.
type NewReference struct {
	Name     string
	Type     provider.Kind
	Settings map[string]string // by [provider.Setting.Name], as [FlatSettings] returns them
}

// FlatSettings returns settings by [provider.Setting.Name]: {"calls": {"reject":
// true}} is "calls.reject": "true". null is "", which removes a setting, or all
// settings of an object. It returns an [*Invalid] for each value that is not a
// string, a boolean, null or an object of these, joined.
func FlatSettings(in map[string]any) (map[string]string, error) { return settings.Flat(in) }

// ReferenceChange holds what is to be changed; nil members stay.
type ReferenceChange struct {
	Name     *string
	Settings map[string]string // by [provider.Setting.Name]; merged: absent names stay
}

// References are the references of an account.
type References Account

// References returns the references of the account.
func (a *Account) References() *References { return (*References)(a) }

// Create adds a reference. It returns an [*Invalid] for each member that is
// missing, unknown or malformed, joined. Settings that the network knows are
// asked from it, for ten seconds at most.
func (a *References) Create(ctx context.Context, n NewReference) (Reference, error) {
	name, err := checkName(n.Name)
	p, ok := a.s.store.Kinds[n.Type]
	if !ok {
		return Reference{}, errors.Join(a.s.unknownKind(), err)
	}
	values, wrong := settings.Check(p, provider.Settings(n.Settings))
	if err := errors.Join(err, wrong); err != nil {
		return Reference{}, err
	}
	state := firstState(p)
	now := a.s.now()
	row := &store.Reference{Account: a.id, Name: name, Kind: n.Type, State: state, CreatedUS: database.Micros(now), UpdatedUS: database.Micros(now)}
	if state == StateConnected {
		row.ConnectedUS = row.CreatedUS
	}
	err = a.s.db.InTx(ctx, func(tx *database.Tx) error {
		if err := a.s.admit(ctx, tx, a.id, WantReference, 1); err != nil {
			return err
		}
		err := tx.GetContext(ctx, &row.ID, `INSERT INTO messaging_reference (account, name, kind, settings, callback_url, line_key, group_key, verify_hash,
			revision, state, proved, remote_id, remote_name, remote_biz, connected_us, inbound_us, ack_us, probe_us,
			error_code, error_message, error_us, error_retry_us, created_us, updated_us)
			VALUES ($1, $2, $3, '{}', '', '', '', '', 0, $4, FALSE, '', '', '', $5, 0, 0, 0, '', '', 0, 0, $6, $7) RETURNING id`,
			row.Account, row.Name, row.Kind, row.State, row.ConnectedUS, row.CreatedUS, row.UpdatedUS)
		if err != nil {
			return fmt.Errorf("storing a reference: %w", err)
		}
		if err := a.s.settings.Write(ctx, tx, p, row, values); err != nil { // sealing needs the id
			return err
		}
		return recordReferenceTx(ctx, tx, audit.ReferenceCreate, row, map[string]any{"type": n.Type})
	})
	if err != nil {
		return Reference{}, err
	}
	row = a.s.settings.Complete(ctx, row)
	a.s.referencesChanged()
	return a.s.view(row)
}

// CheckReference returns what [References.Create] would refuse, but for
// members that are empty and that it requires.
func (s *Service) CheckReference(n NewReference) error {
	var wrong error
	if n.Name != "" {
		_, wrong = checkName(n.Name)
	}
	p, ok := s.store.Kinds[n.Type]
	switch {
	case ok:
		_, err := settings.Check(p, provider.Settings(n.Settings))
		wrong = errors.Join(wrong, err)
	case n.Type != "":
		wrong = errors.Join(wrong, s.unknownKind())
	}
	return wrong
}

func (s *Service) unknownKind() error {
	var kinds []string
	for _, p := range s.opts.Providers {
		kinds = append(kinds, string(p.Kind()))
	}
	return &Invalid{Field: "type", Message: "must be one of " + strings.Join(kinds, ", ")}
}

// firstState is the state of a reference that was never started.
func firstState(p provider.Provider) State {
	_, connects := p.(provider.Connector)
	_, calls := p.(provider.Caller)
	switch {
	case connects:
		return StateStopped
	case calls:
		return StateStarting
	}
	return StateConnected
}

// Get returns one reference, or [ErrNotFound].
func (a *References) Get(ctx context.Context, id provider.ReferenceID) (Reference, error) {
	row, err := store.ReferenceOf(ctx, a.s.db, a.id, id)
	if err != nil {
		return Reference{}, err
	}
	return a.s.view(row)
}

// Exist reports whether the account has all references of ids, which names each
// once.
func (a *References) Exist(ctx context.Context, ids []int64) (bool, error) {
	in, args := a.s.db.Dialect.InNumbers("id", 2, ids)
	var found int
	q := `SELECT count(*) FROM messaging_reference WHERE account = $1 AND ` + in
	if err := a.s.db.GetContext(ctx, &found, q, append([]any{a.id}, args...)...); err != nil {
		return false, fmt.Errorf("looking for references: %w", err)
	}
	return found == len(ids), nil
}

// List lists the references of a kind, the oldest first; kind "" lists all.
func (a *References) List(ctx context.Context, kind provider.Kind, l List) (Page[Reference], error) {
	return a.ListAmong(ctx, kind, nil, l)
}

// ListAmong is [References.List] for the references of ids alone; nil: all.
func (a *References) ListAmong(ctx context.Context, kind provider.Kind, ids []int64, l List) (Page[Reference], error) {
	after, limit, err := position(l, 1)
	if err != nil {
		return Page[Reference]{}, err
	}
	p := store.Params{a.id}
	q := `SELECT ` + store.ReferenceColumns + ` FROM messaging_reference WHERE account = $1`
	if kind != "" {
		q += ` AND kind = ` + p.Add(kind)
	}
	if after != nil {
		q += ` AND id > ` + p.Add(after[0])
	}
	if ids != nil {
		in, args := a.s.db.Dialect.InNumbers("id", len(p)+1, ids)
		q, p = q+` AND `+in, append(p, args...)
	}
	var rows []*store.Reference
	if err := a.s.db.SelectContext(ctx, &rows, q+` ORDER BY id LIMIT `+p.Add(limit+1), p...); err != nil {
		return Page[Reference]{}, fmt.Errorf("listing references: %w", err)
	}
	out := page.CutAt(rows, limit, func(r *store.Reference) string { return page.Cursor{int64(r.ID)}.String() },
		func(r *store.Reference) *store.Reference { return r })
	return page.Map(out, a.s.view)
}

// Update changes a reference. New settings take effect with the next send
// or callback.
func (a *References) Update(ctx context.Context, id provider.ReferenceID, c ReferenceChange) (Reference, error) {
	var name *string
	var nameless error
	if c.Name != nil {
		n, err := checkName(*c.Name)
		name, nameless = &n, err
	}
	var row *store.Reference
	err := a.s.db.InTx(ctx, func(tx *database.Tx) (err error) {
		// The update comes first: it locks the row.
		if _, err = tx.ExecContext(ctx, `UPDATE messaging_reference SET name = COALESCE($1, name), updated_us = $2
			WHERE id = $3 AND account = $4`, name, database.Micros(a.s.now()), id, a.id); err != nil {
			return fmt.Errorf("updating a reference: %w", err)
		}
		if row, err = store.ReferenceOf(ctx, tx, a.id, id); err != nil {
			return err
		}
		wrong := nameless
		if len(c.Settings) > 0 {
			wrong = errors.Join(nameless, a.s.settings.Merge(ctx, tx, row, c.Settings))
		}
		if wrong != nil {
			return wrong
		}
		return recordReferenceTx(ctx, tx, audit.ReferenceUpdate, row, audit.Changed(c.changed()...))
	})
	if err != nil {
		return Reference{}, err
	}
	if len(c.Settings) > 0 {
		row = a.s.settings.Complete(ctx, row)
	}
	a.s.referencesChanged()
	return a.s.view(row)
}

// WithNumber returns the ids of the references whose network calls their number or page
// id, such as the phone number id of the Cloud API, the oldest first.
func (a *References) WithNumber(ctx context.Context, id string) ([]provider.ReferenceID, error) {
	refs := []provider.ReferenceID{}
	if id == "" {
		return refs, nil
	}
	err := a.s.db.SelectContext(ctx, &refs, `SELECT id FROM messaging_reference WHERE account = $1 AND line_key = $2 ORDER BY id`, a.id, id)
	if err != nil {
		return nil, fmt.Errorf("looking for the references of a number: %w", err)
	}
	return refs, nil
}

// WithChat returns the ids of the references that have a chat with an id, in any
// of the forms in which their kinds write it, the oldest first. It may return
// too many: [Account.Chat] says whether a reference accepts the id.
func (a *References) WithChat(ctx context.Context, chatID string) ([]provider.ReferenceID, error) {
	p := store.Params{a.id}
	var any []string
	for _, kind := range a.s.store.Kinds {
		names, err := recipient.Candidates(kind, chatID)
		if err != nil {
			return nil, err
		}
		of := p.Add(string(kind.Kind()))
		for _, n := range names {
			any = append(any, `r.kind = `+of+` AND x.kind = `+p.Add(string(n.Kind))+` AND x.alias = `+p.Add(n.Value))
		}
	}
	refs := []provider.ReferenceID{}
	if len(any) == 0 {
		return refs, nil
	}
	err := a.s.db.SelectContext(ctx, &refs, `SELECT DISTINCT x.reference FROM messaging_alias x JOIN messaging_reference r ON r.id = x.reference
		WHERE r.account = $1 AND (`+strings.Join(any, ` OR `)+`) ORDER BY x.reference`, p...)
	if err != nil {
		return nil, fmt.Errorf("looking for the references of a chat: %w", err)
	}
	return refs, nil
}

// view is a reference as its owner sees it.
func (s *Service) view(r *store.Reference) (Reference, error) {
	p, err := s.store.Provider(r.Kind)
	if err != nil {
		return Reference{}, err
	}
	values, err := s.settings.Open(p, r)
	if err != nil {
		return Reference{}, err
	}
	session := session.View(r, s.now())
	session.Health.Reports = settings.Inspect(p, values, r)
	return Reference{
		ID: r.ID, Account: r.Account, Name: r.Name, Type: r.Kind, Settings: settings.Nested(p, settings.Masked(p, values)),
		Session: session, Capabilities: capabilities(p.Capabilities()),
		CreatedAt: payload.TimeOf(r.CreatedUS), UpdatedAt: payload.TimeOf(r.UpdatedUS),
	}, nil
}

func capabilities(c provider.Capabilities) Capabilities {
	out := Capabilities{
		Send: c.Send, Media: c.Media, Templates: c.Templates, Groups: c.Groups, Typing: c.Typing, Receipts: c.Receipts, Calls: c.Calls,
	}
	if out.Send == nil {
		out.Send = []string{}
	}
	if out.Media == nil {
		out.Media = map[string]int64{}
	}
	if c.Window > 0 {
		h := int64(c.Window.Hours())
		out.Window = &h
	}
	return out
}

func checkName(name string) (string, error) {
	name = strings.TrimSpace(text.Sanitize(name))
	if name == "" || len(name) > 200 {
		return "", &Invalid{Field: "name", Message: "must have 1 to 200 characters"}
	}
	return name, nil
}
