package outbox

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/text"
	"github.com/trunklinehq/trunkline/messaging/internal/recipient"
	"github.com/trunklinehq/trunkline/messaging/internal/render"
	"github.com/trunklinehq/trunkline/messaging/internal/sanitize"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

// fingerprint identifies what a send asks for.
func (d prepared) fingerprint() string {
	content, err := render.EncodeContent(d.req.Content, d.req.Tag)
	if err != nil {
		content = fmt.Sprint(d.req.Content)
	}
	to := d.addr.ChatID
	if written := strings.TrimSpace(text.Sanitize(d.req.ChatID)); strings.HasSuffix(written, recipient.SingleSuffix) {
		to = written // what it stands for changes when more of the contact is known
	}
	asked := fmt.Appendf(nil, "%d\n%s\n%s\n%s", d.req.Reference, to, d.req.ReplyTo, content)
	if d.req.ClientID != "" {
		asked = append(asked, "\n"+d.req.ClientID...)
	}
	return sanitize.Digest(asked)
}

// sendRecord is what an idempotency key was used for.
type sendRecord struct {
	Digest  string `db:"digest"`
	Message int64  `db:"message"`
	UntilUS int64  `db:"until_us"` // the first request is answered by then
}

// sentBefore returns what was sent with the idempotency key of a message; nil
// when it has none or a new one. A key of another request is a [payload.Error].
func sentBefore(ctx context.Context, tx *database.Tx, d prepared) (*sendRecord, error) {
	key := d.req.IdempotencyKey
	if len(key) > 255 {
		return nil, &payload.Invalid{Field: "Idempotency-Key", Message: "must have at most 255 characters"}
	}
	for _, r := range key {
		if r < '!' || r > '~' {
			return nil, &payload.Invalid{Field: "Idempotency-Key", Message: "must be visible ASCII"}
		}
	}
	if key == "" {
		return nil, nil
	}
	row := &sendRecord{}
	err := tx.GetContext(ctx, row, `SELECT digest, message, until_us FROM messaging_idempotency WHERE account = $1 AND idempotency_key = $2`, d.ref.Account, key)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("reading an idempotency key: %w", err)
	case row.Digest != d.fingerprint():
		return nil, &payload.Error{Code: payload.CodeConflict, Message: "This Idempotency-Key was used for another request. Use a new key."}
	}
	return row, nil
}

// repeatTimeout is how long a repeat waits for the first request.
const repeatTimeout = 10 * time.Second

// awaitFirst lets a repeat wait for the first request, which ends with its
// attempt or after its Wait. A repeat that would wait for longer than
// repeatTimeout is a conflict, for now.
func (w *Writer) awaitFirst(ctx context.Context, first sendRecord) error {
	left := database.Time(first.UntilUS).Sub(w.Store.Now())
	if left <= 0 {
		return nil
	}
	over := w.Waits.Attempt(ctx, first.Message, min(left, repeatTimeout))
	if over || left <= repeatTimeout || ctx.Err() != nil {
		return nil
	}
	return &payload.Error{
		Code: payload.CodeConflict, Message: "The first request with this Idempotency-Key is still in progress. Try again later.", After: left - repeatTimeout,
	}
}

// recordSend stores which message was sent with an idempotency key. When another
// transaction used the key first, the caller's is begun again and finds its
// message.
func recordSend(ctx context.Context, u *store.Batch, d prepared, seq int64) error {
	res, err := u.Tx.ExecContext(ctx, `INSERT INTO messaging_idempotency (account, idempotency_key, digest, message, until_us, created_us)
		VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (account, idempotency_key) DO NOTHING`,
		d.ref.Account, d.req.IdempotencyKey, d.fingerprint(), seq, database.Micros(u.Now.Add(d.req.Wait)), database.Micros(u.Now))
	if err != nil {
		return fmt.Errorf("remembering an idempotency key: %w", err)
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return errors.Join(err, store.ErrMoved)
	}
	return nil
}

// refusedByNetwork is the error of a message that the network refused at the
// first attempt. Such a refusal is not remembered: the key may be used again.
func (w *Writer) refusedByNetwork(ctx context.Context, account string, m *store.Message) error {
	if m.Status != provider.StatusFail {
		return nil
	}
	code := payload.CodeProvider
	switch m.ErrorCode {
	case payload.CodeSessionNotConnected, payload.CodeWindowClosed, payload.CodeUnsupported:
		code = m.ErrorCode
	}
	if code != payload.CodeProvider {
		if _, err := w.Store.DB.ExecContext(ctx, `DELETE FROM messaging_idempotency WHERE account = $1 AND message = $2`, account, m.Seq); err != nil {
			return fmt.Errorf("forgetting an idempotency key: %w", err)
		}
	}
	return &payload.Error{Code: code, Message: m.Failure().Text(), ProviderCode: m.ErrorCode, MessageID: m.ID}
}
