package messaging

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/messaging/internal/recipient"
	"github.com/trunklinehq/trunkline/messaging/internal/render"
	"github.com/trunklinehq/trunkline/messaging/internal/sanitize"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/provider"
)

// fingerprint identifies what a send asks for.
func (d preparedMessage) fingerprint() string {
	content, err := render.EncodeContent(d.req.Content, d.req.Tag)
	if err != nil {
		content = fmt.Sprint(d.req.Content)
	}
	to := d.addr.ChatID
	if written := strings.TrimSpace(store.Sanitize(d.req.ChatID)); strings.HasSuffix(written, recipient.SingleSuffix) {
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

// sentBefore returns what the prepared message's idempotency key made, nil when there is
// none or it is new, and an [*Error] when it made another request.
func (a *Account) sentBefore(ctx context.Context, tx *sqlx.Tx, d preparedMessage) (*sendRecord, error) {
	key := d.req.IdempotencyKey
	if len(key) > 255 {
		return nil, &Invalid{Field: "Idempotency-Key", Message: "must have at most 255 characters"}
	}
	for _, r := range key {
		if r < '!' || r > '~' {
			return nil, &Invalid{Field: "Idempotency-Key", Message: "must be visible ASCII"}
		}
	}
	if key == "" {
		return nil, nil
	}
	row := &sendRecord{}
	err := tx.GetContext(ctx, row, `SELECT digest, message, until_us FROM messaging_idempotency WHERE account = $1 AND idempotency_key = $2`, a.id, key)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("reading an idempotency key: %w", err)
	case row.Digest != d.fingerprint():
		return nil, &Error{Code: CodeConflict, Message: "This Idempotency-Key was used for another request."}
	}
	return row, nil
}

// repeatTimeout is how long a repeat waits for the first request.
const repeatTimeout = 10 * time.Second

// awaitFirst lets a repeat wait for the first request, which is under way until
// its attempt is over or it has waited as long as it was told to. One that
// would have to wait too long is a conflict, for now.
func (s *Service) awaitFirst(ctx context.Context, first sendRecord) error {
	left := database.Time(first.UntilUS).Sub(s.now())
	if left <= 0 {
		return nil
	}
	over := s.waits.Attempt(ctx, first.Message, min(left, repeatTimeout))
	if over || left <= repeatTimeout || ctx.Err() != nil {
		return nil
	}
	return &Error{
		Code: CodeConflict, Message: "The first request with this Idempotency-Key is still under way.", After: left - repeatTimeout,
	}
}

// recordSend binds the prepared message's key to a message. When another transaction was
// first, the caller's is begun again and finds that one's message.
func recordSend(ctx context.Context, u *store.Batch, d preparedMessage, seq int64) error {
	res, err := u.Tx.ExecContext(ctx, `INSERT INTO messaging_idempotency (account, idempotency_key, digest, message, until_us, created_us)
		VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (account, idempotency_key) DO NOTHING`,
		d.line.Account, d.req.IdempotencyKey, d.fingerprint(), seq, database.Micros(u.Now.Add(d.req.Wait)), database.Micros(u.Now))
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
func (a *Account) refusedByNetwork(ctx context.Context, m *store.Message) error {
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
	return &Error{Code: code, Message: m.Failure().Text(), ProviderCode: m.ErrorCode, MessageID: m.ID}
}

// maxClientID is how many characters a client id may have.
const maxClientID = 128

// checkClientID refuses what no client id can be. "" is none.
func checkClientID(id string) error {
	switch {
	case !utf8.ValidString(id):
		return &Invalid{Field: "clientId", Message: "must be UTF-8"}
	case utf8.RuneCountInString(id) > maxClientID:
		return &Invalid{Field: "clientId", Message: fmt.Sprintf("must have at most %d characters", maxClientID)}
	}
	return isPlainText("clientId", id)
}

// isPlainText refuses control characters.
func isPlainText(field, s string) error {
	if strings.ContainsFunc(s, unicode.IsControl) {
		return &Invalid{Field: field, Message: "must not have control characters"}
	}
	return nil
}

// Message returns a message by any of its ids, or [ErrNotFound]. Without a
// chat id it looks in all chats of the reference, and takes a client id too:
// of several messages with that client id it returns the newest.
func (a *Account) Message(ctx context.Context, ref provider.ReferenceID, chatID, id string) (Message, error) {
	if chatID == "" {
		return a.messageAnywhere(ctx, ref, store.Sanitize(id))
	}
	c, err := a.chat(ctx, ref, chatID)
	if err != nil {
		return Message{}, err
	}
	m, err := a.s.messageIn(ctx, c, store.Sanitize(id))
	if err != nil {
		return Message{}, err
	}
	return m.View(c), nil
}

// messageAnywhere finds a message of any chat of a reference.
func (a *Account) messageAnywhere(ctx context.Context, ref provider.ReferenceID, id string) (Message, error) {
	row, err := a.row(ctx, a.s.db, ref)
	if err == nil {
		err = isPlainText("id", id)
	}
	if err != nil {
		return Message{}, err
	}
	var seqs []int64
	err = a.s.db.SelectContext(ctx, &seqs, `SELECT seq FROM (
			SELECT seq, 0 AS by_what FROM messaging_message WHERE reference = $1 AND id = $2
			UNION ALL SELECT message AS seq, 1 AS by_what FROM messaging_outbound WHERE reference = $1 AND own_id = $2
			UNION ALL SELECT seq, by_what FROM (SELECT message AS seq, 2 AS by_what FROM messaging_outbound
				WHERE reference = $1 AND client_id = $2 AND client_id <> '' AND request_id = '' ORDER BY message DESC LIMIT 1) AS newest
		) AS found ORDER BY by_what LIMIT 1`, row.ID, id)
	if err != nil {
		return Message{}, fmt.Errorf("finding a message: %w", err)
	}
	if len(seqs) == 0 {
		return Message{}, ErrNotFound
	}
	m, c, err := a.s.store.Message(ctx, seqs[0])
	if err != nil {
		return Message{}, err
	}
	return m.View(c), nil
}
