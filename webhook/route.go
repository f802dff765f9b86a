package webhook

import (
	"context"
	"fmt"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/lane"
)

// route hands each event to the endpoints that want it, and forgets events
// that nobody wants. It runs in the router's transaction.
func (d *Dispatcher) route(ctx context.Context, tx *sqlx.Tx, es []lane.Entry) ([]lane.Entry, error) {
	events, err := d.routedEvents(ctx, tx, es)
	if err != nil {
		return nil, fmt.Errorf("reading events to route: %w", err)
	}
	endpoints, err := d.listeners(ctx, tx, events)
	if err != nil {
		return nil, fmt.Errorf("reading endpoints to route to: %w", err)
	}
	var out []lane.Entry
	var unwanted []any
	for _, e := range es {
		ev, ok := events[e.Subject]
		if !ok { // erased meanwhile
			continue
		}
		before := len(out)
		for i := range endpoints[ev.owner] {
			if ep := &endpoints[ev.owner][i]; ep.wants(ev.Type, ev.Audience) {
				out = append(out, lane.Entry{Consumer: ep.ID, Key: e.Key, Subject: e.Subject})
			}
		}
		if len(out) == before {
			unwanted = append(unwanted, e.Subject)
		}
	}
	if len(unwanted) > 0 {
		if _, err := tx.ExecContext(ctx, `DELETE FROM webhook_event WHERE id IN `+d.among(len(unwanted)), unwanted...); err != nil {
			return nil, fmt.Errorf("deleting events that nobody wants: %w", err)
		}
	}
	return out, nil
}

// owner is whose endpoints get an event.
type owner struct{ Account, Scope string }

type routedEvent struct {
	ID string
	owner
	Type, Audience string
}

func (d *Dispatcher) routedEvents(ctx context.Context, tx *sqlx.Tx, es []lane.Entry) (map[string]routedEvent, error) {
	ids := make([]any, len(es))
	for i, e := range es {
		ids[i] = e.Subject
	}
	var rows []routedEvent
	err := tx.SelectContext(ctx, &rows, `SELECT id, account, scope, type, audience FROM webhook_event WHERE id IN `+d.among(len(ids)), ids...)
	byID := make(map[string]routedEvent, len(rows))
	for _, r := range rows {
		byID[r.ID] = r
	}
	return byID, err
}

// listeners returns the enabled endpoints of the events' owners.
func (d *Dispatcher) listeners(ctx context.Context, tx *sqlx.Tx, events map[string]routedEvent) (map[owner][]endpointRow, error) {
	var scopes []any
	known := map[string]bool{}
	for _, e := range events {
		if !known[e.Scope] {
			known[e.Scope] = true
			scopes = append(scopes, e.Scope)
		}
	}
	if len(scopes) == 0 {
		return nil, nil
	}
	var rows []endpointRow
	err := tx.SelectContext(ctx, &rows, `SELECT id, account, scope, events, include FROM webhook_endpoint
		WHERE scope IN `+d.among(len(scopes))+` AND enabled ORDER BY id`, scopes...)
	byOwner := map[owner][]endpointRow{}
	for _, r := range rows {
		o := owner{r.Account, r.Scope}
		byOwner[o] = append(byOwner[o], r)
	}
	return byOwner, err
}

// among is the list of n parameters after IN.
func (d *Dispatcher) among(n int) string { return d.db.Dialect.Values(1, n, 1) }
