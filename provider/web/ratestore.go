package web

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/provider"
)

var _ provider.RateLimiter = (*session)(nil)

const (
	// recalled is how far back what [session.Left] is told of goes.
	recalled = 5 * time.Minute
	// nextTimeout bounds finding out whether a line has keys of a contact.
	nextTimeout = time.Second
)

// Left counts what left the line before it was opened. Whether the line was at
// rest before the first of that is not known: it is taken to have been busy.
func (s *session) Left(sent []provider.SentRecord) {
	s.rate.recall(sent)
}

func (p *rateLimiter) recall(sent []provider.SentRecord) {
	p.mu.Lock()
	defer p.mu.Unlock()
	whole := time.Duration(p.all.burst) * p.all.interval
	p.all.whole = p.now().Add(min(whole, recalled) - recalled)
	for _, d := range sent {
		p.all.take(d.At)
	}
}

// Next is when the rates let a message go.
func (s *session) Next(to provider.Address, others int) time.Time {
	stranger := false
	if c := s.device(); c != nil {
		ctx, cancel := context.WithTimeout(s.ctx, nextTimeout)
		defer cancel()
		known, err := s.stranger(ctx, c, jid(to))
		stranger = known && err == nil
	}
	return s.rate.next(stranger, others)
}

// loadRate reads where the process that had the line before has left it.
func (s *session) loadRate(ctx context.Context) error {
	var row struct {
		Outreach int64 `db:"free_us"`
		Locked   int64 `db:"restricted_us"`
	}
	err := s.p.devices.db.GetContext(ctx, &row, `SELECT free_us, restricted_us FROM web_outreach WHERE reference = $1`, s.ref.ID)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the pace of a line: %w", err)
	}
	s.rate.mu.Lock()
	defer s.rate.mu.Unlock()
	s.rate.outreach.whole, s.rate.locked = database.Time(row.Outreach), database.Time(row.Locked)
	return nil
}

// storeRate stores that a chat is about to be begun.
func (s *session) storeRate(ctx context.Context) error {
	s.rate.mu.Lock()
	interval, whole := s.rate.outreach.interval, s.rate.outreach.whole
	s.rate.mu.Unlock()
	if interval == 0 {
		return nil
	}
	return s.putRate(ctx, `INSERT INTO web_outreach (reference, free_us, restricted_us) VALUES ($1, $2, 0) ON CONFLICT (reference) DO UPDATE
		SET free_us = CASE WHEN excluded.free_us > web_outreach.free_us THEN excluded.free_us ELSE web_outreach.free_us END`, whole)
}

// lockOutreach keeps the line from writing to strangers until then, whichever process
// opens it; zero: not any more.
func (s *session) lockOutreach(ctx context.Context, until time.Time) error {
	s.rate.lock(until)
	return s.putRate(ctx, `INSERT INTO web_outreach (reference, free_us, restricted_us) VALUES ($1, 0, $2)
		ON CONFLICT (reference) DO UPDATE SET restricted_us = excluded.restricted_us`, until)
}

func (s *session) putRate(ctx context.Context, put string, at time.Time) error {
	if !s.leased() {
		return errLost
	}
	err := s.p.devices.db.Write(ctx, func(tx *sqlx.Tx) error {
		_, err := tx.Exec(put, s.ref.ID, database.Micros(at))
		return err
	})
	if err != nil {
		return fmt.Errorf("storing the pace of a line: %w", err)
	}
	return nil
}
