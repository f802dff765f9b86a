package messaging

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/provider"
)

// footprint is what is held on a contact, or on a group, beside the rows that
// belong to its chat.
type footprint struct {
	chat      *chatRow  // nil: it has none
	ids       []string  // every id by which it is or was known
	elsewhere []located // what the contact wrote in groups
	reports   []int64   // messaging_raw.id
	dead      []int64   // messaging_dead.id
	numbers   []string  // messaging_number.number
}

func (f *footprint) empty() bool {
	return f.chat == nil && len(f.elsewhere)+len(f.reports)+len(f.dead)+len(f.numbers) == 0
}

// footprint finds what is held on whoever has an address; c is the chat, nil
// when there is none.
func (s *Service) footprint(ctx context.Context, q sqlx.QueryerContext, l line, addr provider.Address, c *chatRow) (*footprint, error) {
	f := &footprint{chat: c, ids: names(addr)}
	if c != nil {
		var aliases []string
		if err := sqlx.SelectContext(ctx, q, &aliases, `SELECT alias FROM messaging_alias WHERE chat = $1 ORDER BY alias`, c.ID); err != nil {
			return nil, fmt.Errorf("reading the names of a chat: %w", err)
		}
		f.ids = slices.Concat(c.names(), f.ids, aliases)
	}
	f.ids = slices.Compact(slices.Sorted(slices.Values(f.ids)))
	needles := f.needles()
	var err error
	if f.elsewhere, err = s.writtenInGroups(ctx, q, l.ID, c, f.ids); err != nil {
		return nil, err
	}
	if f.reports, err = s.mentions(ctx, q, needles, `SELECT id, raw_id || ' ' || body AS body FROM messaging_raw t
		WHERE reference = $1 AND `, `raw_id || ' ' || body`, l.ID); err != nil {
		return nil, err
	}
	if f.dead, err = s.mentions(ctx, q, needles, `SELECT id, reason || ' ' || body AS body FROM messaging_dead t
		WHERE reference = $1 AND `, `reason || ' ' || body`, l.ID); err != nil {
		return nil, err
	}
	f.numbers, err = s.numbersOf(ctx, q, l.ID, f.ids)
	return f, err
}

// numbersOf finds what was asked about the numbers of a contact.
func (s *Service) numbersOf(ctx context.Context, q sqlx.QueryerContext, ref provider.ReferenceID, ids []string) ([]string, error) {
	values := make([]any, len(ids))
	for i, id := range ids {
		values[i] = id
	}
	asked, args := s.db.Dialect.In("number", 2, values)
	answered, more := s.db.Dialect.In("chat_id", 2+len(args), values)
	var out []string
	err := sqlx.SelectContext(ctx, q, &out, `SELECT number FROM messaging_number WHERE reference = $1 AND (`+asked+` OR `+answered+`)`,
		slices.Concat([]any{ref}, args, more)...)
	if err != nil {
		return nil, fmt.Errorf("finding a number: %w", err)
	}
	return out, nil
}

// base is a chat id without what stands behind the @.
func base(id string) string {
	before, _, _ := strings.Cut(id, "@")
	return before
}

// needles are the words by which rows speak of the contact.
func (f *footprint) needles() []string {
	var out []string
	for _, id := range f.ids {
		out = append(out, id, base(id)+"::single", base(id)+"::group")
	}
	return slices.Compact(slices.Sorted(slices.Values(out)))
}

// like is the pattern of texts that contain s.
func like(s string) string {
	return "%" + strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(s) + "%"
}

// mentions returns the ids of rows whose text speaks of one of the needles.
// query ends where the condition on text is to follow.
func (s *Service) mentions(ctx context.Context, q sqlx.QueryerContext, needles []string, query, text string, args ...any) ([]int64, error) {
	var out []int64
	for part := range slices.Chunk(needles, needlesMost) {
		p, likes := params(slices.Clone(args)), []string{}
		for _, n := range part {
			likes = append(likes, text+` LIKE `+p.add(like(n))+` ESCAPE '\'`)
		}
		var rows []struct {
			ID   int64  `db:"id"`
			Body string `db:"body"`
		}
		if err := sqlx.SelectContext(ctx, q, &rows, query+`(`+strings.Join(likes, ` OR `)+`)`, p...); err != nil {
			return nil, fmt.Errorf("finding what is held on a contact: %w", err)
		}
		for _, r := range rows {
			if slices.ContainsFunc(part, func(n string) bool { return mentioned(r.Body, n) }) {
				out = append(out, r.ID)
			}
		}
	}
	return out, nil
}

// needlesMost is how many words are looked for at once.
const needlesMost = 100

// mentioned says whether a word stands in a text, and not only as part of a
// longer one: one number begins with another.
func mentioned(text, word string) bool {
	for from := 0; ; {
		at := strings.Index(text[from:], word)
		if at < 0 || word == "" {
			return false
		}
		at += from
		end := at + len(word)
		if (at == 0 || !alphanumeric(text[at-1])) && (end == len(text) || !alphanumeric(text[end])) {
			return true
		}
		from = at + 1
	}
}

func alphanumeric(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// writtenInGroups finds what a contact wrote in other chats. Messages do not
// know their writers by a column: it is rarely asked for.
func (s *Service) writtenInGroups(ctx context.Context, q sqlx.QueryerContext, ref provider.ReferenceID, c *chatRow, ids []string) ([]located, error) {
	if c != nil && c.IsGroup {
		return nil, nil
	}
	p := params{ref}
	var jids, likes []string
	for _, id := range ids {
		jid := base(id) + "::single"
		if !slices.Contains(jids, jid) {
			jids = append(jids, jid)
			likes = append(likes, `m.body LIKE `+p.add(like(`"participant":{"remoteJid":`+string(mustJSON(jid))))+` ESCAPE '\'`)
		}
	}
	var rows []struct {
		located
		Body string `db:"body"`
	}
	err := sqlx.SelectContext(ctx, q, &rows, `SELECT m.seq, m.chat, m.reference, m.id, m.past_us, '' AS own_id, m.body
		FROM messaging_chat c JOIN messaging_message m ON m.chat = c.id
		WHERE c.reference = $1 AND c.is_group AND (`+strings.Join(likes, ` OR `)+`) ORDER BY m.chat, m.past_us, m.seq`, p...)
	if err != nil {
		return nil, fmt.Errorf("finding what a contact wrote in groups: %w", err)
	}
	var out []located
	for _, r := range rows {
		var body Body
		_ = json.Unmarshal([]byte(r.Body), &body) // written by this package
		if body.Participant != nil && slices.Contains(jids, body.Participant.RemoteJID) {
			out = append(out, r.located)
		}
	}
	return out, nil
}
