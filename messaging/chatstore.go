package messaging

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

// errMoved says that a chat was merged away between finding and locking it:
// the transaction is begun anew.
var errMoved = errors.New("messaging: a chat was merged meanwhile")

// moved makes err an [errMoved] when another transaction took an id first.
func moved(err error) error {
	if database.IsUnique(err) {
		return fmt.Errorf("%w: %w", errMoved, err)
	}
	return err
}

// person asks for the chat of an address, to be made when it is new.
type person struct {
	line referenceInfo
	addr provider.Address
}

// open locks the chats of people, makes those that are new, and joins those
// that turn out to be one. Other chats to be locked are given by id.
func (u *batch) open(ctx context.Context, people []person, others []int64) error {
	if err := u.find(ctx, people, others); err != nil {
		return err
	}
	var missing []person
	for _, p := range people {
		if u.chatOf(p) == nil {
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
func (u *batch) find(ctx context.Context, people []person, others []int64) error {
	if len(others) == 0 && len(people) <= chunk/4 {
		if err := u.findPeople(ctx, people); err != nil {
			return err
		}
		if !slices.ContainsFunc(people, func(p person) bool { return u.chatOf(p) == nil }) {
			return nil
		}
	}
	for try := 1; ; try++ {
		clear(u.aliases)
		if err := u.findAliases(ctx, people); err != nil {
			return err
		}
		ids := slices.Clone(others)
		for _, id := range u.aliases {
			ids = append(ids, id)
		}
		err := u.lock(ctx, ids)
		if !errors.Is(err, errMoved) || try == 3 {
			return err
		}
	}
}

const findPeople = `SELECT a.kind AS alias_kind, a.alias, ` + chatColumns + ` FROM messaging_alias a JOIN messaging_chat c ON c.id = a.chat WHERE`

// findPeople does in one statement what find does for people alone. It misses
// chats that are merged away meanwhile, and leaves out those that are hidden:
// PostgreSQL reads the row of a chat again once it is unlocked, and not its
// alias, which is gone.
func (u *batch) findPeople(ctx context.Context, people []person) error {
	want := wanted(people)
	if len(want) == 0 {
		return nil
	}
	type found struct {
		Kind  idKind `db:"alias_kind"`
		Alias string `db:"alias"`
		chatRow
	}
	rows, err := among[found](ctx, u, findPeople, `(a.reference, a.kind, a.alias)`, chatNameTypes, nameRows(want), u.forUpdate())
	if err != nil {
		return fmt.Errorf("finding chats: %w", err)
	}
	for i := range rows {
		c := &rows[i].chatRow
		if c.deleted() {
			continue
		}
		if u.chats[c.ID] == nil {
			u.chats[c.ID] = c
			u.meet(c)
		}
		u.aliases[chatName{c.Reference, typedID{rows[i].Kind, rows[i].Alias}}] = c.ID
	}
	return nil
}

// wanted are the names of people, each once.
func wanted(people []person) []chatName {
	var want ordered[chatName]
	for _, p := range people {
		for _, id := range ids(p.addr) {
			want.add(chatName{p.line.ID, id})
		}
	}
	return want.items
}

// chatOf is the chat that any name of p leads to, nil when none does.
func (u *batch) chatOf(p person) *chatRow {
	for _, id := range ids(p.addr) {
		if chat, ok := u.aliases[chatName{p.line.ID, id}]; ok {
			return u.chats[chat]
		}
	}
	return nil
}

func (u *batch) findAliases(ctx context.Context, people []person) error {
	type found struct {
		Reference provider.ReferenceID `db:"reference"`
		Kind      idKind               `db:"kind"`
		Alias     string               `db:"alias"`
		Chat      int64                `db:"chat"`
	}
	rows, err := among[found](ctx, u, `SELECT reference, kind, alias, chat FROM messaging_alias WHERE`, `(reference, kind, alias)`, chatNameTypes, nameRows(wanted(people)), "")
	if err != nil {
		return fmt.Errorf("finding chats: %w", err)
	}
	for _, r := range rows {
		u.aliases[chatName{r.Reference, typedID{r.Kind, r.Alias}}] = r.Chat
	}
	return nil
}

// lock loads chats for writing, in the order of their ids so that two
// transactions cannot wait for each other.
func (u *batch) lock(ctx context.Context, ids []int64) error {
	ids = slices.DeleteFunc(ids, func(id int64) bool { return u.chats[id] != nil }) // may have been changed since
	slices.Sort(ids)
	ids = slices.Compact(ids)
	rows, err := among[*chatRow](ctx, u, `SELECT `+chatColumns+` FROM messaging_chat c WHERE`, `c.id`, numberTypes, numberRows(ids), u.forUpdate())
	if err != nil {
		return fmt.Errorf("locking chats: %w", err)
	}
	if slices.ContainsFunc(rows, (*chatRow).deleted) {
		for _, r := range rows {
			u.gone[r.ID] = u.gone[r.ID] || r.deleted()
		}
		return errMoved
	}
	if len(rows) < len(ids) {
		return errMoved
	}
	for _, r := range rows {
		u.chats[r.ID] = r
		u.meet(r)
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

// create makes the chats of people nobody has met.
func (u *batch) create(ctx context.Context, people []person) error {
	slices.SortFunc(people, func(a, b person) int {
		return cmp.Or(cmp.Compare(a.line.ID, b.line.ID), cmp.Compare(a.addr.ChatID, b.addr.ChatID))
	})
	people = slices.CompactFunc(people, func(a, b person) bool { return a.line.ID == b.line.ID && a.addr.ChatID == b.addr.ChatID })
	if err := u.admitChats(ctx, people); err != nil {
		return err
	}
	now := database.Micros(u.now)
	values := make([][]any, len(people))
	for i, p := range people {
		a := p.addr
		values[i] = []any{
			p.line.ID, a.ChatID, a.Group, a.Phone, a.UserID, a.PSID, a.LID, "", "", 0, "", "", "", 0, 0,
			0, true, "{}", "[]", "{}", "",
			false, 0, 0, 0, 0, 0, 0, now, now,
		}
	}
	rows, err := insertNew[*chatRow](ctx, u, insertChats, newChatTypes, values, insertChatsTail+strings.ReplaceAll(chatColumns, "c.", ""))
	if err != nil {
		return fmt.Errorf("making chats: %w", err)
	}
	for _, r := range rows {
		u.chats[r.ID] = r
		u.meet(r)
		u.addAlias(r, r.ids()[0])
	}
	return nil
}

// admitChats asks whether the account may begin chats with people.
func (u *batch) admitChats(ctx context.Context, people []person) error {
	if !u.bounded {
		return nil
	}
	made := map[string]int{}
	for _, p := range people {
		if !p.addr.Group {
			made[p.line.Account]++
		}
	}
	for account, n := range made {
		if err := u.s.admit(ctx, u.tx, account, WantContact, n); err != nil {
			return err
		}
	}
	return nil
}
