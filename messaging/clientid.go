package messaging

import (
	"context"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/provider"
)

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
	return isPrintable("clientId", id)
}

// isPrintable refuses control characters.
func isPrintable(field, s string) error {
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
		err = isPrintable("id", id)
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
	m, c, err := a.s.message(ctx, seqs[0])
	if err != nil {
		return Message{}, err
	}
	return m.View(c), nil
}
