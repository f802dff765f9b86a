package messaging

import (
	"context"
	"fmt"
	"slices"

	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/provider"
)

// History bounds a page of a chat's messages.
type History struct {
	Limit  int    // at least 1, above 200 it is 200; 0: 50
	Before string // cursor: older than it
	Cursor string // the same as Before
	After  string // cursor: newer than it

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
	if err := checkClientID(h.ClientID); err != nil {
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
// the cursors of earlier pages; After pages towards the present.
func (a *Account) Messages(ctx context.Context, ref provider.ReferenceID, chatID string, h History) (Page[Message], error) {
	limit, err := List{Limit: h.Limit}.limit()
	if err != nil {
		return Page[Message]{}, err
	}
	field, older, err := h.older()
	if err != nil {
		return Page[Message]{}, err
	}
	before, err := store.ParseCursor(field, older, 2)
	if err != nil {
		return Page[Message]{}, err
	}
	after, err := store.ParseCursor("after", h.After, 2)
	if err != nil {
		return Page[Message]{}, err
	}
	if before != nil && after != nil {
		return Page[Message]{}, &Invalid{Field: "after", Message: "cannot be combined with " + field}
	}
	c, err := a.chat(ctx, ref, chatID)
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
	out := page(rows, limit, func(m *store.Message) store.Cursor { return store.Cursor{m.PastUS, m.Seq} }, func(m *store.Message) Message { return m.View(c) })
	if after != nil {
		slices.Reverse(out.Items)
	}
	return out, nil
}

// Listed returns messages of a chat by their ids, the network's or ours, in
// the order in which they were stored. Those that are not there any more are
// left out.
func (a *Account) Listed(ctx context.Context, ref provider.ReferenceID, chatID string, ids []string) ([]Message, error) {
	out := []Message{}
	if len(ids) == 0 {
		return out, nil
	}
	c, err := a.chat(ctx, ref, chatID)
	if err != nil {
		return nil, err
	}
	values := make([]any, len(ids))
	for i, id := range ids {
		values[i] = store.Sanitize(id)
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
