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
	byOwner := map[Owner][]Endpoint{}
	var owners []any
	for _, a := range to {
		if _, known := byOwner[a.Owner]; !known {
			byOwner[a.Owner] = nil
			owners = append(owners, a.Account, a.Scope)
		}
	}
	if len(owners) == 0 {
		return nil, nil
	}
	rows, err := database.SelectRows[Endpoint](ctx, r.DB, tx, database.Rows{
		Before: `SELECT id, account, scope, events, include, format FROM webhook_endpoint WHERE (account, scope) IN (`,
		After:  `) AND enabled ORDER BY id`, Types: []string{"TEXT", "TEXT"}, Values: owners, Set: true,
	})
	for _, row := range rows {
		o := Owner{row.Account, row.Scope}
		byOwner[o] = append(byOwner[o], row)
	}
	return byOwner, err
}

// OfScope returns the ids of all endpoints of a scope, disabled ones among them.
func (r *Router) OfScope(ctx context.Context, tx *database.Tx, scope string) ([]string, error) {
	var ids []string
	if err := tx.SelectContext(ctx, &ids, `SELECT id FROM webhook_endpoint WHERE scope = $1 ORDER BY id`, scope); err != nil {
		return nil, fmt.Errorf("reading the endpoints of a scope: %w", err)
	}
	return ids, nil
}
