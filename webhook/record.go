package webhook

import (
	"context"
	"net/url"
	"strconv"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/audit"
)

// recordTx records what was done to an endpoint. Of its URL only the host is
// named: the rest may hold a secret. A scope that is a number is a reference.
func (row *endpointRow) recordTx(ctx context.Context, tx *sqlx.Tx, action audit.Action, details map[string]any) error {
	reference, _ := strconv.ParseInt(row.Scope, 10, 64) // else there is none
	e := audit.Entry{Action: action, ObjectID: row.ID, Reference: reference, Details: details}
	if u, err := url.Parse(row.URL); err == nil {
		e.ObjectName = u.Host
	}
	return audit.RecordTx(ctx, tx, e)
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
func recordPutTx(ctx context.Context, tx *sqlx.Tx, row *endpointRow, created bool, c *change) error {
	if created {
		return row.recordTx(ctx, tx, audit.WebhookCreate, nil)
	}
	return row.recordTx(ctx, tx, audit.WebhookUpdate, audit.Changed(c.changed()...))
}

// recordDisabledTx records that an attempt has disabled its endpoint.
func (r *result) recordDisabledTx(ctx context.Context, tx *sqlx.Tx) error {
	ctx = audit.As(ctx, audit.Actor{Account: r.ep.Account, Kind: audit.System})
	details := audit.Changed("enabled")
	details["enabled"] = false
	return r.ep.recordTx(ctx, tx, audit.WebhookUpdate, details)
}

// recordTx records a replay: of an endpoint, or of single deliveries.
func (r *Replay) recordTx(ctx context.Context, tx *sqlx.Tx) error {
	e := audit.Entry{Action: audit.WebhookReplay, ObjectID: r.Endpoint}
	if len(r.IDs) > 0 {
		e.ObjectID, e.Details = "", map[string]any{"deliveries": len(r.IDs)}
	}
	return audit.RecordTx(ctx, tx, e)
}
