package ingest

import (
	"context"

	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/provider"
)

// inboundBatch is what one transaction takes in.
type inboundBatch struct {
	as      []Event
	isNew   []bool                                // by inbound event: of messages and reports, that they are told for the first time
	rows    []*store.Message                      // by inbound event: its message, new or known; nil when there is none
	found   foundMessages                         // what statuses are about, of messages stored before
	earlies map[store.MessageKey][]earlyStatusRow // statuses that came before new messages
	arrived map[*store.Message]bool               // new messages that were announced
	polls   map[store.MessageKey]votedPoll        // in which inbound events vote; nil: none does
	side    sideRecords
	counts  Counts
}

// Apply stores what arrived and what follows from it, in the order of the
// inbound event. Chats are locked first, then everything is read for all inbound events at
// once.
func Apply(ctx context.Context, u *store.Batch, as []Event, counts Counts) error {
	as, err := recognise(ctx, u, as)
	if err != nil {
		return err
	}
	b := &inboundBatch{as: as, counts: counts}
	b.isNew, b.rows, b.arrived = make([]bool, len(as)), make([]*store.Message, len(as)), map[*store.Message]bool{}
	var others []int64
	if b.found, others, err = findStatusMessages(ctx, u, as); err != nil {
		return err
	}
	if err := u.Open(ctx, people(as), others); err != nil {
		return err
	}
	for _, read := range []func(context.Context, *inboundBatch) error{func(ctx context.Context, b *inboundBatch) error { return readVotes(ctx, u, b) }, func(ctx context.Context, b *inboundBatch) error { return storeMessages(ctx, u, b) }, func(ctx context.Context, b *inboundBatch) error { return storeReports(ctx, u, b) }, func(ctx context.Context, b *inboundBatch) error { return loadKnown(ctx, u, b) }, func(ctx context.Context, b *inboundBatch) error { return loadCalls(ctx, u, b) }, func(ctx context.Context, b *inboundBatch) error { return loadWatermarked(ctx, u, b) }} {
		if err := read(ctx, b); err != nil {
			return err
		}
	}
	var wait []int
	for i := range as {
		if isEarlyStatus(u, b, as[i]) {
			wait = append(wait, i)
			continue
		}
		if err := ingestOne(ctx, u, b, i); err != nil {
			return err
		}
	}
	for _, i := range wait { // their messages have been announced
		if err := ingestOne(ctx, u, b, i); err != nil {
			return err
		}
	}
	noteHidden(u, as)
	return b.side.write(ctx, u)
}

// people are those whose chats something happens in.
func people(as []Event) []store.Person {
	var out []store.Person
	for _, a := range as {
		switch e := a.Event.(type) {
		case *provider.Message:
			out = append(out, store.Person{Reference: a.Reference, Address: e.Chat})
		case *provider.Call:
			out = append(out, store.Person{Reference: a.Reference, Address: e.Chat})
		case *provider.ContactChange:
			out = append(out, store.Person{Reference: a.Reference, Address: e.Chat})
		case *provider.GroupChange:
			out = append(out, store.Person{Reference: a.Reference, Address: e.Chat})
		case *provider.Handover:
			out = append(out, store.Person{Reference: a.Reference, Address: e.Chat})
		case *provider.StatusChange:
			if isWatermark(e) {
				out = append(out, store.Person{Reference: a.Reference, Address: e.To})
			}
		}
	}
	return out
}

// isEarlyStatus says whether an inbound event is a status whose message comes after it.
func isEarlyStatus(u *store.Batch, b *inboundBatch, a Event) bool {
	e, ok := a.Event.(*provider.StatusChange)
	if !ok {
		return false
	}
	m := u.Added[statusKey(a.Reference.ID, e)]
	return m != nil && !b.arrived[m]
}

// ingestOne applies one inbound event.
func ingestOne(ctx context.Context, u *store.Batch, b *inboundBatch, i int) error {
	a := b.as[i]
	u.Traceparent = a.Parent
	count := func(what string) { b.counts[CountKey{a.Reference.Kind, what}]++ }
	if a.Bad != nil {
		b.side.addBad(a, u.Now)
		count("dead")
		return nil
	}
	switch e := a.Event.(type) {
	case *provider.Message:
		if !b.isNew[i] {
			return receivedAgain(ctx, u, b, a, e, b.rows[i])
		}
		b.arrived[b.rows[i]] = true
		if err := messageReceived(ctx, u, a.Reference, e, b.rows[i]); err != nil {
			return err
		}
		countVote(u, b, a, b.rows[i])
		applyEarlyStatuses(u, a.Reference, b.rows[i], b.earlies[store.MessageKey{Reference: a.Reference.ID, ID: e.ID}])
		count("message")
		if kind := b.side.addUnknown(a.Reference.ID, e, u.Now); kind != "" {
			count("raw:" + kind)
		}
	case *provider.StatusChange:
		count("status")
		return applyStatus(ctx, u, b, a, e)
	case nil:
	default:
		count(reportName(e))
		if b.isNew[i] {
			return applyReport(ctx, u, a.Reference, e)
		}
	}
	return nil
}

// applyStatus applies a status, or keeps it until its message is known. The
// network may call the chat by a name that is new.
func applyStatus(ctx context.Context, u *store.Batch, b *inboundBatch, a Event, e *provider.StatusChange) error {
	l := a.Reference
	if isWatermark(e) {
		applyWatermark(u, l, e)
		return nil
	}
	m := u.Added[statusKey(l.ID, e)]
	if seq, ok := b.found[statusKey(l.ID, e)]; ok {
		m = u.Messages[seq]
	}
	if m == nil {
		b.side.addEarlyStatus(l.ID, e, u.Now)
		return nil
	}
	if a.echo {
		echoed(u, l, m, e)
	}
	applyProgress(u, l, m, e)
	if c := u.Chats[m.Chat]; m.Mine && e.To.ChatID != "" && e.To.Group == c.IsGroup {
		return u.Link(ctx, l, c, e.To)
	}
	return nil
}
