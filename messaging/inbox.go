package messaging

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/provider"
)

// arrival is one event of one line.
type arrival struct {
	line  line
	event provider.Event
	body  string        // of a message, as its row will have it
	bad   *provider.Bad // instead of an event
}

// Receive stores what a network reported, with everything that follows from
// it. It returns nil only once all of it is durable. Events that are known
// already change nothing. It implements [provider.Inbox].
func (s *Service) Receive(ctx context.Context, ref provider.ReferenceID, events []provider.Event) error {
	l, err := s.lineOf(ctx, ref)
	if err != nil {
		return err
	}
	as := make([]arrival, len(events))
	for i, e := range events {
		as[i] = arrival{line: l, event: e}
	}
	if err := s.receive(ctx, as); err != nil {
		s.known.clear() // the reference may have been deleted by another node
		return err
	}
	return nil
}

// receive stores arrivals together with those of other callers.
func (s *Service) receive(ctx context.Context, as []arrival) error {
	if len(as) == 0 {
		return nil
	}
	for i := range as {
		as[i] = admit(as[i])
	}
	if err := s.inbox.Do(ctx, as); err != nil {
		return fmt.Errorf("receiving: %w", err)
	}
	var last provider.ReferenceID
	for _, a := range as {
		if a.line.ID != last {
			last = a.line.ID
			s.health.inbound(last, s.now())
		}
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
	s.tellFollowers()
	return errs
}

// store is the transaction of Receive. A panic becomes an error: the arrivals
// of others are in the same batch.
func (s *Service) store(ctx context.Context, as []arrival) (err error) {
	counts := counter{}
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
			return
		}
		if err == nil {
			counts.report(s.opts.Observer)
		}
	}()
	return s.inTx(ctx, func(tx *sqlx.Tx) error {
		u := s.unit(tx)
		clear(counts)
		if err := u.apply(ctx, as, counts); err != nil {
			return err
		}
		return u.flush(ctx)
	})
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
		u.applyOne(a, rows[i], found, &side, counts)
	}
	return side.write(ctx, u)
}

// applyOne applies one arrival; row is its own when it is a message.
func (u *unit) applyOne(a arrival, row *messageRow, found foundMessages, side *asides, counts counter) {
	count := func(what string) { counts[countKey{a.line.Kind, what}]++ }
	switch e := a.event.(type) {
	case *provider.Message:
		if row.Seq != 0 {
			u.arrived(a.line, e, row)
			count("message")
			if kind := side.unknown(a.line.ID, e, u.now); kind != "" {
				count("raw:" + kind)
			}
		}
	case *provider.StatusChange:
		count("status")
		m := u.added[statusKey(a.line.ID, e)]
		if seq, ok := found[statusKey(a.line.ID, e)]; ok {
			m = u.messages[seq]
		}
		if m == nil {
			side.early(a.line.ID, e, u.now)
			return
		}
		u.progress(a.line, m, e)
	case *provider.Raw:
		side.raw(a.line.ID, e, u.now)
		count("raw:" + e.Kind)
	}
	if a.bad != nil {
		side.bad(a.line.ID, a.bad, u.now)
		count("dead")
	}
}

// storeMessages inserts the messages among as; the result has one row per
// arrival, nil where it is no message, and with seq 0 where it is known.
func (u *unit) storeMessages(ctx context.Context, as []arrival) ([]*messageRow, error) {
	rows := make([]*messageRow, len(as))
	var add []*messageRow
	for i, a := range as {
		if m, ok := a.event.(*provider.Message); ok {
			rows[i] = u.row(a, m)
			add = append(add, rows[i])
		}
	}
	return rows, u.add(ctx, add)
}

// row is an arrived message as its table will have it.
func (u *unit) row(a arrival, e *provider.Message) *messageRow {
	c := u.chatOf(person{a.line, e.Chat})
	at := e.At
	if at.IsZero() {
		at = u.now
	}
	m := &messageRow{
		Reference: a.line.ID, Chat: c.ID, ID: e.ID, Mine: e.Mine, Actor: ActorContact, Status: provider.StatusDelivered,
		PushName: c.Name, BizName: c.BizName, AtUS: database.Micros(at), CreatedUS: database.Micros(u.now),
		Announced: true, Tried: true, Body: a.body,
	}
	switch {
	case e.Mine:
		m.Actor, m.Status = ActorPhone, max(e.Status, provider.StatusSending)
	case c.IsGroup:
	default:
		m.PushName, m.BizName = cmp.Or(e.From.Name, c.Name), cmp.Or(e.From.VerifiedBizName, c.BizName)
	}
	return m
}

// arrived updates the chat of a new message and announces it. From an old one
// nothing follows.
func (u *unit) arrived(l line, e *provider.Message, m *messageRow) {
	c := u.chats[m.Chat]
	c.LastMessage = max(c.LastMessage, m.Seq)
	c.ActivityUS = max(c.ActivityUS, m.AtUS)
	if e.Historical {
		u.activeChats.add(c)
		return
	}
	if e.Mine {
		c.HandoffUS = max(c.HandoffUS, m.AtUS) // a person writes on the account's own phone
	} else {
		u.heard(l, c, e, m)
	}
	u.activeChats.add(c)
	u.emit(l.Account, EventMessage, c, m)
}

// heard notes that the contact wrote.
func (u *unit) heard(l line, c *chatRow, e *provider.Message, m *messageRow) {
	c.Unread++
	if !c.IsGroup {
		c.Name, c.BizName = cmp.Or(e.From.Name, c.Name), cmp.Or(e.From.VerifiedBizName, c.BizName)
	}
	until := database.Micros(e.WindowUntil)
	if until == 0 && l.Window > 0 {
		until = m.AtUS + l.Window.Microseconds()
	}
	c.WindowUS = max(c.WindowUS, until)
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
