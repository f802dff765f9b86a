package messaging

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/provider"
)

// fingerprint identifies what a send asks for.
func (d draft) fingerprint() string {
	content, err := encodeContent(d.req.Content)
	if err != nil {
		content = fmt.Sprint(d.req.Content)
	}
	return digest(fmt.Appendf(nil, "%d\n%s\n%s\n%s", d.req.Reference, d.addr.ChatID, d.req.ReplyTo, content))
}

// remembered returns the message that the draft's idempotency key made, 0
// when it is new, and an [*Error] when it made another request.
func (a *Account) remembered(ctx context.Context, tx *sqlx.Tx, d draft) (int64, error) {
	key := d.req.IdempotencyKey
	if len(key) > 255 {
		return 0, &Invalid{"Idempotency-Key", "must have at most 255 characters"}
	}
	for _, r := range key {
		if r < '!' || r > '~' {
			return 0, &Invalid{"Idempotency-Key", "must be visible ASCII"}
		}
	}
	var row struct {
		Digest  string `db:"digest"`
		Message int64  `db:"message"`
	}
	err := tx.GetContext(ctx, &row, `SELECT digest, message FROM messaging_idempotency WHERE account = $1 AND idempotency_key = $2`, a.id, key)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return 0, nil
	case err != nil:
		return 0, fmt.Errorf("reading an idempotency key: %w", err)
	case row.Digest != d.fingerprint():
		return 0, &Error{Code: CodeConflict, Message: "This Idempotency-Key was used for another request."}
	}
	return row.Message, nil
}

// remember binds the draft's key to a message. When another transaction was
// first, the caller's is begun anew and finds that one's message.
func remember(ctx context.Context, u *unit, d draft, seq int64) error {
	res, err := u.tx.ExecContext(ctx, `INSERT INTO messaging_idempotency (account, idempotency_key, digest, message, created_us)
		VALUES ($1, $2, $3, $4, $5) ON CONFLICT (account, idempotency_key) DO NOTHING`,
		d.line.Account, d.req.IdempotencyKey, d.fingerprint(), seq, database.Micros(u.now))
	if err != nil {
		return fmt.Errorf("remembering an idempotency key: %w", err)
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return errors.Join(err, errMoved)
	}
	return nil
}

// refusedByNetwork is the error of a message that the network refused at the
// first attempt. Such a refusal is not remembered: the key may be used again.
func (a *Account) refusedByNetwork(ctx context.Context, m *messageRow) error {
	if m.Status != provider.StatusFail {
		return nil
	}
	code := CodeProvider
	switch m.ErrorCode {
	case CodeSessionNotConnected, CodeWindowClosed, CodeUnsupported:
		code = m.ErrorCode
	}
	if code != CodeProvider {
		if _, err := a.s.db.ExecContext(ctx, `DELETE FROM messaging_idempotency WHERE account = $1 AND message = $2`, a.id, m.Seq); err != nil {
			return fmt.Errorf("forgetting an idempotency key: %w", err)
		}
	}
	return &Error{Code: code, Message: m.ErrorMessage, ProviderCode: m.ErrorCode, MessageID: m.ID}
}
