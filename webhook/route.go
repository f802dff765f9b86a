package webhook

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/queue"
)

// route hands each event to the endpoints that want it, and forgets events
// that no endpoint wants. It runs in the router's transaction.
func (d *Dispatcher) route(ctx context.Context, tx *sqlx.Tx, es []queue.JobArgs) ([]queue.JobArgs, error) {
	addresses := make([]address, len(es))
	for i, e := range es {
		addresses[i] = parseNote(e.Metadata)
	}
	endpoints, err := d.listeners(ctx, tx, addresses)
	if err != nil {
		return nil, fmt.Errorf("reading endpoints to route to: %w", err)
	}
	formattable, err := d.formattable(ctx, tx, es, addresses, endpoints)
	if err != nil {
		return nil, err
	}
	merging, err := d.mergeRoutes(ctx, tx, es, addresses)
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
		number, _ := parseSubject(e.Subject, 0)
		for j := range endpoints[to.owner] {
			ep := &endpoints[to.owner][j]
			if ep.wants(to.Type, to.Audience) && (ep.Format == OwnFormat || formattable[formatted{number, ep.Format}]) {
				out = append(out, queue.JobArgs{Subscriber: ep.ID, Key: e.Key, Subject: e.Subject, Traceparent: e.Traceparent})
			}
		}
		if len(out) == before {
			unwanted = append(unwanted, number)
		}
	}
	if len(unwanted) > 0 {
		where, args := d.db.Dialect.InNumbers("number", 1, unwanted)
		if _, err := tx.ExecContext(ctx, `DELETE FROM webhook_event WHERE `+where, args...); err != nil {
			return nil, fmt.Errorf("deleting events that nobody wants: %w", err)
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
func (d *Dispatcher) formattable(
	ctx context.Context, tx *sqlx.Tx, es []queue.JobArgs, addresses []address, endpoints map[owner][]endpointRow,
) (map[formatted]bool, error) {
	wanted := map[int64][]formatted{}
	var numbers []int64
	kinds := map[int64]string{}
	for i, e := range es {
		to := addresses[i]
		number, _ := parseSubject(e.Subject, 0)
		for _, ep := range endpoints[to.owner] {
			if ep.Format != OwnFormat && ep.wants(to.Type, to.Audience) {
				wanted[number] = append(wanted[number], formatted{number, ep.Format})
			}
		}
		if len(wanted[number]) > 0 {
			numbers, kinds[number] = append(numbers, number), to.Type
		}
	}
	out := map[formatted]bool{}
	for part := range slices.Chunk(numbers, bodiesAtOnce) {
		bodies, err := d.bodiesTx(ctx, tx, part)
		if err != nil {
			return nil, err
		}
		for _, number := range part {
			for _, f := range wanted[number] {
				if _, known := out[f]; !known {
					out[f] = d.has(f.format, kinds[number], bodies[number])
				}
			}
		}
	}
	return out, nil
}

// owner is whose endpoints get an event.
type owner struct{ Account, Scope string }

// address says which endpoints get an event.
type address struct {
	owner
	Type, Audience string
}

// note is the address, for the router: it need not read the event then. Each
// part is behind its length.
func (e *Event) note() string {
	var b []byte
	for _, s := range []string{e.Account, e.Scope, e.Type, e.Audience} {
		b = strconv.AppendInt(b, int64(len(s)), 10)
		b = append(b, ':')
		b = append(b, s...)
	}
	return string(b)
}

// parseNote is the address of a note.
func parseNote(note string) (a address) {
	for _, s := range []*string{&a.Account, &a.Scope, &a.Type, &a.Audience} {
		digits, rest, _ := strings.Cut(note, ":")
		n, err := strconv.Atoi(digits)
		if err != nil || n < 0 || n > len(rest) {
			return address{}
		}
		*s, note = rest[:n], rest[n:]
	}
	return a
}

// listeners returns the enabled endpoints of the owners.
func (d *Dispatcher) listeners(ctx context.Context, tx *sqlx.Tx, to []address) (map[owner][]endpointRow, error) {
	byOwner := map[owner][]endpointRow{}
	var owners []any
	for _, a := range to {
		if _, known := byOwner[a.owner]; !known {
			byOwner[a.owner] = nil
			owners = append(owners, a.Account, a.Scope)
		}
	}
	if len(owners) == 0 {
		return nil, nil
	}
	list, args := d.db.Dialect.List(1, []string{"TEXT", "TEXT"}, owners)
	var rows []endpointRow
	err := tx.SelectContext(ctx, &rows, `SELECT id, account, scope, events, include, format FROM webhook_endpoint
		WHERE (account, scope) IN (`+list+`) AND enabled ORDER BY id`, args...)
	for _, r := range rows {
		o := owner{r.Account, r.Scope}
		byOwner[o] = append(byOwner[o], r)
	}
	return byOwner, err
}
