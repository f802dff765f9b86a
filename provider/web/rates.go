package web

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/types"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/provider"
)

// Rates limits how fast a reference sends. WhatsApp bans accounts that send like
// machines, above all to new contacts: the defaults lower that risk but do not
// remove it. A zero field means its default, a negative one no limit.
type Rates struct {
	// Messages is how many messages may be sent a minute, and Burst how many of
	// them at once after a pause. Defaults: 60 and 20.
	Messages, Burst int
	// Outreach is how many new contacts may be written to an hour, and
	// OutreachBurst how many of them at once after a pause. A contact is new when
	// the account has never exchanged a message with it. Defaults: 60 and 5.
	Outreach, OutreachBurst int
}

func (p Rates) withDefaults() Rates {
	set := func(n *int, to int) {
		if *n == 0 {
			*n = to
		}
	}
	set(&p.Messages, 60)
	set(&p.Burst, 20)
	set(&p.Outreach, 60)
	set(&p.OutreachBurst, 5)
	return p
}

// bucket allows a burst at once and then one message per interval. Its state is
// one time, which is easy to store.
type bucket struct {
	interval time.Duration // 0: no limit
	burst    int
	full     time.Time // when a whole burst is allowed again
}

func newBucket(n, burst int, per time.Duration) bucket {
	if n < 0 {
		return bucket{}
	}
	return bucket{interval: per / time.Duration(n), burst: max(burst, 1)}
}

// next returns when one more message is allowed behind others that wait. The
// time may be in the past.
func (b *bucket) next(now time.Time, others int) time.Time {
	return latest(b.full, now).Add(time.Duration(others-b.burst+1) * b.interval)
}

// take counts a message.
func (b *bucket) take(at time.Time) {
	if b.interval == 0 {
		return
	}
	b.full = latest(b.full, at).Add(b.interval)
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// rateLimiter applies [Rates] to one reference.
type rateLimiter struct {
	now func() time.Time

	mu            sync.Mutex
	all, outreach bucket
	locked        time.Time // until when the network refuses messages to new contacts
}

func newRateLimiter(p Rates, now func() time.Time) *rateLimiter {
	return &rateLimiter{
		now: now, all: newBucket(p.Messages, p.Burst, time.Minute), outreach: newBucket(p.Outreach, p.OutreachBurst, time.Hour),
	}
}

// turn counts a message if it is allowed now, else it returns how long to wait.
func (p *rateLimiter) turn(isNew bool) (wait time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	at := p.all.next(now, 0)
	if isNew {
		at = latest(at, p.outreach.next(now, 0))
	}
	if wait = at.Sub(now); wait > 0 {
		return wait
	}
	p.all.take(now)
	if isNew {
		p.outreach.take(now)
	}
	return 0
}

// next returns how long it takes until a message is allowed behind others to the same
// contact.
func (p *rateLimiter) next(isNew bool, others int) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	at := p.all.next(now, others)
	if isNew {
		at = latest(at, latest(p.outreach.next(now, 0), p.locked))
	}
	return at.Sub(now)
}

// lock blocks messages to new contacts until a time; the zero time unblocks them.
func (p *rateLimiter) lock(at time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.locked = at
}

// wasLocked reports whether a lock was set, even if its time has passed.
func (p *rateLimiter) wasLocked() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.locked.IsZero()
}

// untilUnlocked returns how long messages to new contacts are blocked.
func (p *rateLimiter) untilUnlocked() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return max(p.locked.Sub(p.now()), 0)
}

// sendRate limits how fast a session sends. What it allows new contacts is in the
// database, so that the limits also hold after another process opens the
// reference.
type sendRate struct {
	conn    *connection
	people  *resolver
	db      *database.DB
	shown   func() time.Time // by the clock of the database, which is the same for all processes
	limiter *rateLimiter
}

// here returns when this process's clock shows what that of the database shows at a
// time. The zero time stays.
func (sr *sendRate) here(at time.Time) time.Time {
	if at.IsZero() {
		return at
	}
	return sr.conn.now().Add(at.Sub(sr.shown()))
}

const (
	// sentHistory is how far back the records that [sendRate.Left] gets reach.
	sentHistory = 5 * time.Minute
	// nextTimeout limits the lookup of a contact's keys.
	nextTimeout = time.Second
)

// turn counts a message, or returns the error that says when it is allowed.
func (sr *sendRate) turn(ctx context.Context, isNew bool) error {
	if isNew && sr.limiter.untilUnlocked() > 0 {
		return sr.lockedErr()
	}
	if wait := sr.limiter.turn(isNew); wait > 0 {
		return &provider.RateLimited{After: wait, Code: "pace", Message: "Messages are sent slowly so that WhatsApp does not ban the account."}
	}
	if !isNew {
		return nil
	}
	if err := sr.storeOutreach(ctx); err != nil {
		return &provider.Temporary{Err: err}
	}
	return nil
}

// lockedErr says how long the network refuses messages to new contacts.
func (sr *sendRate) lockedErr() error {
	return &provider.RateLimited{
		After: sr.limiter.untilUnlocked(), Code: string(provider.ReachoutLimited),
		Message: "WhatsApp keeps the account from writing to people who have not written to it.",
	}
}

// isNew reports whether a person is a new contact: the account has no keys of
// theirs, so they have never exchanged a message.
func (sr *sendRate) isNew(ctx context.Context, c *whatsmeow.Client, to types.JID) (bool, error) {
	if to.Server == types.GroupServer {
		return false, nil
	}
	for _, j := range []types.JID{to, jid(provider.Address{LID: sr.people.address(ctx, to, types.EmptyJID).LID})} {
		if j.User == "" {
			continue
		}
		has, err := c.Store.Sessions.HasSession(ctx, j.SignalAddress().String())
		if err != nil || has {
			return false, err
		}
	}
	return true, nil
}

// Left counts the messages that were sent before the session was opened. It
// assumes that the account was busy before the first of them.
func (sr *sendRate) Left(sent []provider.SentRecord) {
	sr.limiter.recall(sent)
}

func (p *rateLimiter) recall(sent []provider.SentRecord) {
	p.mu.Lock()
	defer p.mu.Unlock()
	refill := time.Duration(p.all.burst) * p.all.interval
	now := p.now()
	p.all.full = now.Add(min(refill, sentHistory) - sentHistory)
	for _, d := range sent {
		p.all.take(now.Add(-d.Ago))
	}
}

// Next returns how long it takes until the rates allow a message.
func (sr *sendRate) Next(to provider.Address, others int) time.Duration {
	isNew := false
	if c := sr.conn.current(); c != nil {
		ctx, cancel := context.WithTimeout(sr.conn.ctx, nextTimeout)
		defer cancel()
		found, err := sr.isNew(ctx, c, jid(to))
		isNew = found && err == nil
	}
	return sr.limiter.next(isNew, others)
}

// load reads the state that an earlier session of the reference has stored.
func (sr *sendRate) load(ctx context.Context) error {
	var row struct {
		Outreach int64 `db:"free_us"`
		Locked   int64 `db:"restricted_us"`
	}
	err := sr.db.GetContext(ctx, &row, `SELECT free_us, restricted_us FROM web_outreach WHERE reference = $1`, sr.conn.ref.ID)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the send rate of a reference: %w", err)
	}
	sr.limiter.mu.Lock()
	defer sr.limiter.mu.Unlock()
	sr.limiter.outreach.full, sr.limiter.locked = sr.here(database.Time(row.Outreach)), sr.here(database.Time(row.Locked))
	return nil
}

// storeOutreach stores that a new contact is about to be written to.
func (sr *sendRate) storeOutreach(ctx context.Context) error {
	sr.limiter.mu.Lock()
	interval, full := sr.limiter.outreach.interval, sr.limiter.outreach.full
	sr.limiter.mu.Unlock()
	if interval == 0 {
		return nil
	}
	return sr.put(ctx, `INSERT INTO web_outreach (reference, free_us, restricted_us) VALUES ($1, $2, 0) ON CONFLICT (reference) DO UPDATE
		SET free_us = CASE WHEN excluded.free_us > web_outreach.free_us THEN excluded.free_us ELSE web_outreach.free_us END`, sr.shown().Add(full.Sub(sr.conn.now())))
}

// lockOutreach blocks messages to new contacts until a time of the database's clock, also
// for later sessions; the zero time unblocks them.
func (sr *sendRate) lockOutreach(ctx context.Context, until time.Time) error {
	sr.limiter.lock(sr.here(until))
	return sr.put(ctx, `INSERT INTO web_outreach (reference, free_us, restricted_us) VALUES ($1, 0, $2)
		ON CONFLICT (reference) DO UPDATE SET restricted_us = excluded.restricted_us`, until)
}

func (sr *sendRate) put(ctx context.Context, put string, at time.Time) error {
	if !sr.conn.leased() {
		return errLost
	}
	err := sr.db.Write(ctx, func(tx *database.Tx) error {
		_, err := tx.ExecContext(ctx, put, sr.conn.ref.ID, database.Micros(at))
		return err
	})
	if err != nil {
		return fmt.Errorf("storing the send rate of a reference: %w", err)
	}
	return nil
}
