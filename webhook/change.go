package webhook

import (
	"context"
	"fmt"
	"strings"

	"github.com/trunklinehq/trunkline/internal/audit"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/webhook/internal/delivery"
)

// change is what is to become of an endpoint, checked.
type change struct {
	Change
	secret string // "": stays
}

// check refuses settings by name.
func (c *change) check(d *Dispatcher) error {
	if err := d.checkHeaders(c.Headers); err != nil {
		return err
	}
	if c.Events != nil {
		if _, err := types(d.opts.Types).filter(c.Events); err != nil {
			return err
		}
	}
	if _, err := checkInclude(c.Include); err != nil {
		return err
	}
	if c.Format != nil {
		if err := d.formats.check(*c.Format); err != nil {
			return err
		}
	}
	if c.secret != "" {
		if _, err := parseSecret(c.secret); err != nil {
			return err
		}
	}
	return nil
}

// changeTx applies c to the endpoint that where names, and leaves it in row.
func (a *Account) changeTx(ctx context.Context, tx *database.Tx, where string, args []any, c change, row *delivery.Endpoint) error {
	lock := ""
	if a.d.db.Dialect == database.Postgres {
		lock = " FOR UPDATE"
	}
	found, err := a.row(ctx, tx, where, args, lock)
	if err != nil {
		return err
	}
	*row = *found
	if err := a.d.apply(row, c); err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `UPDATE webhook_endpoint SET headers = $1, secret = $2, old_secret = $3, old_until_us = $4,
		events = $5, include = $6, enabled = $7, revision = $8, pauses = $9, down_us = $10, last_error = $11, updated_us = $12, format = $13
		WHERE id = $14`, row.Headers, row.Secret, row.OldSecret, row.OldUntil, row.Events, row.Include, row.Enabled,
		row.Revision, row.Pauses, row.Down, row.LastError, row.Updated, row.Format, row.ID)
	if err != nil {
		return err
	}
	if err := a.d.dropDeferredTx(ctx, tx, found, row.Include); err != nil {
		return err
	}
	// A change is a reason to try again; of a disabled endpoint, to clear what waits.
	return a.d.queue.ResumeTx(ctx, tx, row.ID)
}

// apply puts c into row.
func (d *Dispatcher) apply(row *delivery.Endpoint, c change) error {
	if err := d.applyHeaders(row, c.Headers); err != nil {
		return err
	}
	if c.Events != nil {
		events, err := types(d.opts.Types).filter(c.Events)
		if err != nil {
			return err
		}
		row.Events = delivery.List(events)
	}
	if c.Include != nil {
		include, err := checkInclude(c.Include)
		if err != nil {
			return err
		}
		row.Include = delivery.List(include)
	}
	if err := d.applySecret(row, c.secret); err != nil {
		return err
	}
	if c.Format != nil {
		row.Format = *c.Format
	}
	if c.Enabled != nil {
		row.Enabled = *c.Enabled
	}
	if row.Enabled {
		row.Pauses, row.Down, row.LastError = 0, 0, ""
	}
	row.Revision++
	row.Updated = database.Micros(d.now())
	return nil
}

// applyHeaders replaces the headers; a masked value stays what it was.
func (d *Dispatcher) applyHeaders(row *delivery.Endpoint, headers []Header) error {
	if headers == nil {
		return nil
	}
	headers = append([]Header{}, headers...)
	if first := hasMask(headers); first >= 0 && row.Headers != "" {
		var old []Header
		if err := d.sealer.OpenHeaders(row, &old); err != nil {
			return err
		}
		if err := unmask(headers, old); err != nil {
			return err
		}
	}
	return d.sealer.SealHeaders(row, headers)
}

// hasMask returns the index of the first masked value, −1 if there is none.
func hasMask(headers []Header) int {
	for i, h := range headers {
		if h.Value == Mask {
			return i
		}
	}
	return -1
}

// unmask takes masked values from old: the nth of a name from its nth.
func unmask(headers, old []Header) error {
	values := map[string][]string{}
	for _, h := range old {
		name := strings.ToLower(h.Key)
		values[name] = append(values[name], h.Value)
	}
	for i, h := range headers {
		name := strings.ToLower(h.Key)
		stored := values[name]
		if len(stored) > 0 {
			values[name] = stored[1:]
		}
		if h.Value != Mask {
			continue
		}
		if len(stored) == 0 {
			return invalid(fmt.Sprintf("headers[%d].value", i), "is masked, but no value is stored: give the value itself")
		}
		headers[i].Value = stored[0]
	}
	return nil
}

// applySecret sets a new secret and retires the one before it.
func (d *Dispatcher) applySecret(row *delivery.Endpoint, secret string) error {
	if secret == "" {
		return nil
	}
	if row.Secret != "" {
		current, err := d.sealer.OpenSecret(row, row.Secret)
		if err != nil {
			return err
		}
		if current == secret {
			return nil
		}
		row.OldSecret, row.OldUntil = row.Secret, database.Micros(d.now().Add(rotation))
	}
	d.sealer.SealSecret(row, secret)
	return nil
}

// changed are the names of what a change has.
func (c *change) changed() []string {
	var names []string
	for _, m := range []struct {
		name string
		is   bool
	}{
		{"headers", c.Headers != nil},
		{"events", c.Events != nil},
		{"include", c.Include != nil},
		{"format", c.Format != nil},
		{"enabled", c.Enabled != nil},
		{"secret", c.secret != ""},
	} {
		if m.is {
			names = append(names, m.name)
		}
	}
	return names
}

// recordPutTx records an endpoint that was added, or else changed by c.
func recordPutTx(ctx context.Context, tx *database.Tx, row *delivery.Endpoint, created bool, c *change) error {
	if created {
		return row.RecordTx(ctx, tx, audit.WebhookCreate, nil)
	}
	return row.RecordTx(ctx, tx, audit.WebhookUpdate, audit.Changed(c.changed()...))
}

// recordTx records a replay: of an endpoint, or of single deliveries.
func (r *Replay) recordTx(ctx context.Context, tx *database.Tx) error {
	e := audit.Entry{Action: audit.WebhookReplay, ObjectID: r.Endpoint}
	if len(r.IDs) > 0 {
		e.ObjectID, e.Details = "", map[string]any{"deliveries": len(r.IDs)}
	}
	return audit.RecordTx(ctx, tx, e)
}
