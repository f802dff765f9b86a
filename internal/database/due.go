package database

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// DueQuery returns a SELECT that finds at least one row if there is something to do
// now. Its parameters are numbered from first. The text should always be the same,
// and cheap when nothing is to be done.
type DueQuery func(first int) (text string, args []any)

const (
	// dueInterval is how often is looked for what is due.
	dueInterval = time.Second
	// dueTimeout is the longest that looking may take. Then each looks for itself: a
	// locked table concerns one query.
	dueTimeout = 3 * time.Second
)

// dues are the queries of [DB.Due], which one statement asks together: a process that
// has nothing to do asks its database once a second.
type dues struct {
	mu      sync.Mutex
	queries []*due
	stop    context.CancelFunc // of the loop
}

type due struct {
	query DueQuery
	found chan struct{}
}

// Due returns a channel that receives a value after a [DB.Notify] of topic, as that
// of [DB.Listen] does, and once a second while query finds something, until ctx ends.
// It also receives one if the database does not answer in time. Topic may be "".
func (d *DB) Due(ctx context.Context, topic string, query DueQuery) <-chan struct{} {
	found := make(chan struct{}, 1)
	if topic != "" {
		d.bus.join(ctx, topic, found)
	}
	one, all := &due{query, found}, &d.dues
	all.mu.Lock()
	defer all.mu.Unlock()
	all.queries = append(all.queries, one)
	if all.stop == nil {
		loop, stop := context.WithCancel(context.WithoutCancel(ctx))
		all.stop = stop
		go d.findDue(loop)
	}
	context.AfterFunc(ctx, func() { all.leave(one) })
	return found
}

// leave ends a query, and with the last one the loop.
func (a *dues) leave(one *due) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.queries = slices.DeleteFunc(a.queries, func(o *due) bool { return o == one })
	if len(a.queries) == 0 && a.stop != nil {
		a.stop()
		a.stop = nil
	}
}

func (a *dues) all() []*due {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.queries)
}

// findDue asks until ctx ends.
func (d *DB) findDue(ctx context.Context) {
	tick := time.NewTicker(dueInterval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		all := d.dues.all()
		found, err := d.askDue(ctx, all)
		for i, one := range all {
			if err == nil && !slices.Contains(found, i) {
				continue
			}
			select {
			case one.found <- struct{}{}:
			default:
			}
		}
	}
}

// askDue returns which of the queries find something.
func (d *DB) askDue(ctx context.Context, all []*due) (found []int, err error) {
	ctx, cancel := context.WithTimeout(ctx, dueTimeout)
	defer cancel()
	var text strings.Builder
	var args []any
	for i, one := range all {
		if i > 0 {
			text.WriteString(" UNION ALL ")
		}
		query, more := one.query(len(args) + 1)
		text.WriteString("SELECT " + strconv.Itoa(i) + " AS n WHERE EXISTS (" + query + ")")
		args = append(args, more...)
	}
	if len(all) > 0 {
		err = d.SelectContext(ctx, &found, text.String(), args...)
	}
	return found, err
}
