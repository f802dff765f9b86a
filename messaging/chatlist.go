package messaging

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/page"
	"github.com/trunklinehq/trunkline/internal/text"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

// ChatFilter says which chats of a reference are listed. The zero value lists all.
type ChatFilter struct {
	Search       string       // only chats with this text in a name or an id
	Unread       bool         // only chats with unread messages
	Handoff      HandoffState // only chats that a person is asked for, or has taken over
	Tag          string       // only chats with exactly this tag
	UpdatedAfter time.Time    // only chats that changed after this time
	List
}

// HandoffState is who answers in a chat in place of a bot.
type HandoffState string

// Handoff states.
const (
	HandoffWaiting HandoffState = "waiting" // a bot has asked for a person
	HandoffTaken   HandoffState = "taken"   // a person has taken over
)

// maxFiltered is how many chats a page with filters looks at.
const maxFiltered = 1000

// chatNames is what a search looks through: the names and the id of a chat, in lines.
// PostgreSQL has an index on exactly this expression, of
// migrations/00014_chat_search.postgres.sql.
const chatNames = "lower(c.label || '\n' || c.title || '\n' || c.name || '\n' || c.username || '\n' || c.chat_id)"

const newestActivity = ` ORDER BY c.activity_slot DESC, c.activity_us DESC, c.id DESC LIMIT `

// Chats lists the chats of a reference, the newest activity first. With a filter other
// than Search, a page may have fewer chats than there is room for, even none, and a next
// one: it looks at no more than 1,000 chats.
func (a *Account) Chats(ctx context.Context, ref provider.ReferenceID, f ChatFilter) (Page[Chat], error) {
	before, limit, err := position(f.List, 2)
	if err != nil {
		return Page[Chat]{}, err
	}
	if _, err := store.ReferenceOf(ctx, a.s.db, a.id, ref); err != nil {
		return Page[Chat]{}, err
	}
	l := chatList{db: a.s.db, args: store.Params{ref}, from: `messaging_chat c`, where: `c.reference = $1 AND c.activity_us > 0`}
	if err := l.search(ctx, a.s, f.Search); err != nil {
		return Page[Chat]{}, fmt.Errorf("searching chats: %w", err)
	}
	if before != nil {
		l.where += ` AND c.activity_slot <= ` + l.args.Add(before[0]/store.ActivitySlot) + ` AND ` + l.compared("<", before)
	}
	var end page.Cursor // the last chat that the page looks at; nil: all
	if f.filters() {
		if end, err = l.end(ctx); err != nil {
			return Page[Chat]{}, fmt.Errorf("listing chats: %w", err)
		}
		if err := l.filter(f); err != nil {
			return Page[Chat]{}, err
		}
	}
	var rows []*store.Chat
	if err := a.s.db.SelectContext(ctx, &rows, `SELECT `+store.ChatColumns+` FROM `+l.from+` WHERE `+l.where+newestActivity+l.args.Add(limit+1), l.args...); err != nil {
		return Page[Chat]{}, fmt.Errorf("listing chats: %w", err)
	}
	last, err := lastMessages(ctx, a.s.db, rows)
	if err != nil {
		return Page[Chat]{}, err
	}
	out := page.CutAt(rows, limit, func(c *store.Chat) string { return page.Cursor{c.ActivityUS, c.ID}.String() },
		func(c *store.Chat) Chat { return view(c, last[c.LastMessage]) })
	if out.Next == "" && end != nil {
		out.Next = end.String()
	}
	return out, nil
}

// filters reports whether f has conditions for which there is no index.
func (f ChatFilter) filters() bool {
	return f.Unread || f.Handoff != "" || f.Tag != "" || !f.UpdatedAfter.IsZero()
}

// chatList is a query for chats.
type chatList struct {
	db          *database.DB
	args        store.Params
	from, where string
}

// compared compares the places of chats in the list with a position.
func (l *chatList) compared(operator string, at page.Cursor) string {
	return `(c.activity_us, c.id) ` + operator + ` (CAST(` + l.args.Add(at[0]) + ` AS BIGINT), CAST(` + l.args.Add(at[1]) + ` AS BIGINT))`
}

// search keeps chats with a text in a name or an id.
func (l *chatList) search(ctx context.Context, s *Service, search string) error {
	search = strings.TrimSpace(text.Sanitize(search))
	if search == "" {
		return nil
	}
	like := l.args.Add("%" + strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(strings.ToLower(search)) + "%")
	l.where += ` AND ` + chatNames + ` LIKE ` + like + ` ESCAPE '\'`
	indexed, err := s.hasTextIndex(ctx)
	if err != nil || !indexed || utf8.RuneCountInString(search) < 3 { // characters, as the index has them
		return err
	}
	phrase := l.args.Add(`"` + strings.ReplaceAll(search, `"`, `""`) + `"`)
	l.from = `(SELECT rowid FROM messaging_chat_search WHERE messaging_chat_search MATCH ` + phrase + `) AS found CROSS JOIN messaging_chat c`
	l.where += ` AND c.id = found.rowid`
	return nil
}

// end has the list end with the chat that is the last of those that a page looks at,
// and returns its position: nil if there are no more. It is found first, and so a chat
// that moves to the top meanwhile makes no room for another, which the page would skip.
func (l *chatList) end(ctx context.Context) (page.Cursor, error) {
	var last struct {
		ActivityUS int64 `db:"activity_us"`
		ID         int64 `db:"id"`
	}
	args := append(store.Params{}, l.args...)
	q := `SELECT c.activity_us, c.id FROM ` + l.from + ` WHERE ` + l.where + newestActivity + `1 OFFSET ` + args.Add(maxFiltered-1)
	err := l.db.GetContext(ctx, &last, q, args...)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	at := page.Cursor{last.ActivityUS, last.ID}
	l.where += ` AND c.activity_slot >= ` + l.args.Add(last.ActivityUS/store.ActivitySlot) + ` AND ` + l.compared(">=", at)
	return at, nil
}

// filter keeps the chats for which f has conditions.
func (l *chatList) filter(f ChatFilter) error {
	if f.Unread {
		l.where += ` AND c.unread > 0`
	}
	switch f.Handoff {
	case "":
	case HandoffWaiting:
		l.where += ` AND c.asked_us > 0 AND c.handoff_us = 0`
	case HandoffTaken:
		l.where += ` AND c.handoff_us > 0`
	default:
		return &Invalid{Field: "handoff", Message: "must be waiting or taken"}
	}
	if f.Tag != "" {
		tag, ok := cleanTag(f.Tag)
		if !ok {
			return &Invalid{Field: "tag", Message: tagLength}
		}
		if l.db.Dialect == database.Postgres {
			l.where += ` AND CAST(c.tags AS JSONB) @> CAST(` + l.args.Add(string(payload.MustEncode([]string{tag}))) + ` AS JSONB)`
		} else {
			l.where += ` AND EXISTS (SELECT 1 FROM json_each(c.tags) AS t WHERE t.value = ` + l.args.Add(tag) + `)`
		}
	}
	if !f.UpdatedAfter.IsZero() {
		l.where += ` AND c.updated_us > ` + l.args.Add(database.Micros(f.UpdatedAfter))
	}
	return nil
}
