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

// checkKey checks the idempotency key of a request; "" is none.
func checkKey(key string) error {
	if len(key) > 255 {
		return &payload.Invalid{Field: "Idempotency-Key", Message: "must have at most 255 characters"}
	}
	for _, r := range key {
		if r < '!' || r > '~' {
			return &payload.Invalid{Field: "Idempotency-Key", Message: "must be visible ASCII"}
		}
	}
	return nil
}

// repliedBefore returns the message that was sent with the key of a reply, if one was.
func (w *Writer) repliedBefore(ctx context.Context, account, key string) (seq int64, sent bool, err error) {
	err = w.Store.DB.GetContext(ctx, &seq, `SELECT message FROM messaging_idempotency WHERE account = $1 AND idempotency_key = $2`, account, key)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, fmt.Errorf("looking for an earlier reply: %w", err)
	}
	return seq, true, nil
}

// sentBefore returns what was sent with the idempotency key of a message; nil
// when it has none or a new one. A key of another request is a [payload.Error].
func sentBefore(ctx context.Context, tx *database.Tx, d prepared) (*sendRecord, error) {
	key := d.req.IdempotencyKey
	if err := checkKey(key); err != nil && !d.reply {
		return nil, err
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
	case row.Digest != d.fingerprint() && !d.reply:
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

// replyTTL is how much longer the key of a reply is remembered than others: its message
// is handled again after a crash, whenever the program runs again.
const replyTTL = 6 * 24 * time.Hour

// recordSend stores which message was sent with an idempotency key. When another
// transaction used the key first, the caller's is begun again and finds its
// message.
func recordSend(ctx context.Context, u *store.Batch, d prepared, seq int64) error {
	created := u.Now
	if d.reply {
		created = created.Add(replyTTL)
	}
	res, err := u.Tx.ExecContext(ctx, `INSERT INTO messaging_idempotency (account, idempotency_key, digest, message, until_us, created_us)
		VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (account, idempotency_key) DO NOTHING`,
		d.ref.Account, d.req.IdempotencyKey, d.fingerprint(), seq, database.Micros(u.Now.Add(d.req.Wait)), database.Micros(created))
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
