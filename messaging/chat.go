package messaging

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"github.com/trunklinehq/trunkline/internal/audit"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

// Chat is a conversation with a contact or a group.
type Chat struct {
	ID              string                     `json:"id" example:"16505551234"`
	Reference       provider.ReferenceID       `json:"reference"`
	Name            string                     `json:"name"`
	Kind            string                     `json:"kind" enum:"individual,group"`
	Phone           *string                    `json:"phone"`
	Unread          int64                      `json:"unread"`
	BotActive       int                        `json:"botActive" enum:"0,1"`
	ActiveBot       *ActiveBot                 `json:"activeBot"`
	Handoff         *Handoff                   `json:"handoff"`
	Variables       map[string]json.RawMessage `json:"variables" nullable:"false"`
	Tags            []string                   `json:"tags" nullable:"false"`
	Fields          map[string]json.RawMessage `json:"fields" nullable:"false"`
	Language        *string                    `json:"language"`
	OptedOut        bool                       `json:"optedOut"`
	LastMessage     *Message                   `json:"lastMessage"`
	WindowExpiresAt *UnixTime                  `json:"windowExpiresAt"`
	CreatedAt       UnixTime                   `json:"createdAt"`
	UpdatedAt       UnixTime                   `json:"updatedAt"`
}

// ChatChange holds what is to be changed; nil members stay.
type ChatChange struct {
	BotActive *bool
	Variables map[string]json.RawMessage // merged; null removes
	Fields    map[string]json.RawMessage // merged; null removes
	Tags      []string                   // replaced when not nil
	Name      *string                    // "" goes back to the contact's own
	Language  *string
	OptedOut  *bool
	Handoff   string // "take", "close" or ""

	// What follows is for the engines of bots.
	Ask       *HandoffAsk // for a person
	EndAsk    bool        // no person is asked for any more; one who has come stays
	ActiveBot *ActiveBot  // the zero value: none
}

// hasTextIndex reports whether the names of chats, and the words of messages, have
// full-text indexes of SQLite: not if SQLite was built without them.
func (s *Service) hasTextIndex(ctx context.Context) (has bool, err error) {
	if s.db.Dialect != database.SQLite {
		return false, nil
	}
	if known := s.textIndex.Load(); known != nil {
		return *known, nil
	}
	err = s.db.GetContext(ctx, &has, `SELECT count(*) = 2 FROM sqlite_master WHERE name IN ('messaging_chat_search', 'messaging_search_words')`)
	if err == nil {
		s.textIndex.Store(&has)
	}
	return has, err
}

// Chat returns one chat, by any of its ids, or [ErrNotFound].
func (a *Account) Chat(ctx context.Context, ref provider.ReferenceID, chatID string) (Chat, error) {
	c, err := a.s.recipients.Known(ctx, a.id, ref, chatID)
	if err != nil {
		return Chat{}, err
	}
	return chatOf(ctx, a.s.db, c)
}

// UpdateChat changes what users know of a chat. It makes the chat when the
// contact is new.
func (a *Account) UpdateChat(ctx context.Context, ref provider.ReferenceID, chatID string, change ChatChange) (Chat, error) {
	c, _, err := changeChat(ctx, a, ref, chatID, change)
	return c, err
}

// SwitchBot lets bots answer in a chat, or not, as [Account.UpdateChat] does.
// It returns also what was before, of which two calls at once see each other.
func (a *Account) SwitchBot(ctx context.Context, ref provider.ReferenceID, chatID string, active bool) (c Chat, before bool, err error) {
	c, was, err := changeChat(ctx, a, ref, chatID, ChatChange{BotActive: &active})
	return c, was.BotActive, err
}

// changeChat changes a chat, and says what it was.
func changeChat(ctx context.Context, a *Account, ref provider.ReferenceID, chatID string, change ChatChange) (c Chat, was store.Chat, err error) {
	who, err := a.s.recipients.Person(ctx, a.s.db, a.id, ref, chatID)
	if err != nil {
		return Chat{}, was, err
	}
	var changed *store.Chat
	err = a.s.store.InBatch(ctx, func(u *store.Batch) (err error) {
		u.Bounded = true
		if err := u.Open(ctx, []store.Person{who}, nil); err != nil {
			return err
		}
		changed = u.ChatOf(who)
		was = *changed
		if err := changeIn(u, who.Reference, changed, change); err != nil {
			return err
		}
		return recordChatTx(ctx, u.Tx, audit.ChatUpdate, ref, changed.ChatID, audit.Changed(change.changed()...))
	})
	if err != nil {
		return Chat{}, was, err
	}
	c, err = chatOf(ctx, a.s.db, changed)
	return c, was, err
}

func view(c *store.Chat, last *Message) Chat {
	tags := []string{}
	_ = json.Unmarshal([]byte(c.Tags), &tags) // written by this package
	out := Chat{
		ID: c.ChatID, Reference: c.Reference, Name: cmp.Or(c.Label, c.Title, c.Name), Kind: "individual", Phone: optional(c.Phone), Unread: c.Unread,
		Variables: store.DecodeObject(c.Variables), Tags: tags, Fields: store.DecodeObject(c.Fields), Language: optional(c.Language), OptedOut: c.OptedOut,
		LastMessage: last, WindowExpiresAt: payload.OptionalTime(c.WindowUS), CreatedAt: payload.TimeOf(c.CreatedUS), UpdatedAt: payload.TimeOf(c.UpdatedUS),
	}
	if c.IsGroup {
		out.Kind = "group"
	}
	if c.BotActive {
		out.BotActive = 1
	}
	out.Handoff, out.ActiveBot = handoff(c), activeBot(c)
	return out
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// chatOf is a chat as users see it, with its last message.
func chatOf(ctx context.Context, db *database.DB, c *store.Chat) (Chat, error) {
	last, err := lastMessages(ctx, db, []*store.Chat{c})
	if err != nil {
		return Chat{}, err
	}
	return view(c, last[c.LastMessage]), nil
}

// lastMessages reads the last message of each chat, by seq.
func lastMessages(ctx context.Context, db *database.DB, chats []*store.Chat) (map[int64]*Message, error) {
	byID := map[int64]*store.Chat{}
	var seqs []any
	for _, c := range chats {
		byID[c.ID] = c
		if c.LastMessage != 0 {
			seqs = append(seqs, c.LastMessage)
		}
	}
	out := map[int64]*Message{}
	if len(seqs) == 0 {
		return out, nil
	}
	var rows []*store.Message
	err := db.SelectContext(ctx, &rows, `SELECT `+store.MessageColumns+store.MessageFrom+`WHERE m.seq IN `+db.Dialect.Values(1, len(seqs), 1), seqs...)
	if err != nil {
		return nil, fmt.Errorf("reading last messages: %w", err)
	}
	for _, m := range rows {
		if c := byID[m.Chat]; c != nil {
			v := m.View(c)
			out[m.Seq] = &v
		}
	}
	return out, nil
}

// RemoteJID is how payloads name the contact or the group.
func (c Chat) RemoteJID() string {
	a := provider.Address{ChatID: c.ID, Group: c.Kind == "group"}
	if c.Phone != nil {
		a.Phone = *c.Phone
	}
	return a.RemoteJID()
}
