package database

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// DueQuery returns a SELECT that finds at least one row if there is something to do
// now, or, with ahead, within that time. Its parameters are numbered from first. The
// text should always be the same, and cheap when nothing is to be done.
type DueQuery func(first int, ahead time.Duration) (text string, args []any)

const (
	// dueInterval is how often is looked for what is due.
	dueInterval = time.Second
	// dueQuiet is how often is looked while nothing happens.
	dueQuiet = 6 * time.Second
	// dueAhead is how far is looked ahead then: until the look after the next.
	dueAhead = dueQuiet + dueInterval
	// dueLooks is how many looks in a row find nothing before it is quiet: more than
	// what was found ahead may be away.
	dueLooks = int(dueAhead/dueInterval) + 1
	// dueTimeout is the longest that looking may take. Then each looks for itself: a
	// locked table concerns one query.
	dueTimeout = 3 * time.Second
)

// dues are the queries of [DB.Due], which one statement asks together: a process that
// has nothing to do asks its database every few seconds.
type dues struct {
	mu      sync.Mutex
	queries []*due
	stop    context.CancelFunc // of the loop

	writes atomic.Int64  // transactions of this process, also those of routine
	joined atomic.Int64  // when a caller's transaction was joined last, in nanoseconds
	last   atomic.Int64  // when something was written or notified last, in nanoseconds
	active atomic.Bool   // something was written, or notified, since the last look
	events chan struct{} // receives a value when active becomes true
}

type due struct {
	query DueQuery
	found chan struct{}
}

// touch notes that something happened, so that something may become due.
func (a *dues) touch() {
	a.last.Store(time.Now().UnixNano())
	if a.active.Swap(true) {
		return
	}
	select {
	case a.events <- struct{}{}:
	default:
	}
}

// LastActive returns when this process last wrote to the database, other than as
// [Routine], or was notified by another.
func (s *shared) LastActive() time.Time { return time.Unix(0, s.dues.last.Load()) }

type routineKey struct{}

// Routine returns a context for writes that make nothing due, such as heartbeats: a
// process that only writes these is quiet.
func Routine(ctx context.Context) context.Context { return context.WithValue(ctx, routineKey{}, true) }

// touch notes that a transaction was committed.
func (s *shared) touch(ctx context.Context) {
	s.dues.writes.Add(1)
	if ctx.Value(routineKey{}) == nil {
		s.dues.touch()
	}
}

// Due returns a channel that receives a value after a [DB.Notify] of topic, as that
// of [DB.Listen] does, and once a second while query finds something, until ctx ends.
// After a few seconds in which nothing was found, written or notified it is looked
// less often, and ahead: what this process did not write is found within a second of
// its time if it was written [dueQuiet] earlier. The channel also receives a value if
// the database does not answer in time. Topic may be "".
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
	var p dueTiming
	for {
		wait, ahead := p.next()
		happened, ok := d.dues.await(ctx, wait, ahead > 0)
		if !ok {
			return
		}
		if happened {
			p = dueTiming{}
			continue
		}
		active := d.dues.looks()
		all := d.dues.all()
		found, err := d.askDue(ctx, all, ahead)
		p.looked(active || len(found) > 0 || err != nil)
		for i, one := range all {
			if err == nil && (ahead > 0 || !slices.Contains(found, i)) {
				continue
			}
			select {
			case one.found <- struct{}{}:
			default:
			}
		}
	}
}

// looks begins a look, and returns whether something happened since the last one.
func (a *dues) looks() bool {
	select {
	case <-a.events:
	default:
	}
	return a.active.Swap(false)
}

// await waits until the next look, or, if that may be, until something happens.
func (a *dues) await(ctx context.Context, wait time.Duration, early bool) (happened, ok bool) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	events := a.events
	if !early {
		events = nil
	}
	select {
	case <-events:
		return true, true
	case <-timer.C:
		return false, true
	case <-ctx.Done():
		return false, false
	}
}

// dueTiming says when to look next. The zero value looks soon.
type dueTiming struct{ quiet int } // looks in a row at which nothing happened

// next returns how long to wait, and how far ahead to look then.
func (p *dueTiming) next() (wait, ahead time.Duration) {
	if p.quiet < dueLooks {
		return dueInterval, 0
	}
	return dueQuiet, dueAhead
}

// looked notes a look, and whether something was found or has happened before it.
func (p *dueTiming) looked(something bool) {
	if p.quiet++; something {
		p.quiet = 0
	}
}

// askDue returns which of the queries find something.
func (d *DB) askDue(ctx context.Context, all []*due, ahead time.Duration) (found []int, err error) {
	ctx, cancel := context.WithTimeout(ctx, dueTimeout)
	defer cancel()
	var text strings.Builder
	var args []any
	for i, one := range all {
		if i > 0 {
			text.WriteString(" UNION ALL ")
		}
		query, more := one.query(len(args)+1, ahead)
		text.WriteString("SELECT " + strconv.Itoa(i) + " AS n WHERE EXISTS (" + query + ")")
		args = append(args, more...)
	}
	if len(all) > 0 {
		err = d.SelectContext(ctx, &found, text.String(), args...)
	}
	return found, err
}
