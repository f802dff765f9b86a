package messaging

import (
	"context"

	"github.com/trunklinehq/trunkline/provider"
)

// inboundBatch is what one transaction takes in.
type inboundBatch struct {
	as      []inboundEvent
	isNew   []bool                          // by inbound event: of messages and reports, that they are told for the first time
	rows    []*messageRow                   // by inbound event: its message, new or known; nil when there is none
	found   foundMessages                   // what statuses are about, of messages stored before
	earlies map[messageKey][]earlyStatusRow // statuses that came before new messages
	arrived map[*messageRow]bool            // new messages that were announced
	side    sideRecords
	counts  counter
}

// ingest stores what arrived and what follows from it, in the order of the
// inbound event. Chats are locked first, then everything is read for all inbound events at
// once.
func (u *batch) ingest(ctx context.Context, as []inboundEvent, counts counter) error {
	as, err := u.recognise(ctx, as)
	if err != nil {
		return err
	}
	b := &inboundBatch{as: as, counts: counts}
	b.isNew, b.rows, b.arrived = make([]bool, len(as)), make([]*messageRow, len(as)), map[*messageRow]bool{}
	var others []int64
	if b.found, others, err = u.findStatusMessages(ctx, as); err != nil {
		return err
	}
	if err := u.open(ctx, people(as), others); err != nil {
		return err
	}
	for _, read := range []func(context.Context, *inboundBatch) error{u.storeMessages, u.storeReports, u.loadKnown, u.loadCalls, u.loadWatermarked} {
		if err := read(ctx, b); err != nil {
			return err
		}
	}
	var wait []int
	for i := range as {
		if u.isEarlyStatus(b, as[i]) {
			wait = append(wait, i)
			continue
		}
		if err := u.ingestOne(ctx, b, i); err != nil {
			return err
		}
	}
	for _, i := range wait { // their messages have been announced
		if err := u.ingestOne(ctx, b, i); err != nil {
			return err
		}
	}
	u.noteHidden(as)
	return b.side.write(ctx, u)
}

// people are those whose chats something happens in.
func people(as []inboundEvent) []person {
	var out []person
	for _, a := range as {
		switch e := a.event.(type) {
		case *provider.Message:
			out = append(out, person{a.reference, e.Chat})
		case *provider.Call:
			out = append(out, person{a.reference, e.Chat})
		case *provider.ContactChange:
			out = append(out, person{a.reference, e.Chat})
		case *provider.GroupChange:
			out = append(out, person{a.reference, e.Chat})
		case *provider.Handover:
			out = append(out, person{a.reference, e.Chat})
		case *provider.StatusChange:
			if isWatermark(e) {
				out = append(out, person{a.reference, e.To})
			}
		}
	}
	return out
}

// isEarlyStatus says whether an inbound event is a status whose message comes after it.
func (u *batch) isEarlyStatus(b *inboundBatch, a inboundEvent) bool {
	e, ok := a.event.(*provider.StatusChange)
	if !ok {
		return false
	}
	m := u.added[statusKey(a.reference.ID, e)]
	return m != nil && !b.arrived[m]
}

// ingestOne applies one inbound event.
func (u *batch) ingestOne(ctx context.Context, b *inboundBatch, i int) error {
	a := b.as[i]
	u.traceparent = a.parent
	count := func(what string) { b.counts[countKey{a.reference.Kind, what}]++ }
	if a.bad != nil {
		b.side.addBad(a.reference.ID, a.bad, u.now)
		count("dead")
		return nil
	}
	switch e := a.event.(type) {
	case *provider.Message:
		if !b.isNew[i] {
			return u.receivedAgain(ctx, a, e, b.rows[i])
		}
		b.arrived[b.rows[i]] = true
		if err := u.messageReceived(ctx, a.reference, e, b.rows[i]); err != nil {
			return err
		}
		u.applyEarlyStatuses(a.reference, b.rows[i], b.earlies[messageKey{a.reference.ID, e.ID}])
		count("message")
		if kind := b.side.addUnknown(a.reference.ID, e, u.now); kind != "" {
			count("raw:" + kind)
		}
	case *provider.StatusChange:
		count("status")
		return u.applyStatus(ctx, b, a, e)
	case nil:
	default:
		count(reportName(e))
		if b.isNew[i] {
			return u.applyReport(ctx, a.reference, e)
		}
	}
	return nil
}

// applyStatus applies a status, or keeps it until its message is known. The
// network may call the chat by a name that is new.
func (u *batch) applyStatus(ctx context.Context, b *inboundBatch, a inboundEvent, e *provider.StatusChange) error {
	l := a.reference
	if isWatermark(e) {
		u.applyWatermark(l, e)
		return nil
	}
	m := u.added[statusKey(l.ID, e)]
	if seq, ok := b.found[statusKey(l.ID, e)]; ok {
		m = u.messages[seq]
	}
	if m == nil {
		b.side.addEarlyStatus(l.ID, e, u.now)
		return nil
	}
	if a.echo {
		u.echoed(l, m, e)
	}
	u.applyProgress(l, m, e)
	if c := u.chats[m.Chat]; m.Mine && e.To.ChatID != "" && e.To.Group == c.IsGroup {
		return u.link(ctx, l, c, e.To)
	}
	return nil
}
