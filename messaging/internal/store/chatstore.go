package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/provider"
)

// ErrMoved says that a chat was merged away between finding and locking it:
// the transaction is begun again.
var ErrMoved = errors.New("messaging: a chat was merged meanwhile")

// moved makes err an [ErrMoved] when another transaction took an id first.
func moved(err error) error {
	if database.IsUnique(err) {
		return fmt.Errorf("%w: %w", ErrMoved, err)
	}
	return err
}

// Person asks for the chat of an address, to be made when it is new.
type Person struct {
	Reference ReferenceInfo
	Address   provider.Address
}

// Open locks the chats of people, makes those that are new, and joins those
// that turn out to be one. Other chats to be locked are given by id.
func (u *Batch) Open(ctx context.Context, people []Person, others []int64) error {
	if err := u.find(ctx, people, others); err != nil {
		return err
	}
	var missing []Person
	for _, p := range people {
		if u.ChatOf(p) == nil {
			missing = append(missing, p)
		}
	}
	if err := u.create(ctx, missing); err != nil {
		return err
	}
	for _, p := range people {
		if err := u.join(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

// find locks the chats that are known under any name of people, and others. It
// looks again when one of them was merged away before it was locked.
func (u *Batch) find(ctx context.Context, people []Person, others []int64) error {
	if len(others) == 0 && len(people) <= Chunk/4 {
		if err := u.findPeople(ctx, people); err != nil {
			return err
		}
		if !slices.ContainsFunc(people, func(p Person) bool { return u.ChatOf(p) == nil }) {
			return nil
		}
	}
	for try := 1; ; try++ {
		u.Aliases = unwritten(u)
		if err := u.FindAliases(ctx, people); err != nil {
			return err
		}
		ids := slices.Clone(others)
		for _, id := range u.Aliases {
			ids = append(ids, id)
		}
		err := u.Lock(ctx, ids)
		if !errors.Is(err, ErrMoved) || try == 3 {
			return err
		}
	}
}

// unwritten are the aliases of a batch that are not in the database yet.
func unwritten(u *Batch) map[ChatName]int64 {
	out := map[ChatName]int64{}
	for _, n := range u.newAliases {
		out[n] = u.Aliases[n]
	}
	return out
}

const findPeople = `SELECT a.kind AS alias_kind, a.alias, ` + ChatColumns + ` FROM messaging_alias a JOIN messaging_chat c ON c.id = a.chat WHERE`

// findPeople does in one statement what find does for people alone. It misses
// chats that are merged away meanwhile, and leaves out those that are hidden:
// PostgreSQL reads the row of a chat again once it is unlocked, and not its
// alias, which is gone.
func (u *Batch) findPeople(ctx context.Context, people []Person) error {
	want := wanted(people)
	if len(want) == 0 {
		return nil
	}
	type found struct {
		Kind  IDKind `db:"alias_kind"`
		Alias string `db:"alias"`
		Chat
	}
	rows, err := SelectAmong[found](ctx, u, findPeople, `(a.reference, a.kind, a.alias)`, chatNameTypes, nameRows(want), u.forUpdate())
	if err != nil {
		return fmt.Errorf("finding chats: %w", err)
	}
	for i := range rows {
		c := &rows[i].Chat
		if c.Deleted() {
			continue
		}
		if u.Chats[c.ID] == nil {
			u.Chats[c.ID] = c
			u.rememberBefore(c)
		}
		u.Aliases[ChatName{c.Reference, TypedID{rows[i].Kind, rows[i].Alias}}] = c.ID
	}
	return nil
}

// wanted are the names of people, each once.
func wanted(people []Person) []ChatName {
	var want Ordered[ChatName]
	for _, p := range people {
		for _, id := range IDs(p.Address) {
			want.Add(ChatName{p.Reference.ID, id})
		}
	}
	return want.Items
}

// ChatOf is the chat that any name of p leads to, nil when none does.
func (u *Batch) ChatOf(p Person) *Chat {
	for _, id := range IDs(p.Address) {
		if chat, ok := u.Aliases[ChatName{p.Reference.ID, id}]; ok {
			return u.Chats[chat]
		}
	}
	return nil
}

func (u *Batch) FindAliases(ctx context.Context, people []Person) error {
	type found struct {
		Reference provider.ReferenceID `db:"reference"`
		Kind      IDKind               `db:"kind"`
		Alias     string               `db:"alias"`
		Chat      int64                `db:"chat"`
	}
	rows, err := SelectAmong[found](ctx, u, `SELECT reference, kind, alias, chat FROM messaging_alias WHERE`, `(reference, kind, alias)`, chatNameTypes, nameRows(wanted(people)), "")
	if err != nil {
		return fmt.Errorf("finding chats: %w", err)
	}
	for _, r := range rows {
		u.Aliases[ChatName{r.Reference, TypedID{r.Kind, r.Alias}}] = r.Chat
	}
	return nil
}

// Lock loads chats for writing, in the order of their ids so that two
// transactions cannot wait for each other.
func (u *Batch) Lock(ctx context.Context, ids []int64) error {
	ids = slices.DeleteFunc(ids, func(id int64) bool { return u.Chats[id] != nil }) // may have been changed since
	slices.Sort(ids)
	ids = slices.Compact(ids)
	rows, err := SelectAmong[*Chat](ctx, u, `SELECT `+ChatColumns+` FROM messaging_chat c WHERE`, `c.id`, NumberTypes, numberRows(ids), u.forUpdate())
	if err != nil {
		return fmt.Errorf("locking chats: %w", err)
	}
	if slices.ContainsFunc(rows, (*Chat).Deleted) {
		for _, r := range rows {
			u.gone[r.ID] = u.gone[r.ID] || r.Deleted()
		}
		return ErrMoved
	}
	if len(rows) < len(ids) {
		return ErrMoved
	}
	for _, r := range rows {
		u.Chats[r.ID] = r
		u.rememberBefore(r)
	}
	return nil
}

var newChatTypes = []string{
	"BIGINT", "TEXT", "BOOLEAN", "TEXT", "TEXT", "TEXT", "TEXT", "TEXT", "TEXT", "BIGINT", "TEXT", "TEXT", "TEXT", "BIGINT", "BIGINT",
	"BIGINT", "BOOLEAN", "TEXT", "TEXT", "TEXT", "TEXT",
	"BOOLEAN", "BIGINT", "BIGINT", "BIGINT", "BIGINT", "BIGINT", "BIGINT", "BIGINT", "BIGINT",
}

// insertChats makes chats. One that another transaction has made meanwhile is
// returned too, locked.
const (
	insertChats = `INSERT INTO messaging_chat (reference, chat_id, is_group, phone, user_id, psid, lid, label, title, title_us, name, biz_name,
		username, name_us, moved_us, unread, bot_active, variables, tags, fields, language, opted_out, opted_us, handoff_us, last_message, activity_us,
		activity_slot, window_us, created_us, updated_us)`
	insertChatsTail = ` ON CONFLICT (reference, chat_id) DO UPDATE SET updated_us = messaging_chat.updated_us RETURNING `
)

// create makes the chats of new people.
func (u *Batch) create(ctx context.Context, people []Person) error {
	slices.SortFunc(people, func(a, b Person) int {
		return cmp.Or(cmp.Compare(a.Reference.ID, b.Reference.ID), cmp.Compare(a.Address.ChatID, b.Address.ChatID))
	})
	people = slices.CompactFunc(people, func(a, b Person) bool {
		return a.Reference.ID == b.Reference.ID && a.Address.ChatID == b.Address.ChatID
	})
	if err := u.admitChats(ctx, people); err != nil {
		return err
	}
	now := database.Micros(u.Now)
	values := make([][]any, len(people))
	for i, p := range people {
		a := p.Address
		values[i] = []any{
			p.Reference.ID, a.ChatID, a.Group, a.Phone, a.UserID, a.PSID, a.LID, "", "", 0, "", "", "", 0, 0,
			0, true, "{}", "[]", "{}", "",
			false, 0, 0, 0, 0, 0, 0, now, now,
		}
	}
	rows, err := InsertNew[*Chat](ctx, u, insertChats, newChatTypes, values, insertChatsTail+strings.ReplaceAll(ChatColumns, "c.", ""))
	if err != nil {
		return fmt.Errorf("making chats: %w", err)
	}
	for _, r := range rows {
		u.Chats[r.ID] = r
		u.rememberBefore(r)
		u.addAlias(r, r.IDs()[0])
	}
	return nil
}

// admitChats asks whether the account may begin chats with people.
func (u *Batch) admitChats(ctx context.Context, people []Person) error {
	if !u.Bounded {
		return nil
	}
	made := map[string]int{}
	for _, p := range people {
		if !p.Address.Group {
			made[p.Reference.Account]++
		}
	}
	for account, n := range made {
		if err := u.Store.AdmitChats(ctx, u.Tx, account, n); err != nil {
			return err
		}
	}
	return nil
}
