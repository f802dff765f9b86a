package messaging

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/provider"
)

// arrival is one event of one line.
type arrival struct {
	line  line
	event provider.Event
	bad   *provider.Bad // instead of an event
}

// Receive stores what a network reported, with everything that follows from
// it. It returns nil only once all of it is durable. Events that are known
// already change nothing. It implements [provider.Inbox].
func (s *Service) Receive(ctx context.Context, ref provider.ReferenceID, events []provider.Event) error {
	l, err := s.line(ctx, s.db, ref)
	if err != nil {
		return err
	}
	as := make([]arrival, len(events))
	for i, e := range events {
		as[i] = arrival{line: l, event: e}
	}
	return s.receive(ctx, as)
}

// receive stores arrivals together with those of other callers.
func (s *Service) receive(ctx context.Context, as []arrival) error {
	if len(as) == 0 {
		return nil
	}
	if err := s.inbox.Do(ctx, as); err != nil {
		return fmt.Errorf("receiving: %w", err)
	}
	for _, a := range as {
		s.health.inbound(a.line.ID, s.now())
	}
	return nil
}

// receiveBatch stores many callers' arrivals in one transaction. When that
// fails each caller's are tried alone, so that only the one at fault sees an
// error.
func (s *Service) receiveBatch(ctx context.Context, batch [][]arrival) []error {
	errs := make([]error, len(batch))
	var all []arrival
	for _, as := range batch {
		for i := range as {
			as[i] = admit(as[i])
		}
		all = append(all, as...)
	}
	err := s.store(ctx, all)
	for i, as := range batch {
		if err != nil && len(batch) > 1 {
			errs[i] = s.store(ctx, as)
		} else {
			errs[i] = err
		}
	}
	s.Committed()
	return errs
}

// store is the transaction of Receive.
func (s *Service) store(ctx context.Context, as []arrival) error {
	counts := counter{}
	err := s.inTx(ctx, func(tx *sqlx.Tx) error {
		u := s.unit(tx)
		clear(counts)
		if err := u.apply(ctx, as, counts); err != nil {
			return err
		}
		return u.flush(ctx)
	})
	if err == nil {
		counts.report(s.opts.Observer)
	}
	return err
}

// inTx runs fn in a transaction, again when a chat moved under it.
func (s *Service) inTx(ctx context.Context, fn func(tx *sqlx.Tx) error) error {
	for try := 1; ; try++ {
		err := s.db.InTx(ctx, fn)
		if !errors.Is(err, errMoved) || try == 5 {
			return err
		}
	}
}

// counter counts what was new by kind of line and what it was.
type counter map[countKey]int

type countKey struct {
	kind provider.Kind
	what string
}

func (c counter) report(o *Observer) {
	for k, n := range c {
		o.received(k.kind, k.what, n)
	}
}

// apply stores messages and statuses in the order of their arrival.
func (u *unit) apply(ctx context.Context, as []arrival, counts counter) error {
	found, others, err := u.findStatusMessages(ctx, as)
	if err != nil {
		return err
	}
	var people []person
	for _, a := range as {
		if m, ok := a.event.(*provider.Message); ok {
			people = append(people, person{a.line, m.Chat})
		}
	}
	if err := u.open(ctx, people, others); err != nil {
		return err
	}
	rows, err := u.storeMessages(ctx, as)
	if err != nil {
		return err
	}
	if err := u.load(ctx, found.seqs()); err != nil {
		return err
	}
	var side asides
	for i, a := range as {
		switch e := a.event.(type) {
		case *provider.Message:
			if m := rows[i]; m.Seq != 0 && u.messages[m.Seq] == m {
				u.arrived(a.line, e, m)
				counts[countKey{a.line.Kind, "message"}]++
			}
		case *provider.StatusChange:
			counts[countKey{a.line.Kind, "status"}]++
			if seq, ok := found[statusKey(a.line.ID, e)]; ok {
				u.progress(a.line, u.messages[seq], e)
			} else if m := u.stored(rows, a.line.ID, e.MessageID); m != nil {
				u.progress(a.line, m, e)
			} else {
				side.early(a.line.ID, e, u.now)
			}
		case *provider.Raw:
			counts[countKey{a.line.Kind, "raw:" + e.Kind}]++
			side.raw(a.line.ID, e, u.now)
		}
		if a.bad != nil {
			counts[countKey{a.line.Kind, "dead"}]++
			side.bad(a.line.ID, a.bad, u.now)
		}
	}
	return side.write(ctx, u)
}

// storeMessages inserts the messages among as; the result has one row per
// arrival, nil where it is no message.
func (u *unit) storeMessages(ctx context.Context, as []arrival) ([]*messageRow, error) {
	rows := make([]*messageRow, len(as))
	var add []*messageRow
	for i, a := range as {
		if m, ok := a.event.(*provider.Message); ok {
			rows[i] = u.row(a.line, m)
			add = append(add, rows[i])
		}
	}
	return rows, u.add(ctx, add)
}

// row is an arrived message as its table will have it.
func (u *unit) row(l line, e *provider.Message) *messageRow {
	c := u.chatOf(person{l, e.Chat})
	at := e.At
	if at.IsZero() {
		at = u.now
	}
	m := &messageRow{
		Reference: l.ID, Chat: c.ID, ID: e.ID, Mine: e.Mine, Actor: ActorContact, Status: provider.StatusDelivered,
		PushName: c.Name, BizName: c.BizName, AtUS: database.Micros(at), CreatedUS: database.Micros(u.now),
		Announced: true, Tried: true, Body: string(mustJSON(bodyOf(e, e.Chat))),
	}
	switch {
	case e.Mine:
		m.Actor, m.Status = ActorPhone, provider.StatusSending
	case c.IsGroup:
	default:
		m.PushName, m.BizName = or(e.From.Name, c.Name), or(e.From.VerifiedBizName, c.BizName)
	}
	return m
}

// arrived updates the chat of a new message and announces it.
func (u *unit) arrived(l line, e *provider.Message, m *messageRow) {
	c := u.chats[m.Chat]
	c.LastMessage = max(c.LastMessage, m.Seq)
	c.ActivityUS = max(c.ActivityUS, m.AtUS)
	if !e.Mine {
		c.Unread++
		if !c.IsGroup {
			c.Name, c.BizName = or(e.From.Name, c.Name), or(e.From.VerifiedBizName, c.BizName)
		}
		until := database.Micros(e.WindowUntil)
		if until == 0 && l.Window > 0 {
			until = m.AtUS + l.Window.Microseconds()
		}
		c.WindowUS = max(c.WindowUS, until)
	}
	u.dirtyChats.add(c)
	u.emit(l.Account, EventMessage, c, m)
}

// stored finds a message of this very batch.
func (u *unit) stored(rows []*messageRow, ref provider.ReferenceID, id string) *messageRow {
	for _, m := range rows {
		if m != nil && m.Reference == ref && m.ID == id && u.messages[m.Seq] == m {
			return m
		}
	}
	return nil
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
