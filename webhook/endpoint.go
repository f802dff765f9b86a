package webhook

import (
	"context"
	"fmt"
	"time"

	"github.com/trunklinehq/trunkline/internal/audit"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/webhook/internal/delivery"
)

// Mask replaces a header value wherever an endpoint is shown. In a change it
// keeps the present value.
const Mask = delivery.Mask // "••••"

// Header is sent with every delivery of an endpoint.
type Header = delivery.Header

// State says how an endpoint fares.
type State string

// The states of an endpoint.
const (
	StateOK       State = "ok"
	StatePaused   State = "paused"   // it is down: everything waits, and it is probed
	StateDisabled State = "disabled" // by its owner, by a 410, or because it was down for too long
)

// Endpoint is where the events of a scope are delivered.
type Endpoint struct {
	ID, Scope, URL       string
	Headers              []Header // values are [Mask]
	Events, Include      []string
	Format               string // [OwnFormat], or a name of [Options].Formats
	Enabled              bool
	State                State
	LastError            string // "" after a success
	CreatedAt, UpdatedAt time.Time

	// Secret signs deliveries ("whsec_…"). It is only set where it was just
	// made: for a new endpoint and after a rotation.
	Secret string
}

func stateOf(r *delivery.Endpoint) State {
	switch {
	case !r.Enabled:
		return StateDisabled
	case r.Pauses > 0:
		return StatePaused
	}
	return StateOK
}

// public is the row as its owner may see it.
func (d *Dispatcher) public(r *delivery.Endpoint) (Endpoint, error) {
	headers := []Header{}
	if err := d.sealer.OpenHeaders(r, &headers); err != nil {
		return Endpoint{}, err
	}
	for i := range headers {
		headers[i].Value = Mask
	}
	return Endpoint{
		ID: r.ID, Scope: r.Scope, URL: r.URL, Headers: headers, Events: delivery.Unlist(r.Events), Include: delivery.Unlist(r.Include), Format: r.Format,
		Enabled: r.Enabled, State: stateOf(r), LastError: r.LastError,
		CreatedAt: database.Time(r.Created), UpdatedAt: database.Time(r.Updated),
	}, nil
}

// ListenersTx returns the enabled endpoints of the account, of all its scopes,
// that ask for a type of event, oldest first. With [Event.Endpoint] a program
// tells each of them, or some, what concerns the account and no scope.
func (a *Account) ListenersTx(ctx context.Context, on Tx, eventType string) ([]Endpoint, error) {
	tx, err := a.d.db.Join(on)
	if err != nil {
		return nil, err
	}
	var rows []delivery.Endpoint
	err = tx.SelectContext(ctx, &rows, `SELECT `+delivery.EndpointColumns+`
		FROM webhook_endpoint WHERE account = $1 AND enabled ORDER BY created_us, id`, a.id)
	if err != nil {
		return nil, fmt.Errorf("listing listeners: %w", err)
	}
	out := []Endpoint{}
	for i := range rows {
		if !rows[i].Wants(eventType, "") || !a.d.formats.Has(rows[i].Format, eventType, nil) {
			continue
		}
		ep, err := a.d.public(&rows[i])
		if err != nil {
			return nil, err
		}
		out = append(out, ep)
	}
	return out, nil
}

// Test sends ev to an endpoint now, whatever the endpoint's state and filter,
// and returns what it answered. The attempt is in the log, with sequence 0,
// and is not retried.
func (a *Account) Test(ctx context.Context, id string, ev Event) (Attempt, error) {
	d := a.d
	row, err := a.row(ctx, d.db, `id = $2`, []any{id}, "")
	if err != nil {
		return Attempt{}, fmt.Errorf("testing endpoint %s: %w", id, err)
	}
	t, err := d.sender.Target(row)
	if err != nil {
		return Attempt{}, err
	}
	ev.Account, ev.Scope = row.Account, row.Scope
	if ev, err = d.validate(ev); err != nil {
		return Attempt{}, fmt.Errorf("testing endpoint %s: %w", id, err)
	}
	r, err := d.sender.Test(ctx, t, ev.loaded())
	if err != nil {
		return Attempt{}, fmt.Errorf("testing endpoint %s: %w", id, err)
	}
	err = d.db.Write(context.WithoutCancel(ctx), func(tx *database.Tx) error {
		insert := insertEvents + " VALUES " + d.db.Dialect.Values(1, len(eventTypes), 1) + " RETURNING number"
		if err := tx.GetContext(ctx, &r.Event.Number, insert, ev.row()...); err != nil {
			return err
		}
		if err := d.sender.RecordTestTx(ctx, tx, r); err != nil {
			return err
		}
		return row.RecordTx(ctx, tx, audit.WebhookTest, nil)
	})
	if err != nil {
		return Attempt{}, fmt.Errorf("storing a test of endpoint %s: %w", id, err)
	}
	return r.Attempt, nil
}

// reseal seals again what a retired secret has sealed, so that it can be
// dropped. It fails when something does not open.
func (d *Dispatcher) reseal(ctx context.Context) error {
	var rows []delivery.Endpoint
	err := d.db.SelectContext(ctx, &rows, `SELECT `+delivery.EndpointColumns+` FROM webhook_endpoint
		WHERE headers NOT LIKE $1 OR secret NOT LIKE $1 OR (old_secret <> '' AND old_secret NOT LIKE $1)`, d.sealer.Keys.Prefix()+"%")
	if err != nil {
		return fmt.Errorf("looking for what is sealed under a retired secret: %w", err)
	}
	for i := range rows {
		if err := d.resealEndpoint(ctx, &rows[i]); err != nil {
			return err
		}
	}
	return nil
}

func (d *Dispatcher) resealEndpoint(ctx context.Context, r *delivery.Endpoint) error {
	if err := d.sealer.Reseal(r); err != nil {
		return err
	}
	err := d.db.InTx(ctx, func(tx *database.Tx) error {
		// A change of the row meanwhile has sealed it too.
		_, err := tx.ExecContext(ctx, `UPDATE webhook_endpoint SET headers = $1, secret = $2, old_secret = $3 WHERE id = $4 AND revision = $5`,
			r.Headers, r.Secret, r.OldSecret, r.ID, r.Revision)
		return err
	})
	if err != nil {
		return fmt.Errorf("sealing endpoint %s again: %w", r.ID, err)
	}
	return nil
}
