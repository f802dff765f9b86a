package outbox

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/messaging/internal/refusal"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

// Check says what would become of a send, as the public type of package
// messaging describes it.
type Check struct {
	Allowed         bool
	Reason          *string
	SentAs          string
	Earliest        *payload.UnixTime
	WindowExpiresAt *payload.UnixTime
}

// Check checks a request without sending it.
func (w *Writer) Check(ctx context.Context, account string, req Request) (Check, error) {
	d, err := w.prepare(ctx, w.Store.DB, nil, account, req)
	var refused *payload.Error
	if err != nil && !errors.As(err, &refused) {
		return Check{}, err
	}
	if err := w.checkQuote(ctx, d); err != nil {
		return Check{}, err
	}
	out := Check{Allowed: err == nil, SentAs: d.content.Type(), WindowExpiresAt: payload.OptionalTime(d.windowUS)}
	if refused != nil {
		out.Reason = &refused.Code
		return out, nil
	}
	out.Earliest, err = w.earliest(ctx, d)
	return out, err
}

// earliest is when the rates of the network let the message out; nil: now.
func (w *Writer) earliest(ctx context.Context, d prepared) (*payload.UnixTime, error) {
	sess, err := w.Sender.Connections.Get(ctx, d.row)
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
	waiting, err := w.waiting(ctx, d)
	if err != nil {
		return nil, err
	}
	left := p.Next(d.addr, waiting)
	if left <= 0 {
		return nil, nil
	}
	return &payload.UnixTime{Time: w.Store.Now().Add(left).Truncate(time.Second).Add(time.Second)}, nil
}

// waiting counts the messages of the chat that are not sent yet, of the latest
// 1000.
func (w *Writer) waiting(ctx context.Context, d prepared) (n int, err error) {
	if d.chat == 0 {
		return 0, nil
	}
	err = w.Store.DB.GetContext(ctx, &n, `SELECT count(*) FROM
		(SELECT mine, status FROM messaging_message WHERE chat = $1 AND past_us = 0 ORDER BY seq DESC LIMIT 1000) AS latest
		WHERE mine AND status = $2`, d.chat, int(provider.StatusPending))
	if err != nil {
		return 0, fmt.Errorf("counting what waits: %w", err)
	}
	return n, nil
}

// checkQuote refuses a message that answers none of its chat.
func (w *Writer) checkQuote(ctx context.Context, d prepared) error {
	if d.req.ReplyTo == "" {
		return nil
	}
	c, err := w.Store.ChatByAddress(ctx, w.Store.DB, d.ref.ID, d.addr)
	if errors.Is(err, payload.ErrNotFound) {
		c, err = &store.Chat{}, nil // one without messages
	}
	if err != nil {
		return err
	}
	return w.Store.DB.InTx(ctx, func(tx *database.Tx) error {
		_, err := quoted(ctx, w.Store.Begin(tx), d, c)
		return err
	})
}
