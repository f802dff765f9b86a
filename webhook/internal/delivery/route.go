package delivery

import (
	"context"
	"fmt"

	"github.com/trunklinehq/trunkline/internal/database"
)

// Router finds the endpoints of events.
type Router struct {
	DB      *database.DB
	Formats Formats
}

// Addressed is an event that is published.
type Addressed struct {
	Address
	Body []byte
}

// Recipients returns the ids of the endpoints that want an event, in order.
func (r *Router) Recipients(ev Addressed, endpoints map[Owner][]Endpoint) (ids []string) {
	formatted := map[string]bool{}
	for i := range endpoints[ev.Owner] {
		ep := &endpoints[ev.Owner][i]
		if !ep.Wants(ev.Type, ev.Audience) {
			continue
		}
		has, known := formatted[ep.Format]
		if !known {
			has = ep.Format == OwnFormat || r.Formats.Has(ep.Format, ev.Type, ev.Body)
			formatted[ep.Format] = has
		}
		if has {
			ids = append(ids, ep.ID)
		}
	}
	return ids
}

// Owner is whose endpoints get an event.
type Owner struct{ Account, Scope string }

// Address says which endpoints get an event.
type Address struct {
	Owner
	Type, Audience string
}

// Listeners returns the enabled endpoints of the owners.
func (r *Router) Listeners(ctx context.Context, tx *database.Tx, to []Address) (map[Owner][]Endpoint, error) {
	var owners []any
	known := map[Owner]bool{}
	for _, a := range to {
		if !known[a.Owner] {
			known[a.Owner] = true
			owners = append(owners, a.Account, a.Scope)
		}
	}
	rows, err := database.SelectRows[Endpoint](ctx, r.DB, tx, database.Rows{
		Before: `SELECT id, account, scope, events, include, format FROM webhook_endpoint WHERE (account, scope) IN (`,
		After:  `) AND enabled ORDER BY id`, Types: []string{"TEXT", "TEXT"}, Values: owners, Set: true,
	})
	byOwner := map[Owner][]Endpoint{}
	for _, row := range rows {
		o := Owner{row.Account, row.Scope}
		byOwner[o] = append(byOwner[o], row)
	}
	return byOwner, err
}

// ListenersOf returns the enabled endpoints of the owners, and which of the keys have
// events that wait. There is a key for each address.
func (r *Router) ListenersOf(ctx context.Context, tx *database.Tx, to []Address, keys []string) (byOwner map[Owner][]Endpoint, waiting map[string]bool, err error) {
	var values []any
	known := map[[3]string]bool{}
	for i, a := range to {
		if row := [3]string{a.Account, a.Scope, keys[i]}; !known[row] {
			known[row] = true
			values = append(values, a.Account, a.Scope, keys[i])
		}
	}
	type found struct {
		Endpoint
		Key string `db:"order_key"` // of events that wait, instead of an endpoint
	}
	rows, err := database.SelectRows[found](ctx, r.DB, tx, database.Rows{
		Before: `WITH k (account, scope, order_key) AS (`,
		After: `) SELECT id, account, scope, events, include, format, '' AS order_key
			FROM webhook_endpoint WHERE (account, scope) IN (SELECT account, scope FROM k) AND enabled
			UNION ALL SELECT DISTINCT '', '', '', '', '', '', order_key FROM webhook_deferred WHERE order_key IN (SELECT order_key FROM k)
			ORDER BY id`,
		Types: []string{"TEXT", "TEXT", "TEXT"}, Values: values, Set: true,
	})
	byOwner, waiting = map[Owner][]Endpoint{}, map[string]bool{}
	endpoints := map[string]bool{} // many events are asked for in parts
	for _, row := range rows {
		if row.ID == "" {
			waiting[row.Key] = true
		} else if o := (Owner{row.Account, row.Scope}); !endpoints[row.ID] {
			endpoints[row.ID] = true
			byOwner[o] = append(byOwner[o], row.Endpoint)
		}
	}
	return byOwner, waiting, err
}

// OfScope returns the ids of all endpoints of a scope, disabled ones among them.
func (r *Router) OfScope(ctx context.Context, tx *database.Tx, scope string) ([]string, error) {
	var ids []string
	if err := tx.SelectContext(ctx, &ids, `SELECT id FROM webhook_endpoint WHERE scope = $1 ORDER BY id`, scope); err != nil {
		return nil, fmt.Errorf("reading the endpoints of a scope: %w", err)
	}
	return ids, nil
}
