package messaging

import (
	"context"

	"github.com/trunklinehq/trunkline/provider"
)

// batch is what one transaction takes in.
type batch struct {
	as      []arrival
	isNew   []bool                    // by arrival: of messages and reports, that they are told for the first time
	rows    []*messageRow             // by arrival: its message, new or known; nil when there is none
	found   foundMessages             // what statuses are about, of messages stored before
	earlies map[messageKey][]earlyRow // statuses that came before new messages
	arrived map[*messageRow]bool      // new messages that were announced
	side    asides
	counts  counter
}

// apply stores what arrived and what follows from it, in the order of the
// arrival. Chats are locked first, then everything is read for all arrivals at
// once.
func (u *unit) apply(ctx context.Context, as []arrival, counts counter) error {
	as, err := u.recognise(ctx, as)
	if err != nil {
		return err
	}
	b := &batch{as: as, counts: counts}
	b.isNew, b.rows, b.arrived = make([]bool, len(as)), make([]*messageRow, len(as)), map[*messageRow]bool{}
	var others []int64
	if b.found, others, err = u.findStatusMessages(ctx, as); err != nil {
		return err
	}
	if err := u.open(ctx, people(as), others); err != nil {
		return err
	}
	for _, read := range []func(context.Context, *batch) error{u.storeMessages, u.storeReports, u.loadKnown, u.loadCalls, u.loadMarked} {
		if err := read(ctx, b); err != nil {
			return err
		}
	}
	var wait []int
	for i := range as {
		if u.early(b, as[i]) {
			wait = append(wait, i)
			continue
		}
		if err := u.applyOne(ctx, b, i); err != nil {
			return err
		}
	}
	for _, i := range wait { // their messages have been announced
		if err := u.applyOne(ctx, b, i); err != nil {
			return err
		}
	}
	u.noteHidden(as)
	return b.side.write(ctx, u)
}

// people are those whose chats something happens in.
func people(as []arrival) []person {
	var out []person
	for _, a := range as {
		switch e := a.event.(type) {
		case *provider.Message:
			out = append(out, person{a.line, e.Chat})
		case *provider.Call:
			out = append(out, person{a.line, e.Chat})
		case *provider.ContactChange:
			out = append(out, person{a.line, e.Chat})
		case *provider.GroupChange:
			out = append(out, person{a.line, e.Chat})
		case *provider.Handover:
			out = append(out, person{a.line, e.Chat})
		case *provider.StatusChange:
			if isMark(e) {
				out = append(out, person{a.line, e.To})
			}
		}
	}
	return out
}

// early says whether an arrival is a status whose message comes after it.
func (u *unit) early(b *batch, a arrival) bool {
	e, ok := a.event.(*provider.StatusChange)
	if !ok {
		return false
	}
	m := u.added[statusKey(a.line.ID, e)]
	return m != nil && !b.arrived[m]
}

// applyOne applies one arrival.
func (u *unit) applyOne(ctx context.Context, b *batch, i int) error {
	a := b.as[i]
	u.parent = a.parent
	count := func(what string) { b.counts[countKey{a.line.Kind, what}]++ }
	if a.bad != nil {
		b.side.bad(a.line.ID, a.bad, u.now)
		count("dead")
		return nil
	}
	switch e := a.event.(type) {
	case *provider.Message:
		if !b.isNew[i] {
			return u.again(ctx, a, e, b.rows[i])
		}
		b.arrived[b.rows[i]] = true
		if err := u.arrived(ctx, a.line, e, b.rows[i]); err != nil {
			return err
		}
		u.raiseEarly(a.line, b.rows[i], b.earlies[messageKey{a.line.ID, e.ID}])
		count("message")
		if kind := b.side.unknown(a.line.ID, e, u.now); kind != "" {
			count("raw:" + kind)
		}
	case *provider.StatusChange:
		count("status")
		return u.applyStatus(ctx, b, a, e)
	case nil:
	default:
		count(reportName(e))
		if b.isNew[i] {
			return u.applyReport(ctx, a.line, e)
		}
	}
	return nil
}

// applyStatus applies a status, or keeps it until its message is known. The
// network may call the chat by a name that is new.
func (u *unit) applyStatus(ctx context.Context, b *batch, a arrival, e *provider.StatusChange) error {
	l := a.line
	if isMark(e) {
		u.mark(l, e)
		return nil
	}
	m := u.added[statusKey(l.ID, e)]
	if seq, ok := b.found[statusKey(l.ID, e)]; ok {
		m = u.messages[seq]
	}
	if m == nil {
		b.side.early(l.ID, e, u.now)
		return nil
	}
	if a.echo {
		u.echoed(l, m, e)
	}
	u.progress(l, m, e)
	if c := u.chats[m.Chat]; m.Mine && e.To.ChatID != "" && e.To.Group == c.IsGroup {
		return u.link(ctx, l, c, e.To)
	}
	return nil
}
