package messaging

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/messaging/internal/refusal"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

// Check says what would become of a send, without sending.
func (a *Account) Check(ctx context.Context, req SendRequest) (SendCheck, error) {
	d, err := a.prepare(ctx, req)
	var refused *Error
	if err != nil && !errors.As(err, &refused) {
		return SendCheck{}, err
	}
	if err := a.checkQuote(ctx, d); err != nil {
		return SendCheck{}, err
	}
	out := SendCheck{Allowed: err == nil, SentAs: d.content.Type(), WindowExpiresAt: payload.OptionalTime(d.windowUS)}
	if refused != nil {
		out.Reason = &refused.Code
		return out, nil
	}
	out.Earliest, err = a.s.earliest(ctx, d)
	return out, err
}

// earliest is when a message could leave that has to wait for the rates of its
// network; nil: now.
func (s *Service) earliest(ctx context.Context, d preparedMessage) (*UnixTime, error) {
	sess, err := s.connections.Get(ctx, d.row)
	if errors.Is(err, refusal.ErrNotHere) {
		return nil, nil // its rates are known where it is
	}
	if err != nil {
		return nil, err
	}
	p, ok := sess.(provider.RateLimiter)
	if !ok {
		return nil, nil
	}
	waiting, err := s.waiting(ctx, d)
	if err != nil {
		return nil, err
	}
	at := p.Next(d.addr, waiting)
	if !at.After(s.now()) {
		return nil, nil
	}
	return &UnixTime{Time: at.Truncate(time.Second).Add(time.Second)}, nil
}

// waiting counts the latest messages of a chat that have not left.
func (s *Service) waiting(ctx context.Context, d preparedMessage) (n int, err error) {
	if d.chat == 0 {
		return 0, nil
	}
	err = s.db.GetContext(ctx, &n, `SELECT count(*) FROM
		(SELECT mine, status FROM messaging_message WHERE chat = $1 AND past_us = 0 ORDER BY seq DESC LIMIT 1000) AS latest
		WHERE mine AND status = $2`, d.chat, int(provider.StatusPending))
	if err != nil {
		return 0, fmt.Errorf("counting what waits: %w", err)
	}
	return n, nil
}

// checkQuote refuses a prepared message that answers no message of its chat.
func (a *Account) checkQuote(ctx context.Context, d preparedMessage) error {
	if d.req.ReplyTo == "" {
		return nil
	}
	c, err := a.s.store.ChatByAddress(ctx, a.s.db, d.line.ID, d.addr)
	if errors.Is(err, ErrNotFound) {
		c, err = &store.Chat{}, nil // one without messages
	}
	if err != nil {
		return err
	}
	return a.s.db.InTx(ctx, func(tx *sqlx.Tx) error {
		_, err := quoted(ctx, a.s.store.Begin(tx), d, c)
		return err
	})
}
