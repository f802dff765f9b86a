package messaging

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/trunklinehq/trunkline/internal/page"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/text"
	"github.com/trunklinehq/trunkline/messaging/internal/outbox"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/provider"
)

// History bounds a page of a chat's messages.
type History struct {
	Limit  int    // at least 1, above 200 it is 200; 0: 50
	Before string // cursor, or an id of a message of the chat: older than it
	Cursor string // the same as Before
	After  string // cursor, or an id of a message of the chat: newer than it

	// What is listed; "" each: all.
	Status    string // a status: "FAIL"
	Direction string // "in": what contacts wrote; "out": what the account did
	ClientID  string // of the send
}

// older is the cursor of a page of older messages, and the field that has it.
func (h *History) older() (field, cursor string, err error) {
	switch {
	case h.Cursor == "":
		return "before", h.Before, nil
	case h.Before != "":
		return "", "", &Invalid{Field: "cursor", Message: "cannot be combined with before"}
	}
	return "cursor", h.Cursor, nil
}

// conditions narrow a query of messages.
func (h *History) conditions(p *store.Params, ref provider.ReferenceID) (string, error) {
	q := ""
	if h.Status != "" {
		status := slices.IndexFunc(allStatuses, func(s provider.Status) bool { return s.String() == h.Status })
		if status < 0 {
			return "", &Invalid{Field: "status", Message: "must be FAIL, PENDING, SENDING, DELIVERED, READ or PLAYED"}
		}
		q += ` AND m.status = ` + p.Add(int(allStatuses[status]))
	}
	switch h.Direction {
	case "":
	case "in":
		q += ` AND NOT m.mine`
	case "out":
		q += ` AND m.mine`
	default:
		return "", &Invalid{Field: "direction", Message: "must be in or out"}
	}
	if err := outbox.CheckClientID(h.ClientID); err != nil {
		return "", err
	}
	if h.ClientID != "" {
		q += ` AND m.seq IN (SELECT message FROM messaging_outbound WHERE reference = ` + p.Add(ref) + ` AND client_id = ` + p.Add(h.ClientID) + ` AND client_id <> '')`
	}
	return q, nil
}

var allStatuses = []provider.Status{
	provider.StatusPending, provider.StatusSending, provider.StatusFail, provider.StatusDelivered, provider.StatusRead, provider.StatusPlayed,
}

// Messages lists a chat's messages, the newest first. Before and After take
// the cursors of earlier pages, or ids of messages; After pages towards the present.
func (a *Account) Messages(ctx context.Context, ref provider.ReferenceID, chatID string, h History) (Page[Message], error) {
	limit, err := page.Size(h.Limit)
	if err != nil {
		return Page[Message]{}, err
	}
	field, older, err := h.older()
	if err != nil {
		return Page[Message]{}, err
	}
	if older != "" && h.After != "" {
		return Page[Message]{}, &Invalid{Field: "after", Message: "cannot be combined with " + field}
	}
	c, err := a.s.recipients.Known(ctx, a.id, ref, chatID)
	if err != nil {
		return Page[Message]{}, err
	}
	before, err := a.positionIn(ctx, c, field, older)
	if err != nil {
		return Page[Message]{}, err
	}
	after, err := a.positionIn(ctx, c, "after", h.After)
	if err != nil {
		return Page[Message]{}, err
	}
	p := store.Params{c.ID}
	only, err := h.conditions(&p, ref)
	if err != nil {
		return Page[Message]{}, err
	}
	q, order := `SELECT `+store.MessageColumns+store.MessageFrom+`WHERE m.chat = $1`+only, `DESC`
	if before != nil {
		q += ` AND (m.past_us, m.seq) < ` + p.Pair(before)
	}
	if after != nil {
		q += ` AND (m.past_us, m.seq) > ` + p.Pair(after)
		order = `ASC`
	}
	var rows []*store.Message
	if err := a.s.db.SelectContext(ctx, &rows, q+` ORDER BY m.past_us `+order+`, m.seq `+order+` LIMIT `+p.Add(limit+1), p...); err != nil {
		return Page[Message]{}, fmt.Errorf("listing messages: %w", err)
	}
	out := page.CutAt(rows, limit, func(m *store.Message) string { return page.Cursor{m.PastUS, m.Seq}.String() }, func(m *store.Message) Message { return m.View(c) })
	if after != nil {
		slices.Reverse(out.Items)
	}
	return out, nil
}

// positionIn reads a position in the messages of a chat: a cursor, or any id of a message.
func (a *Account) positionIn(ctx context.Context, c *store.Chat, field, s string) (page.Cursor, error) {
	at, err := page.ParseCursor(field, s, 2)
	if err == nil {
		return at, nil
	}
	m, err := messageIn(ctx, a.s.db, c, text.Sanitize(s))
	if errors.Is(err, ErrNotFound) {
		return nil, &Invalid{Field: field, Message: "is neither a cursor of this list nor an id of a message of the chat"}
	}
	if err != nil {
		return nil, err
	}
	return page.Cursor{m.PastUS, m.Seq}, nil
}

// Listed returns messages of a chat by their ids, the network's or ours, in
// the order in which they were stored. Those that are not there any more are
// left out.
func (a *Account) Listed(ctx context.Context, ref provider.ReferenceID, chatID string, ids []string) ([]Message, error) {
	out := []Message{}
	if len(ids) == 0 {
		return out, nil
	}
	c, err := a.s.recipients.Known(ctx, a.id, ref, chatID)
	if err != nil {
		return nil, err
	}
	values := make([]any, len(ids))
	for i, id := range ids {
		values[i] = text.Sanitize(id)
	}
	byID, args := a.s.db.Dialect.In("m.id", 3, values)
	byOwn, more := a.s.db.Dialect.In("own_id", 3+len(args), values)
	var rows []*store.Message
	err = a.s.db.SelectContext(ctx, &rows, `SELECT `+store.MessageColumns+store.MessageFrom+`WHERE m.reference = $1 AND m.chat = $2
		AND (`+byID+` OR m.seq IN (SELECT message FROM messaging_outbound WHERE reference = $1 AND `+byOwn+`)) ORDER BY m.seq`,
		append(append([]any{c.Reference, c.ID}, args...), more...)...)
	if err != nil {
		return nil, fmt.Errorf("reading messages: %w", err)
	}
	for _, m := range rows {
		out = append(out, m.View(c))
	}
	return out, nil
}

// Message returns a message by any of its ids, or [ErrNotFound]. Without a
// chat id it looks in all chats of the reference, and takes a client id too:
// of several messages with that client id it returns the newest.
func (a *Account) Message(ctx context.Context, ref provider.ReferenceID, chatID, id string) (Message, error) {
	if chatID == "" {
		return messageAnywhere(ctx, a, ref, text.Sanitize(id))
	}
	c, err := a.s.recipients.Known(ctx, a.id, ref, chatID)
	if err != nil {
		return Message{}, err
	}
	m, err := messageIn(ctx, a.s.db, c, text.Sanitize(id))
	if err != nil {
		return Message{}, err
	}
	return m.View(c), nil
}

// messageAnywhere finds a message of any chat of a reference.
func messageAnywhere(ctx context.Context, a *Account, ref provider.ReferenceID, id string) (Message, error) {
	row, err := store.ReferenceOf(ctx, a.s.db, a.id, ref)
	if err == nil {
		err = outbox.CheckPlainText("id", id)
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

// MessageIDs returns every id by which a message is or was known, given any of
// them.
func (a *Account) MessageIDs(ctx context.Context, ref provider.ReferenceID, messageID string) ([]string, error) {
	if _, err := store.ReferenceOf(ctx, a.s.db, a.id, ref); err != nil {
		return nil, err
	}
	messageID = text.Sanitize(messageID)
	var others []string
	err := a.s.db.SelectContext(ctx, &others, `SELECT o.own_id FROM messaging_message m JOIN messaging_outbound o ON o.message = m.seq
			WHERE m.reference = $1 AND m.id = $2
		UNION ALL SELECT m.id FROM messaging_outbound o JOIN messaging_message m ON m.seq = o.message
			WHERE o.reference = $1 AND o.own_id = $2`, ref, messageID)
	if err != nil {
		return nil, fmt.Errorf("reading the ids of a message: %w", err)
	}
	return append(others, messageID), nil
}

// messageIn reads a message of a chat by the network's id or by ours.
func messageIn(ctx context.Context, q database.Reader, c *store.Chat, id string) (*store.Message, error) {
	var rows []*store.Message
	err := q.SelectContext(ctx, &rows, `SELECT `+store.MessageColumns+store.MessageFrom+`WHERE m.reference = $1 AND m.chat = $2
		AND (m.id = $3 OR m.seq IN (SELECT message FROM messaging_outbound WHERE reference = $1 AND own_id = $3))
		ORDER BY CASE WHEN m.id = $3 THEN 0 ELSE 1 END LIMIT 1`, c.Reference, c.ID, id)
	if err != nil {
		return nil, fmt.Errorf("reading a message: %w", err)
	}
	if len(rows) == 0 {
		return nil, ErrNotFound
	}
	return rows[0], nil
}
