package web

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.mau.fi/whatsmeow"

	"github.com/trunklinehq/trunkline/provider"
)

// session is an open reference. Each part holds one subject; the methods of the
// parts that are embedded are the session's optional interfaces.
type session struct {
	*sender
	*presence
	*mediaFetcher
	*groups
	*resolver
	*sendRate
	*callReader
	*passkeys
	conn     *connection
	contacts *contactSync
	history  *history
}

var (
	_ provider.PasskeyLinker = (*session)(nil)
	_ provider.Reader        = (*session)(nil)
	_ provider.Typist        = (*session)(nil)
	_ provider.MediaFetcher  = (*session)(nil)
	_ provider.GroupManager  = (*session)(nil)
	_ provider.NumberChecker = (*session)(nil)
	_ provider.CallRejecter  = (*session)(nil)
	_ provider.RateLimiter   = (*session)(nil)
)

// Open opens a reference and connects it when it is paired. A reference that is
// not paired waits for Link.
func (p *Provider) Open(ctx context.Context, ref provider.Reference, inbox provider.Inbox) (provider.Session, error) {
	conn := newConnection(ctx, ref, &p.opts)
	store := p.devices.of(ref, conn.abortCurrent)
	s, receive := newSession(conn, inbox, store, p.opts.Rates, p.shown)
	store.contactStore.report = func() { conn.spawn("reporting the phone's contacts", s.contacts.publish) }
	dev, err := p.devices.load(ctx, store)
	if err == nil {
		err = errors.Join(s.load(ctx), s.contacts.load(ctx))
	}
	if err != nil {
		conn.cancel()
		return nil, fmt.Errorf("web: %w", err)
	}
	clients := &clients{p: p, conn: conn, store: store, receiver: receive}
	if dev != nil {
		conn.client, err = clients.newClient(dev)
	}
	loop := &connectionLoop{conn: conn, inbox: inbox, clients: clients, passkeys: s.passkeys, onConnected: s.onConnected}
	go loop.run(err)
	return s, nil
}

// newSession returns a session on a connection, and the receiver of what its
// connection delivers.
func newSession(conn *connection, inbox provider.Inbox, store *guarded, rates Rates, shown func() time.Time) (*session, *receiver) {
	people := &resolver{conn: conn}
	senders := &senders{people: people}
	groups := &groups{conn: conn, inbox: inbox, people: people}
	messages := &messageReader{conn: conn, people: people, senders: senders, groups: groups}
	rate := &sendRate{conn: conn, people: people, db: store.db, shown: shown, limiter: newRateLimiter(rates, conn.now)}
	restriction := &restriction{conn: conn, inbox: inbox, rate: rate}
	s := &session{
		sender:       &sender{conn: conn, people: people, senders: senders, rate: rate, restriction: restriction},
		presence:     &presence{conn: conn, senders: senders},
		mediaFetcher: &mediaFetcher{conn: conn},
		groups:       groups,
		resolver:     people,
		sendRate:     rate,
		callReader:   &callReader{conn: conn, people: people},
		passkeys:     &passkeys{conn: conn},
		conn:         conn,
		contacts:     &contactSync{conn: conn, inbox: inbox, people: people, db: store.db, store: &store.contactStore},
		history:      &history{conn: conn, inbox: inbox, messages: messages, db: store.db},
	}
	return s, &receiver{
		conn: conn, inbox: inbox, people: people, messages: messages, calls: s.callReader,
		groups: groups, media: s.mediaFetcher, presence: s.presence, history: s.history, restriction: restriction,
		contacts: &store.contactStore,
	}
}

// Link starts to pair the reference. A reference that is paired connects.
func (s *session) Link(ctx context.Context, phone string) error {
	return s.conn.signal(ctx, signal{what: link{phone}})
}

// Unlink removes the device from the account.
func (s *session) Unlink(ctx context.Context) error {
	c, err := s.conn.connected(ctx)
	if err != nil {
		return err
	}
	if err := c.Logout(ctx); err != nil {
		return fmt.Errorf("web: unlinking the device: %w", err)
	}
	return nil
}

// Close ends the connection.
func (s *session) Close(ctx context.Context) error {
	s.conn.cancel()
	select {
	case <-s.conn.done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("web: closing a session: %w", ctx.Err())
	}
}

// onConnected does what each new connection requires.
func (s *session) onConnected(c *whatsmeow.Client) {
	s.show(c)
	s.contacts.sync(c)
	s.history.importAll(c)
}
