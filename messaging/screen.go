package messaging

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/trunklinehq/trunkline/internal/page"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/text"
	"github.com/trunklinehq/trunkline/messaging/internal/render"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

// ScreenItem is a message as the contact's device would show it: with the
// content that was really sent, buttons and all, and as it is after what was
// done to it since.
type ScreenItem struct {
	Direction string               `json:"direction" enum:"in,out" doc:"in: the contact received it; out: the contact sent it."`
	ID        string               `json:"id"`
	Reference provider.ReferenceID `json:"reference"`
	ChatID    string               `json:"chatId"`
	Type      string               `json:"type"`
	Content   json.RawMessage      `json:"content"` // an object
	Status    string               `json:"status"`
	At        UnixTime             `json:"messageTimestamp"`
	Edited    bool                 `json:"edited,omitempty"`
	Deleted   bool                 `json:"deleted,omitempty"` // for everybody: its content is gone
	Reactions []ScreenReaction     `json:"reactions,omitempty"`
}

// ScreenReaction is a reaction under a message.
type ScreenReaction struct {
	Emoji string `json:"emoji"`
	Mine  bool   `json:"mine"`           // of the account
	From  string `json:"from,omitempty"` // of a participant of a group: as the remoteJid of its messages
}

// Screen is what contacts of an account see on their devices. A simulated phone
// shows it.
type Screen Account

// Screen returns the screens of the contacts of the account.
func (a *Account) Screen() *Screen { return (*Screen)(a) }

// List lists the messages that the contacts of a reference see, the newest first;
// chatID "" lists those of all chats. Edits, deletions and reactions are not
// listed: they change the message that they are about.
func (a *Screen) List(ctx context.Context, ref provider.ReferenceID, chatID string, l List) (Page[ScreenItem], error) {
	before, limit, err := position(l, 1)
	if err != nil {
		return Page[ScreenItem]{}, err
	}
	if _, err := store.ReferenceOf(ctx, a.s.db, a.id, ref); err != nil {
		return Page[ScreenItem]{}, err
	}
	p := store.Params{ref}
	q := screenRows + `m.reference = $1 AND NOT ` + screenChange
	if chatID != "" {
		c, err := a.s.recipients.Known(ctx, a.id, ref, chatID)
		if err != nil {
			return Page[ScreenItem]{}, err
		}
		q += ` AND m.chat = ` + p.Add(c.ID)
	}
	if before != nil {
		q += ` AND m.seq < ` + p.Add(before[0])
	}
	var rows []*screenRow
	if err := a.s.db.SelectContext(ctx, &rows, q+` ORDER BY m.seq DESC LIMIT `+p.Add(limit+1), p...); err != nil {
		return Page[ScreenItem]{}, fmt.Errorf("listing a screen: %w", err)
	}
	if err := changeScreen(ctx, a.s.db, rows); err != nil {
		return Page[ScreenItem]{}, err
	}
	return page.CutAt(rows, limit, func(r *screenRow) string { return page.Cursor{r.Seq}.String() }, func(r *screenRow) ScreenItem { return r.item }), nil
}

// Get returns one message of a chat as the contact's device would show it, by
// the network's id or by ours. A message that no screen shows is [ErrNotFound].
func (a *Screen) Get(ctx context.Context, ref provider.ReferenceID, chatID, id string) (ScreenItem, error) {
	c, err := a.s.recipients.Known(ctx, a.id, ref, chatID)
	if err != nil {
		return ScreenItem{}, err
	}
	var rows []*screenRow
	err = a.s.db.SelectContext(ctx, &rows, screenRows+`m.chat = $1 AND NOT `+screenChange+` AND m.seq IN
		(SELECT seq FROM messaging_message WHERE reference = $2 AND id = $3
		UNION SELECT message FROM messaging_outbound WHERE reference = $2 AND own_id = $3)`, c.ID, c.Reference, text.Sanitize(id))
	if err != nil {
		return ScreenItem{}, fmt.Errorf("reading a message of a screen: %w", err)
	}
	if len(rows) == 0 {
		return ScreenItem{}, ErrNotFound
	}
	if err := changeScreen(ctx, a.s.db, rows[:1]); err != nil {
		return ScreenItem{}, err
	}
	return rows[0].item, nil
}

// Unread is what a contact has not read yet.
type Unread struct {
	Name string   // of the contact, as the chat shows it
	IDs  []string // of the delivered messages among the newest 50 of the chat, the newest first
}

// Unread returns what the contact of a chat has not read.
func (a *Screen) Unread(ctx context.Context, ref provider.ReferenceID, chatID string) (Unread, error) {
	c, err := a.s.recipients.Known(ctx, a.id, ref, chatID)
	if err != nil {
		return Unread{}, err
	}
	out := Unread{Name: view(c, nil).Name}
	err = a.s.db.SelectContext(ctx, &out.IDs, `SELECT m.id FROM (SELECT * FROM messaging_message WHERE chat = $1 ORDER BY past_us DESC, seq DESC LIMIT 50) AS m
		WHERE m.mine AND m.status = $2 AND NOT `+screenChange+` ORDER BY m.seq DESC`, c.ID, provider.StatusDelivered)
	if err != nil {
		return Unread{}, fmt.Errorf("reading a screen: %w", err)
	}
	return out, nil
}

const (
	// screenRows leaves out messages that are PENDING (0) or FAIL (2).
	screenRows = `SELECT m.seq, m.chat, m.reference, m.id, m.mine, m.status, m.body, m.at_us, c.chat_id, COALESCE(o.content, '') AS content,
		COALESCE(o.own_id, '') AS own_id
		FROM messaging_message m JOIN messaging_chat c ON c.id = m.chat LEFT JOIN messaging_outbound o ON o.message = m.seq
		WHERE NOT (m.mine AND m.status IN (0, 2)) AND `
	// screenChange is true of edits, deletions and reactions. In JSON no text
	// can hold these characters: its quotes are escaped.
	screenChange = `(m.body LIKE '%"edited":{"messageId":%' OR m.body LIKE '%"revoked":{"messageId":%' OR m.body LIKE '%"reaction":{"messageId":%')`
)

type screenRow struct {
	Seq       int64                `db:"seq"`
	Chat      int64                `db:"chat"`
	Reference provider.ReferenceID `db:"reference"`
	ID        string               `db:"id"`
	OwnID     string               `db:"own_id"`
	Mine      bool                 `db:"mine"`
	Status    provider.Status      `db:"status"`
	Body      string               `db:"body"`
	AtUS      int64                `db:"at_us"`
	ChatID    string               `db:"chat_id"`
	Content   string               `db:"content"`

	item ScreenItem
}

// changeScreen makes the items of rows and applies what was done to them, in
// the order in which it was done.
func changeScreen(ctx context.Context, db *database.DB, rows []*screenRow) error {
	if len(rows) == 0 {
		return nil
	}
	type messageOf struct {
		chat int64
		id   string
	}
	byID := map[messageOf]*screenRow{}
	var chats []int64
	first := rows[0].Seq
	for _, r := range rows {
		r.item = r.view()
		byID[messageOf{r.Chat, r.ID}] = r
		if r.OwnID != "" {
			byID[messageOf{r.Chat, r.OwnID}] = r
		}
		chats, first = append(chats, r.Chat), min(first, r.Seq)
	}
	in, args := db.Dialect.InNumbers("m.chat", 2, chats)
	var changes []*screenRow
	err := db.SelectContext(ctx, &changes, screenRows+`m.seq > $1 AND `+in+` AND `+screenChange+` ORDER BY m.seq`,
		append([]any{first}, args...)...)
	if err != nil {
		return fmt.Errorf("reading what changed a screen: %w", err)
	}
	for _, c := range changes {
		var b Body
		if json.Unmarshal([]byte(c.Body), &b) != nil {
			continue
		}
		if r := byID[messageOf{c.Chat, b.Target()}]; r != nil {
			r.change(c.Mine, b)
		}
	}
	return nil
}

// change applies an edit, a deletion or a reaction, of the account or of a
// contact. Who did not write a message can only react to it, and nothing
// changes one that was deleted.
func (r *screenRow) change(mine bool, b Body) {
	switch {
	case r.item.Deleted:
	case b.Reaction != nil:
		r.react(mine, b)
	case r.Mine != mine:
	case b.Revoked != nil:
		r.item.Type, r.item.Content = TypeText, payload.MustEncode(map[string]string{"type": TypeText, "text": b.Text})
		r.item.Deleted, r.item.Edited, r.item.Reactions = true, false, nil
	default:
		words := "text"
		if isAttachment(r.item.Type) {
			words = "caption"
		}
		members := store.DecodeObject(string(r.item.Content))
		members[words] = payload.MustEncode(cmp.Or(b.Text, b.Caption))
		r.item.Content, r.item.Edited = payload.MustEncode(members), true
	}
}

// isAttachment reports whether a type has a caption in the place of a text.
func isAttachment(kind string) bool {
	switch kind {
	case TypeImage, TypeVideo, TypeDocument, TypeAudio, "sticker":
		return true
	}
	return false
}

// react puts a reaction in the place of the one that its author gave before.
func (r *screenRow) react(mine bool, b Body) {
	now := ScreenReaction{Emoji: b.Reaction.Emoji, Mine: mine}
	if b.Participant != nil && !mine {
		now.From = b.Participant.RemoteJID
	}
	var kept []ScreenReaction
	for _, was := range r.item.Reactions {
		if was.Mine != now.Mine || was.From != now.From {
			kept = append(kept, was)
		}
	}
	if now.Emoji != "" {
		kept = append(kept, now)
	}
	r.item.Reactions = kept
}

// view is the message as it was written.
func (r *screenRow) view() ScreenItem {
	out := ScreenItem{
		Direction: "in", ID: r.ID, Reference: r.Reference, ChatID: r.ChatID, Type: TypeText, Content: json.RawMessage(r.Content),
		Status: r.Status.String(), At: UnixTime{Time: database.Time(r.AtUS)},
	}
	if r.Mine {
		out.Content = render.ShownFile(out.Content, r.Body)
	} else {
		out.Direction, out.Content = "out", json.RawMessage(r.Body)
	}
	var kind struct {
		Type string `json:"type"`
	}
	if json.Unmarshal(out.Content, &kind) == nil && kind.Type != "" {
		out.Type = kind.Type
	}
	return out
}

// typingTTL is how long a contact's device shows that the account is writing,
// unless a message comes before.
const typingTTL = 25 * time.Second

// Typing is a chat in which the contact sees that the account is writing.
type Typing struct {
	ChatID string   `json:"chatId" example:"ana@sandbox"`
	Since  UnixTime `json:"since"`
}

// Typing lists the chats in which a simulated phone shows that the account is
// writing: for 25 seconds, or until its next message is there.
func (a *Screen) Typing(ctx context.Context, ref provider.ReferenceID) ([]Typing, error) {
	if _, err := store.ReferenceOf(ctx, a.s.db, a.id, ref); err != nil {
		return nil, err
	}
	var rows []struct {
		ChatID  string `db:"chat_id"`
		SinceUS int64  `db:"since_us"`
	}
	err := a.s.db.SelectContext(ctx, &rows, `SELECT c.chat_id, t.since_us FROM messaging_typing t JOIN messaging_chat c ON c.id = t.chat
		WHERE c.reference = $1 AND t.since_us > $2 AND NOT EXISTS (SELECT 1 FROM messaging_message m
			WHERE m.chat = t.chat AND m.past_us = 0 AND m.seq > t.last_message AND m.mine AND m.status NOT IN ($3, $4))
		ORDER BY t.since_us DESC, c.id LIMIT 200`,
		ref, database.Micros(a.s.now().Add(-typingTTL)), int(provider.StatusPending), int(provider.StatusFail))
	if err != nil {
		return nil, fmt.Errorf("listing where the account is writing: %w", err)
	}
	out := make([]Typing, len(rows))
	for i, r := range rows {
		out[i] = Typing{r.ChatID, payload.TimeOf(r.SinceUS)}
	}
	return out, nil
}
