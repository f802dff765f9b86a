package webhook

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/trunklinehq/trunkline/internal/audit"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/webhook/internal/delivery"
)

// rotation is how long a retired secret signs together with its successor.
const rotation = 24 * time.Hour

// Account is the share of a [Dispatcher] that belongs to one account. What
// belongs to another is not found.
type Account struct {
	d  *Dispatcher
	id string
}

// For returns the dispatcher for one account.
func (d *Dispatcher) For(account string) *Account { return &Account{d: d, id: account} }

// Settings describe an endpoint. Of one that exists, nil means unchanged.
type Settings struct {
	Scope, URL string
	Headers    []Header // nil: none
	Events     []string // names of types, or order.* and *; nil: all that are not opt-in
	Include    []string // "extracted"; nil: nothing
	Format     string   // [OwnFormat], or a name of [Options].Formats; "": our own, or unchanged
	Secret     string   // "whsec_" + base64 of 24..64 bytes; "": made
}

// Change says what is to become of an endpoint; what is nil stays.
type Change struct {
	Headers      []Header
	Events       []string
	Include      []string
	Format       *string
	Enabled      *bool
	RotateSecret bool // the old secret signs together with the new one for 24 h
}

// Put adds an endpoint, or updates the one of the same scope and URL: there
// is one for each. A new endpoint is returned with its secret, created true.
// One that exists is enabled, and tried at once if it was paused. A setting
// that is refused is an [*Invalid].
func (a *Account) Put(ctx context.Context, s Settings) (ep Endpoint, created bool, err error) {
	if err := a.d.checkURL(s.URL); err != nil {
		return Endpoint{}, false, err
	}
	enabled := true
	ch := change{Change: Change{Headers: s.Headers, Events: s.Events, Include: s.Include, Enabled: &enabled}, secret: s.Secret}
	if s.Format != "" {
		ch.Format = &s.Format
	}
	if err := ch.check(a.d); err != nil {
		return Endpoint{}, false, err
	}
	fresh, secret, err := a.build(s, ch)
	if err != nil {
		return Endpoint{}, false, err
	}
	err = a.d.db.InTx(ctx, func(tx *database.Tx) error {
		row := *fresh
		if created, err = a.insertTx(ctx, tx, &row); err == nil && !created {
			err = a.changeTx(ctx, tx, `scope = $2 AND url = $3`, []any{s.Scope, s.URL}, ch, &row)
		}
		if err == nil && created && hasMask(s.Headers) >= 0 {
			err = invalid(fmt.Sprintf("headers[%d].value", hasMask(s.Headers)), "is masked: give the value itself")
		}
		if err == nil {
			ep, err = a.d.public(&row)
		}
		if err == nil {
			err = recordPutTx(ctx, tx, &row, created, &ch)
		}
		return err
	})
	if err != nil {
		return Endpoint{}, false, fmt.Errorf("storing an endpoint: %w", err)
	}
	if created {
		ep.Secret = secret
	}
	return ep, created, nil
}

// build makes the row of a new endpoint.
func (a *Account) build(s Settings, ch change) (*delivery.Endpoint, string, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return nil, "", fmt.Errorf("making an id: %w", err)
	}
	now := database.Micros(a.d.now())
	row := &delivery.Endpoint{ID: id.String(), Account: a.id, Scope: s.Scope, URL: s.URL, Format: OwnFormat, Created: now}
	events, err := types(a.d.opts.Types).filter(s.Events)
	if err != nil {
		return nil, "", err
	}
	row.Events = delivery.List(events)
	if ch.Headers == nil {
		ch.Headers = []Header{}
	}
	if ch.secret == "" {
		ch.secret = delivery.NewSecret()
	}
	return row, ch.secret, a.d.apply(row, ch)
}

// insertTx reports whether the endpoint was new.
func (a *Account) insertTx(ctx context.Context, tx *database.Tx, row *delivery.Endpoint) (bool, error) {
	res, err := tx.ExecContext(ctx, `INSERT INTO webhook_endpoint (`+delivery.EndpointColumns+`) VALUES `+
		a.d.db.Dialect.Values(1, delivery.EndpointWidth, 1)+` ON CONFLICT DO NOTHING`, row.Values()...)
	if err != nil {
		return false, err
	}
	if n, err := res.RowsAffected(); n == 0 || err != nil {
		return false, err
	}
	var n int
	if err := tx.GetContext(ctx, &n, `SELECT count(*) FROM webhook_endpoint WHERE account = $1 AND scope = $2`, a.id, row.Scope); err != nil {
		return false, err
	}
	if n > maxEndpoints {
		return false, invalid("url", "would exceed the limit of %d webhooks of a reference: remove one first", maxEndpoints)
	}
	return true, nil
}

// Endpoints returns those of a scope, oldest first.
func (a *Account) Endpoints(ctx context.Context, scope string) ([]Endpoint, error) {
	var rows []delivery.Endpoint
	err := a.d.db.SelectContext(ctx, &rows, `SELECT `+delivery.EndpointColumns+`
		FROM webhook_endpoint WHERE account = $1 AND scope = $2 ORDER BY created_us, id`, a.id, scope)
	if err != nil {
		return nil, fmt.Errorf("listing endpoints: %w", err)
	}
	out := make([]Endpoint, len(rows))
	for i := range rows {
		if out[i], err = a.d.public(&rows[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Endpoint returns one endpoint, or [ErrNotFound].
func (a *Account) Endpoint(ctx context.Context, id string) (Endpoint, error) {
	row, err := a.row(ctx, a.d.db, `id = $2`, []any{id}, "")
	if err != nil {
		return Endpoint{}, fmt.Errorf("reading endpoint %s: %w", id, err)
	}
	return a.d.public(row)
}

// Update changes an endpoint, which is then tried at once if it was paused.
// Errors are [ErrNotFound] and [*Invalid].
func (a *Account) Update(ctx context.Context, id string, c Change) (Endpoint, error) {
	ch := change{Change: c}
	if err := ch.check(a.d); err != nil {
		return Endpoint{}, err
	}
	if c.RotateSecret {
		ch.secret = delivery.NewSecret()
	}
	var ep Endpoint
	err := a.d.db.InTx(ctx, func(tx *database.Tx) error {
		var row delivery.Endpoint
		err := a.changeTx(ctx, tx, `id = $2`, []any{id}, ch, &row)
		if err == nil {
			ep, err = a.d.public(&row)
		}
		if err == nil {
			err = row.RecordTx(ctx, tx, audit.WebhookUpdate, audit.Changed(ch.changed()...))
		}
		return err
	})
	if err != nil {
		return Endpoint{}, fmt.Errorf("changing endpoint %s: %w", id, err)
	}
	ep.Secret = ch.secret
	return ep, nil
}

// Delete removes an endpoint and what waits for it. Its log stays.
func (a *Account) Delete(ctx context.Context, id string) error {
	err := a.d.db.InTx(ctx, func(tx *database.Tx) error {
		row, err := a.row(ctx, tx, `id = $2`, []any{id}, "")
		if err != nil {
			return err
		}
		if err := a.deleteTx(ctx, tx, id); err != nil {
			return err
		}
		return row.RecordTx(ctx, tx, audit.WebhookDelete, nil)
	})
	if err != nil {
		return fmt.Errorf("deleting endpoint %s: %w", id, err)
	}
	return nil
}

// deleteTx locks the endpoint, its partitions and its pause in the order in which the
// workers do.
func (a *Account) deleteTx(ctx context.Context, tx *database.Tx, id string) error {
	if _, err := tx.ExecContext(ctx, `DELETE FROM webhook_endpoint WHERE account = $1 AND id = $2`, a.id, id); err != nil {
		return err
	}
	if err := a.d.queue.DropTx(ctx, tx, id); err != nil {
		return err
	}
	a.d.sender.Breakers.Clear(id)
	return a.d.queue.ResumeTx(ctx, tx, id)
}

// row reads one endpoint of the account; where begins at $2.
func (a *Account) row(ctx context.Context, q database.Reader, where string, args []any, lock string) (*delivery.Endpoint, error) {
	var row delivery.Endpoint
	err := q.GetContext(ctx, &row, `SELECT `+delivery.EndpointColumns+` FROM webhook_endpoint WHERE account = $1 AND `+where+lock,
		append([]any{a.id}, args...)...)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, ErrNotFound
	}
	return &row, err
}
