package delivery

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/queue"
)

// Router finds the endpoints of events.
type Router struct {
	DB      *database.DB
	Formats Formats
}

// Route hands each event to the endpoints that want it, and forgets events
// that no endpoint wants. It runs in the router's transaction.
func (r *Router) Route(ctx context.Context, tx *database.Tx, es []queue.JobArgs) ([]queue.JobArgs, error) {
	addresses := make([]Address, len(es))
	for i, e := range es {
		addresses[i] = parseNote(e.Metadata)
	}
	endpoints, err := r.Listeners(ctx, tx, addresses)
	if err != nil {
		return nil, fmt.Errorf("reading endpoints to route to: %w", err)
	}
	formattable, err := r.formattable(ctx, tx, es, addresses, endpoints)
	if err != nil {
		return nil, err
	}
	merging, err := r.mergeRoutes(ctx, tx, es, addresses)
	if err != nil {
		return nil, err
	}
	out := make([]queue.JobArgs, 0, len(es))
	var unwanted []int64
	for i, e := range es {
		before, to := len(out), addresses[i]
		if e.Merged != "" {
			for _, endpoint := range merging[to.Scope] {
				out = append(out, queue.JobArgs{Subscriber: endpoint, Key: e.Key, Merged: e.Merged})
			}
			continue
		}
		number, _ := ParseSubject(e.Subject, 0)
		for j := range endpoints[to.Owner] {
			ep := &endpoints[to.Owner][j]
			if ep.Wants(to.Type, to.Audience) && (ep.Format == OwnFormat || formattable[formatted{number, ep.Format}]) {
				out = append(out, queue.JobArgs{Subscriber: ep.ID, Key: e.Key, Subject: e.Subject, Traceparent: e.Traceparent})
			}
		}
		if len(out) == before {
			unwanted = append(unwanted, number)
		}
	}
	if len(unwanted) > 0 {
		where, args := r.DB.Dialect.InNumbers("number", 1, unwanted)
		if _, err := tx.ExecContext(ctx, `DELETE FROM webhook_event WHERE `+where, args...); err != nil {
			return nil, fmt.Errorf("deleting events that no endpoint wants: %w", err)
		}
	}
	return out, nil
}

// formatted is an event, by its number, in another format than its own.
type formatted struct {
	number int64
	format string
}

// bodiesAtOnce is how many bodies are held at a time.
const bodiesAtOnce = 200

// formattable says which events there are in the formats in which endpoints
// want them: that may depend on their bodies.
func (r *Router) formattable(
	ctx context.Context, tx *database.Tx, es []queue.JobArgs, addresses []Address, endpoints map[Owner][]Endpoint,
) (map[formatted]bool, error) {
	wanted := map[int64][]formatted{}
	var numbers []int64
	kinds := map[int64]string{}
	for i, e := range es {
		to := addresses[i]
		number, _ := ParseSubject(e.Subject, 0)
		for _, ep := range endpoints[to.Owner] {
			if ep.Format != OwnFormat && ep.Wants(to.Type, to.Audience) {
				wanted[number] = append(wanted[number], formatted{number, ep.Format})
			}
		}
		if len(wanted[number]) > 0 {
			numbers, kinds[number] = append(numbers, number), to.Type
		}
	}
	out := map[formatted]bool{}
	for part := range slices.Chunk(numbers, bodiesAtOnce) {
		bodies, err := r.bodiesTx(ctx, tx, part)
		if err != nil {
			return nil, err
		}
		for _, number := range part {
			for _, f := range wanted[number] {
				if _, known := out[f]; !known {
					out[f] = r.Formats.Has(f.format, kinds[number], bodies[number])
				}
			}
		}
	}
	return out, nil
}

// Owner is whose endpoints get an event.
type Owner struct{ Account, Scope string }

// Address says which endpoints get an event.
type Address struct {
	Owner
	Type, Audience string
}

// Note is the address as the metadata of a job, for the router: it need not read
// the event then. Each part is behind its length.
func (a Address) Note() string {
	var b []byte
	for _, s := range []string{a.Account, a.Scope, a.Type, a.Audience} {
		b = strconv.AppendInt(b, int64(len(s)), 10)
		b = append(b, ':')
		b = append(b, s...)
	}
	return string(b)
}

// parseNote is the address of a note.
func parseNote(note string) (a Address) {
	for _, s := range []*string{&a.Account, &a.Scope, &a.Type, &a.Audience} {
		digits, rest, _ := strings.Cut(note, ":")
		n, err := strconv.Atoi(digits)
		if err != nil || n < 0 || n > len(rest) {
			return Address{}
		}
		*s, note = rest[:n], rest[n:]
	}
	return a
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
	list, args := r.DB.Dialect.List(1, []string{"TEXT", "TEXT"}, owners)
	var rows []Endpoint
	err := tx.SelectContext(ctx, &rows, `SELECT id, account, scope, events, include, format FROM webhook_endpoint
		WHERE (account, scope) IN (`+list+`) AND enabled ORDER BY id`, args...)
	for _, row := range rows {
		o := Owner{row.Account, row.Scope}
		byOwner[o] = append(byOwner[o], row)
	}
	return byOwner, err
}

// mergeRoutes are the endpoints that may have deliveries of the keys of merges,
// disabled ones among them, by their scopes.
func (r *Router) mergeRoutes(ctx context.Context, tx *database.Tx, es []queue.JobArgs, addresses []Address) (map[string][]string, error) {
	var scopes []any
	byScope := map[string][]string{}
	for i, e := range es {
		if _, known := byScope[addresses[i].Scope]; e.Merged != "" && !known {
			byScope[addresses[i].Scope] = nil
			scopes = append(scopes, addresses[i].Scope)
		}
	}
	if len(scopes) == 0 {
		return nil, nil
	}
	var rows []Endpoint
	in, args := r.DB.Dialect.In("scope", 1, scopes)
	if err := tx.SelectContext(ctx, &rows, `SELECT id, scope FROM webhook_endpoint WHERE `+in+` ORDER BY id`, args...); err != nil {
		return nil, fmt.Errorf("reading endpoints of merged keys: %w", err)
	}
	for _, r := range rows {
		byScope[r.Scope] = append(byScope[r.Scope], r.ID)
	}
	return byScope, nil
}

// bodiesTx reads the bodies of events, by their numbers.
func (r *Router) bodiesTx(ctx context.Context, tx *database.Tx, numbers []int64) (map[int64][]byte, error) {
	out := map[int64][]byte{}
	var rows []struct {
		Number int64
		Body   []byte
	}
	in, args := r.DB.Dialect.InNumbers("number", 1, numbers)
	if err := tx.SelectContext(ctx, &rows, `SELECT number, body FROM webhook_event WHERE `+in, args...); err != nil {
		return nil, fmt.Errorf("reading events to route: %w", err)
	}
	for _, r := range rows {
		out[r.Number] = r.Body
	}
	return out, nil
}
