package privacy

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

// Data is what is held on a contact, or on a group, beside the rows that
// belong to its chat.
type Data struct {
	chat      *store.Chat // nil: it has none
	group     bool
	names     []store.TypedID // every id under which something may be held
	IDs       []string        // the same without their kinds, each once
	Known     []string        // those of them by which it is or was known
	foreign   []string        // ids of other people with the same digits, each before ""
	Elsewhere []store.Located // what the contact wrote in groups
	polls     []store.Located // polls of groups that count the contact's vote
	Reports   []int64         // messaging_raw.id
	Dead      []int64         // messaging_dead_letter.id
	stream    []int64         // messaging_change.id, once it was looked for
	Numbers   []string        // messaging_number.number

	upTo extent // what it was found among
}

// extent holds the highest ids of tables.
type extent struct {
	Message int64 `db:"message" json:"message"`
	Report  int64 `db:"report" json:"report"`
	Dead    int64 `db:"dead" json:"dead"`
	Feed    int64 `db:"feed" json:"feed"`
}

func (f *Data) Empty() bool {
	return f.chat == nil && len(f.Elsewhere)+len(f.Reports)+len(f.Dead)+len(f.Numbers) == 0
}

// newData is the person of an address: under which names something may be held,
// and how much there is now. c is the chat, nil when there is none.
func (s *Records) newData(ctx context.Context, q database.Reader, l store.ReferenceInfo, addr provider.Address, c *store.Chat) (*Data, error) {
	f := &Data{chat: c, group: c != nil && c.IsGroup, names: store.IDs(addr)}
	if c != nil {
		var aliases []struct {
			Kind  store.IDKind
			Alias string
		}
		if err := q.SelectContext(ctx, &aliases, `SELECT kind, alias FROM messaging_alias WHERE chat = $1`, c.ID); err != nil {
			return nil, fmt.Errorf("reading the names of a chat: %w", err)
		}
		f.names = append(f.names, c.IDs()...)
		for _, a := range aliases {
			f.names = append(f.names, store.TypedID{Kind: a.Kind, Value: a.Alias})
		}
	}
	f.Known = store.SortedValues(f.names)
	if err := f.distinguish(ctx, s, q, l.ID); err != nil {
		return nil, err
	}
	f.IDs = store.SortedValues(f.names)
	err := q.GetContext(ctx, &f.upTo, `SELECT (SELECT COALESCE(max(seq), 0) FROM messaging_message) AS message,
		(SELECT COALESCE(max(id), 0) FROM messaging_raw) AS report, (SELECT COALESCE(max(id), 0) FROM messaging_dead_letter) AS dead,
		(SELECT COALESCE(max(id), 0) FROM messaging_change) AS feed`)
	if err != nil {
		return nil, fmt.Errorf("reading how much is held: %w", err)
	}
	return f, nil
}

// Search finds what is held on the person of an address; c is the chat, nil
// when there is none. It reads whole tables.
func (s *Records) Search(ctx context.Context, q database.Reader, l store.ReferenceInfo, addr provider.Address, c *store.Chat) (*Data, error) {
	f, err := s.newData(ctx, q, l, addr, c)
	if err != nil {
		return nil, err
	}
	return f, f.search(ctx, s, q, l)
}

// view is what is kept of a subject while it is deleted.
func (f *Data) view() *subject {
	v := &subject{Group: f.group, Known: f.Known, Foreign: f.foreign, UpTo: f.upTo}
	if f.chat != nil {
		v.Chat = f.chat.ID
	}
	for _, n := range f.names {
		v.Names = append(v.Names, [2]string{string(n.Kind), n.Value})
	}
	return v
}

// dataOf is the subject of a deletion, of which nothing is found yet.
func dataOf(v *subject) *Data {
	f := &Data{group: v.Group, Known: v.Known, foreign: v.Foreign, upTo: v.UpTo}
	for _, n := range v.Names {
		f.names = append(f.names, store.TypedID{Kind: store.IDKind(n[0]), Value: n[1]})
	}
	f.IDs = store.SortedValues(f.names)
	return f
}

// limitTo leaves out what came later.
func (f *Data) limitTo(upTo extent) {
	later := func(limit int64) func(int64) bool { return func(id int64) bool { return id > limit } }
	f.Elsewhere = slices.DeleteFunc(f.Elsewhere, func(m store.Located) bool { return m.Seq > upTo.Message })
	f.polls = slices.DeleteFunc(f.polls, func(m store.Located) bool { return m.Seq > upTo.Message })
	f.Reports = slices.DeleteFunc(f.Reports, later(upTo.Report))
	f.Dead = slices.DeleteFunc(f.Dead, later(upTo.Dead))
	f.stream = slices.DeleteFunc(f.stream, later(upTo.Feed))
}

// search looks for all of it.
func (f *Data) search(ctx context.Context, s *Records, q database.Reader, l store.ReferenceInfo) error {
	if err := s.writtenInGroups(ctx, q, l, f); err != nil {
		return err
	}
	var err error
	f.Reports, err = s.matches(ctx, q, f, f.terms(), `raw_id || ' ' || body`, `messaging_raw WHERE reference = $1`, l.ID)
	if err != nil {
		return err
	}
	f.Dead, err = s.matches(ctx, q, f, f.terms(), `reason || ' ' || body || ' ' || part`, `messaging_dead_letter WHERE reference = $1`, l.ID)
	if err != nil {
		return err
	}
	f.Numbers, err = s.numbersOf(ctx, q, l.ID, f.IDs)
	return err
}

// searchStream looks for entries of the stream.
func (f *Data) searchStream(ctx context.Context, s *Records, q database.Reader, l store.ReferenceInfo) (err error) {
	f.stream, err = s.matches(ctx, q, f, append(f.terms(), IDsOf(f.Elsewhere)...), `data`,
		`messaging_change WHERE account = $1 AND reference = $2`, l.Account, l.ID)
	return err
}

// numbersOf finds what was asked about the numbers of a contact.
func (s *Records) numbersOf(ctx context.Context, q database.Reader, ref provider.ReferenceID, ids []string) ([]string, error) {
	values := make([]any, len(ids))
	for i, id := range ids {
		values[i] = id
	}
	asked, args := s.Store.DB.Dialect.In("number", 2, values)
	answered, more := s.Store.DB.Dialect.In("chat_id", 2+len(args), values)
	var out []string
	err := q.SelectContext(ctx, &out, `SELECT number FROM messaging_number WHERE reference = $1 AND (`+asked+` OR `+answered+`)`,
		slices.Concat([]any{ref}, args, more)...)
	if err != nil {
		return nil, fmt.Errorf("finding a number: %w", err)
	}
	return out, nil
}

// terms are the words by which rows speak of the contact.
func (f *Data) terms() []string {
	var out []string
	for _, id := range f.IDs {
		out = append(out, id, store.BareID(id)+"::single", store.BareID(id)+"::group")
	}
	return slices.Compact(slices.Sorted(slices.Values(out)))
}

// distinguish finds out who else is meant by the digits of the contact's ids: a
// hidden id may have the digits of another person's phone number. Where no one has
// that number, what is held under it is the contact's own: hidden ids were taken
// for phone numbers once.
func (f *Data) distinguish(ctx context.Context, s *Records, q database.Reader, ref provider.ReferenceID) error {
	var opposite []store.TypedID
	for _, n := range f.names {
		switch n.Kind {
		case store.IDLID:
			opposite = append(opposite, store.TypedID{Kind: store.IDPhone, Value: n.Value})
		case store.IDPhone:
			opposite = append(opposite, store.TypedID{Kind: store.IDLID, Value: n.Value})
		}
	}
	known, err := s.Store.ChatsNamed(ctx, q, ref, opposite)
	if err != nil {
		return err
	}
	for _, o := range opposite {
		other := slices.ContainsFunc(known, func(c *store.NamedChat) bool { return c.As == o && (f.chat == nil || c.ID != f.chat.ID) })
		switch {
		case other && o.Kind == store.IDPhone:
			f.foreign = append(f.foreign, o.Value+store.PhoneSuffix, "")
		case other:
			f.foreign = append(f.foreign, o.Value+store.HiddenSuffix, "")
		case o.Kind == store.IDPhone:
			f.names = append(f.names, store.TypedID{Kind: store.IDChat, Value: o.Value + store.PhoneSuffix})
		}
	}
	return nil
}

// contains is the condition that a text has a word in it.
func (s *Records) contains(text, word string) string {
	if s.Store.DB.Dialect == database.Postgres {
		return `strpos(` + text + `, ` + word + `) > 0`
	}
	return `instr(` + text + `, ` + word + `) > 0`
}

// shortest leaves out the words that contain others: texts with those contain
// these.
func shortest(words []string) []string {
	return slices.DeleteFunc(slices.Clone(words), func(w string) bool {
		return slices.ContainsFunc(words, func(o string) bool { return o != w && strings.Contains(w, o) })
	})
}

// maxTerms is how many words are looked for at once.
const maxTerms = 100

// matches returns the ids of rows whose text speaks of one of the terms of
// f; from says which rows.
func (s *Records) matches(ctx context.Context, q database.Reader, f *Data, terms []string, text, from string, args ...any) ([]int64, error) {
	var out []int64
	others := strings.NewReplacer(f.foreign...)
	for part := range slices.Chunk(shortest(terms), maxTerms) {
		p, any := store.Params(slices.Clone(args)), []string{}
		for _, n := range part {
			any = append(any, s.contains(text, p.Add(n)))
		}
		var rows []struct {
			ID   int64  `db:"id"`
			Text string `db:"text"`
		}
		err := q.SelectContext(ctx, &rows, `SELECT id, `+text+` AS text FROM `+from+` AND (`+strings.Join(any, ` OR `)+`)`, p...)
		if err != nil {
			return nil, fmt.Errorf("finding what is held on a contact: %w", err)
		}
		for _, r := range rows {
			text := others.Replace(r.Text)
			if slices.ContainsFunc(terms, func(n string) bool { return matchesTerm(text, n) }) {
				out = append(out, r.ID)
			}
		}
	}
	return out, nil
}

// matches says whether a chat id leads to the contact. Messages that are older than
// the chat ids of participants have none.
func (f *Data) matches(p provider.Provider, chatID string) bool {
	if chatID == "" {
		return true
	}
	names := []store.TypedID{{Kind: store.IDChat, Value: chatID}}
	if addr, err := p.Address(chatID); err == nil {
		names = store.IDs(addr)
	}
	return slices.ContainsFunc(names, func(n store.TypedID) bool { return slices.Contains(f.names, n) })
}

// matchesTerm says whether a word is in a text, and not only as part of a
// longer one: one number begins with another.
func matchesTerm(text, word string) bool {
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

// remoteJIDs are the names of the contact in payloads, each once.
func (f *Data) remoteJIDs() []string {
	var jids []string
	for _, id := range f.IDs {
		if jid := store.BareID(id) + "::single"; !slices.Contains(jids, jid) {
			jids = append(jids, jid)
		}
	}
	return jids
}

// writtenInGroups finds what a contact wrote in other chats, and the polls there
// that count the contact's vote. Messages do not
// know their writers by a column: it is rarely asked for.
func (s *Records) writtenInGroups(ctx context.Context, q database.Reader, l store.ReferenceInfo, f *Data) error {
	if f.group {
		return nil
	}
	kind, err := s.Store.Provider(l.Kind)
	if err != nil {
		return err
	}
	p := store.Params{l.ID}
	jids := f.remoteJIDs()
	var any, counted []string
	for _, jid := range jids {
		name := string(payload.MustEncode(jid))
		any = append(any, s.contains(`m.body`, p.Add(`"participant":{"remoteJid":`+name)))
		counted = append(counted, s.contains(`m.body`, p.Add(name)))
	}
	any = append(any, s.contains(`m.body`, p.Add(`"voters":[`))+` AND (`+strings.Join(counted, ` OR `)+`)`)
	const columns = `SELECT m.seq, m.chat, m.reference, m.id, m.past_us, '' AS own_id, m.body FROM messaging_message m `
	var rows []struct {
		store.Located
		Body string `db:"body"`
	}
	err = q.SelectContext(ctx, &rows, columns+`JOIN messaging_chat c ON c.id = m.chat
		WHERE c.reference = $1 AND c.is_group AND (`+strings.Join(any, ` OR `)+`)`, p...)
	if err != nil {
		return fmt.Errorf("finding what a contact wrote in groups: %w", err)
	}
	for _, r := range rows {
		var body payload.Body
		_ = json.Unmarshal([]byte(r.Body), &body) // written by this package
		if body.Participant != nil && slices.Contains(jids, body.Participant.RemoteJID) && f.matches(kind, body.Participant.ChatID) {
			f.Elsewhere = append(f.Elsewhere, r.Located)
		} else if body.Poll != nil && body.Poll.Counts(jids) {
			f.polls = append(f.polls, r.Located)
		}
	}
	slices.SortFunc(f.Elsewhere, func(a, b store.Located) int {
		return cmp.Or(cmp.Compare(a.Chat, b.Chat), cmp.Compare(a.Past, b.Past), cmp.Compare(a.Seq, b.Seq))
	})
	return nil
}

// subject is whose traces an [Erasure] removes.
type subject struct {
	Chat    int64       `json:"chat,omitempty"` // its number; 0: it had none
	Group   bool        `json:"group,omitempty"`
	Names   [][2]string `json:"names"`             // every id, behind its kind
	Known   []string    `json:"known"`             // those by which it was known
	Foreign []string    `json:"foreign,omitempty"` // see Data
	UpTo    extent      `json:"upTo"`              // later rows are of a new chat
}
