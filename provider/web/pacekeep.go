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

var _ provider.Pacer = (*session)(nil)

const (
	// recalled is how far back what [session.Left] is told of goes.
	recalled = 5 * time.Minute
	// nextPatience bounds finding out whether a line has keys of a contact.
	nextPatience = time.Second
)

// Left counts what left the line before it was opened. Whether the line was at
// rest before the first of that is not known: it is taken to have been busy.
func (s *session) Left(sent []provider.Departure) {
	s.pace.recall(sent)
}

func (p *pacer) recall(sent []provider.Departure) {
	p.mu.Lock()
	defer p.mu.Unlock()
	whole := time.Duration(p.all.burst) * p.all.every
	p.all.whole = p.now().Add(min(whole, recalled) - recalled)
	for _, d := range sent {
		p.all.take(d.At)
	}
}

// Next is when the pace lets a message go.
func (s *session) Next(to provider.Address, others int) time.Time {
	stranger := false
	if c := s.device(); c != nil {
		ctx, cancel := context.WithTimeout(s.ctx, nextPatience)
		defer cancel()
		known, err := s.stranger(ctx, c, jid(to))
		stranger = known && err == nil
	}
	return s.pace.next(stranger, others)
}

// loadPace reads where the process that had the line before has left it.
func (s *session) loadPace(ctx context.Context) error {
	var row struct {
		Strangers int64 `db:"strangers_us"`
		Locked    int64 `db:"locked_us"`
	}
	err := s.p.devices.db.GetContext(ctx, &row, `SELECT strangers_us, locked_us FROM web_pace WHERE reference = $1`, s.ref.ID)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the pace of a line: %w", err)
	}
	s.pace.mu.Lock()
	defer s.pace.mu.Unlock()
	s.pace.strangers.whole, s.pace.locked = database.Time(row.Strangers), database.Time(row.Locked)
	return nil
}

// keepPace stores that a chat is about to be begun.
func (s *session) keepPace(ctx context.Context) error {
	s.pace.mu.Lock()
	every, whole := s.pace.strangers.every, s.pace.strangers.whole
	s.pace.mu.Unlock()
	if every == 0 {
		return nil
	}
	return s.putPace(ctx, `INSERT INTO web_pace (reference, strangers_us, locked_us) VALUES ($1, $2, 0) ON CONFLICT (reference) DO UPDATE
		SET strangers_us = CASE WHEN excluded.strangers_us > web_pace.strangers_us THEN excluded.strangers_us ELSE web_pace.strangers_us END`, whole)
}

// lockStrangers keeps the line from writing to strangers until then, whoever
// opens it; zero: not any more.
func (s *session) lockStrangers(ctx context.Context, until time.Time) error {
	s.pace.lock(until)
	return s.putPace(ctx, `INSERT INTO web_pace (reference, strangers_us, locked_us) VALUES ($1, 0, $2)
		ON CONFLICT (reference) DO UPDATE SET locked_us = excluded.locked_us`, until)
}

func (s *session) putPace(ctx context.Context, put string, at time.Time) error {
	if !s.held() {
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
