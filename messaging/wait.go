package messaging

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/trunklinehq/trunkline/messaging/internal/store"
)

// attemptPollInterval is how often a waiting caller looks for an attempt that another
// node makes.
const attemptPollInterval = 250 * time.Millisecond

// awaitAttempt waits until the first attempt to send a message is over, at
// most for d. It reports whether it is.
func (s *Service) awaitAttempt(ctx context.Context, seq int64, d time.Duration) bool {
	return s.await(ctx, seq, d, `SELECT tried OR announced FROM messaging_outbound WHERE message = $1`)
}

// await waits until query, which is about a message, says true or finds
// nothing.
func (s *Service) await(ctx context.Context, seq int64, d time.Duration, query string) bool {
	if d <= 0 {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	over, leave := s.wait(seq)
	defer leave()
	poll := time.NewTicker(attemptPollInterval)
	defer poll.Stop()
	for {
		var is bool
		err := s.db.GetContext(ctx, &is, query, seq)
		if err != nil || is {
			return is || errors.Is(err, sql.ErrNoRows) // over or deleted, else out of time
		}
		select {
		case <-over:
		case <-poll.C:
		case <-ctx.Done():
			return false
		}
	}
}

// wait registers for the end of an attempt, or of a fetch, on this node.
func (s *Service) wait(seq int64) (over <-chan struct{}, leave func()) {
	ch := make(chan struct{}, 1)
	s.waitMu.Lock()
	defer s.waitMu.Unlock()
	s.waits[seq] = append(s.waits[seq], ch)
	return ch, func() {
		s.waitMu.Lock()
		defer s.waitMu.Unlock()
		var rest []chan struct{}
		for _, c := range s.waits[seq] {
			if c != ch {
				rest = append(rest, c)
			}
		}
		if len(rest) == 0 {
			delete(s.waits, seq)
			return
		}
		s.waits[seq] = rest
	}
}

// attemptOver tells those who wait for a message's first attempt, or its file.
func (s *Service) attemptOver(seq int64) {
	s.waitMu.Lock()
	defer s.waitMu.Unlock()
	for _, ch := range s.waits[seq] {
		select {
		case ch <- struct{}{}:
		default:
		}
	}
}

// message reads one message with its chat.
func (s *Service) message(ctx context.Context, seq int64) (*store.Message, *store.Chat, error) {
	m, c := &store.Message{}, &store.Chat{}
	err := s.db.GetContext(ctx, m, `SELECT `+store.MessageColumns+store.MessageFrom+`WHERE m.seq = $1`, seq)
	if err == nil {
		err = s.db.GetContext(ctx, c, `SELECT `+store.ChatColumns+` FROM messaging_chat c WHERE c.id = $1`, m.Chat)
	}
	if errors.Is(err, sql.ErrNoRows) || err == nil && c.Deleted() {
		return nil, nil, ErrNotFound // deleted meanwhile
	}
	if err != nil {
		return nil, nil, fmt.Errorf("reading a message: %w", err)
	}
	return m, c, nil
}
