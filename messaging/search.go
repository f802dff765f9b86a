package messaging

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/page"
	"github.com/trunklinehq/trunkline/messaging/internal/search"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

// SearchQuery says which messages are looked for.
type SearchQuery struct {
	// Text is words, all of which a message must have in its text, caption, title, file
	// name or extracted values, in any order. The last may be the beginning of a word.
	// Words between quotation marks follow each other. Case and accents do not matter.
	Text       string
	References []int64              // only of these; nil: of all
	Reference  provider.ReferenceID // only of this; 0: of all
	ChatID     string               // only of this chat of Reference, by any of its ids; "": of all
	From, To   time.Time            // only written at From or later, and before To; zero: at any time
	Type       string               // only of this type: "image"; "": of all
	List
}

// FoundMessage is a message that a search found.
type FoundMessage struct {
	Message  Message       `json:"message"`
	ChatName string        `json:"chatName"`
	Excerpt  []ExcerptPart `json:"excerpt" nullable:"false" doc:"The text around the first match, in parts that follow each other. If the message was edited, it is of the new text."`
}

// ExcerptPart is a piece of plain text.
type ExcerptPart = search.Part

const (
	// maxSearched is how many messages that have the words a search looks at.
	maxSearched = 500
	// maxQuery is how many characters of a search count.
	maxQuery = 1000
)

// SearchMessages lists the messages of the account in which words are found, the newest
// first. Every text is a query; one without words finds nothing. A message that was
// edited is found by its new text, and one that was deleted not at all. A page may have
// fewer messages than there is room for, even none, and a next one: a search looks at no
// more than 500 messages that have the words.
func (a *Account) SearchMessages(ctx context.Context, q SearchQuery) (Page[FoundMessage], error) {
	at, limit, err := position(q.List, 2)
	if err != nil {
		return Page[FoundMessage]{}, err
	}
	s := &messageSearch{a: a, query: search.Parse(firstRunes(q.Text, maxQuery)), kind: q.Type, limit: limit}
	if err := s.narrow(ctx, q); err != nil {
		return Page[FoundMessage]{}, err
	}
	if at != nil && at[0] <= s.latest {
		s.latest, s.before = at[0], at
	}
	if s.query.Empty() || len(s.scope.References) == 0 || s.latest < s.earliest {
		return Page[FoundMessage]{Items: []FoundMessage{}}, nil
	}
	if s.indexed, err = a.s.hasMessageIndex(ctx); err == nil {
		err = s.run(ctx)
	}
	if err != nil {
		return Page[FoundMessage]{}, fmt.Errorf("searching messages: %w", err)
	}
	return s.page(), nil
}

func firstRunes(s string, n int) string {
	for i := range s {
		if n--; n < 0 {
			return s[:i]
		}
	}
	return s
}

// messageSearch is a search on its way.
type messageSearch struct {
	a                *Account
	query            search.Query
	scope            search.Scope
	kind             string
	indexed          bool
	earliest, latest int64       // times of messages in microseconds
	before           page.Cursor // only messages before it; nil: of latest, too
	limit            int

	found   []foundAt // one more than the limit, if there is one
	looked  int       // at messages with the words
	stopped bool      // because that were enough
}

type foundAt struct {
	at page.Cursor
	FoundMessage
}

// narrow finds out where there is anything to be found.
func (s *messageSearch) narrow(ctx context.Context, q SearchQuery) error {
	p := store.Params{s.a.id}
	only := ""
	if q.References != nil {
		in, args := s.a.s.db.Dialect.InNumbers("r.id", len(p)+1, q.References)
		only, p = ` AND `+in, append(p, args...)
	}
	switch {
	case q.Reference != 0:
		if _, err := store.ReferenceOf(ctx, s.a.s.db, s.a.id, q.Reference); err != nil {
			return err
		}
		only += ` AND r.id = ` + p.Add(q.Reference)
	case q.ChatID != "":
		return &Invalid{Field: "chatId", Message: "needs a reference"}
	}
	if q.ChatID != "" {
		c, err := s.a.s.recipients.Known(ctx, s.a.id, q.Reference, q.ChatID)
		if err != nil {
			return err
		}
		s.scope.Chat = c.ID
	}
	var all []struct {
		ID     int64  `db:"id"`
		Oldest *int64 `db:"oldest"`
		Newest *int64 `db:"newest"`
	}
	err := s.a.s.db.SelectContext(ctx, &all, `SELECT r.id,
			(SELECT at_us FROM messaging_search WHERE reference = r.id ORDER BY at_us LIMIT 1) AS oldest,
			(SELECT at_us FROM messaging_search WHERE reference = r.id ORDER BY at_us DESC LIMIT 1) AS newest
		FROM messaging_reference r WHERE r.account = $1`+only, p...)
	if err != nil {
		return fmt.Errorf("searching messages: %w", err)
	}
	s.earliest, s.latest = math.MaxInt64, math.MinInt64
	for _, r := range all {
		if r.Oldest != nil && r.Newest != nil {
			s.scope.References = append(s.scope.References, r.ID)
			s.earliest, s.latest = min(s.earliest, *r.Oldest), max(s.latest, *r.Newest)
		}
	}
	if !q.From.IsZero() {
		s.earliest = max(s.earliest, database.Micros(q.From))
	}
	if !q.To.IsZero() {
		s.latest = min(s.latest, database.Micros(q.To)-1)
	}
	return nil
}

// run looks through one span of time after the other, from the newest to the oldest,
// until there is a page.
func (s *messageSearch) run(ctx context.Context) error {
	if !s.indexed {
		_, err := s.through(ctx, func(*store.Params) (string, string) { return `messaging_search s`, `TRUE` })
		return err
	}
	newest := true
	for m := range search.Windows(s.latest, s.earliest) {
		narrow, err := s.isCommon(ctx, m, newest)
		if err != nil {
			return err
		}
		newest = false
		if !narrow {
			if enough, err := s.through(ctx, s.condition(m)); enough || err != nil {
				return err
			}
			continue
		}
		for part := range m.Narrowed(s.latest) {
			if enough, err := s.through(ctx, s.condition(part)); enough || err != nil {
				return err
			}
		}
	}
	return nil
}

// maxAtOnce is how many messages with the words are read without looking at shorter
// times first.
const maxAtOnce = 200

// isCommon reports whether so many messages have the words that shorter times are to be
// looked at first. PostgreSQL would have to count all, and so does it for the newest.
func (s *messageSearch) isCommon(ctx context.Context, m search.Match, newest bool) (bool, error) {
	if s.a.s.db.Dialect == database.Postgres {
		return newest, nil
	}
	n := 0
	err := s.a.s.db.GetContext(ctx, &n, `SELECT count(*) FROM (SELECT rowid FROM messaging_search_words WHERE messaging_search_words MATCH $1 LIMIT $2) AS some`,
		m.SQLite(s.query, s.scope), maxAtOnce)
	return n == maxAtOnce, err
}

// condition finds the messages with the words in an index.
func (s *messageSearch) condition(m search.Match) func(p *store.Params) (from, where string) {
	return func(p *store.Params) (from, where string) {
		if s.a.s.db.Dialect == database.Postgres {
			return `messaging_search s`, `array_to_tsvector(string_to_array(btrim(s.words), ' ')) @@ CAST(` + p.Add(m.Postgres(s.query, s.scope)) + ` AS tsquery)`
		}
		return `(SELECT rowid FROM messaging_search_words WHERE messaging_search_words MATCH ` + p.Add(m.SQLite(s.query, s.scope)) +
			`) AS w CROSS JOIN messaging_search s`, `s.message = w.rowid`
	}
}

// candidate is a message whose words are those of the query.
type candidate struct {
	Message int64 `db:"message"`
	Source  int64 `db:"source"`
	AtUS    int64 `db:"at_us"`
}

// through looks at the messages that a condition of the index finds, and reports whether
// that is enough.
func (s *messageSearch) through(ctx context.Context, condition func(*store.Params) (from, where string)) (enough bool, err error) {
	for size := s.limit + 1; ; size = min(2*size, maxSearched) {
		var p store.Params
		from, where := condition(&p)
		in, args := s.a.s.db.Dialect.InNumbers("h.reference", len(p)+1, s.scope.References)
		p = append(p, args...)
		// The index is asked for nothing else, so that PostgreSQL uses it.
		q := `WITH h AS MATERIALIZED (SELECT s.message, s.source, s.reference, s.at_us FROM ` + from + ` WHERE ` + where + `)
			SELECT h.message, h.source, h.at_us FROM h WHERE ` + in + ` AND h.at_us >= ` + p.Add(s.earliest) + ` AND h.at_us <= ` + p.Add(s.latest)
		if s.before != nil {
			q += ` AND (h.at_us, h.message) < ` + p.Pair(s.before)
		}
		var rows []candidate
		if err := s.a.s.db.SelectContext(ctx, &rows, q+` ORDER BY h.at_us DESC, h.message DESC LIMIT `+p.Add(size), p...); err != nil {
			return false, err
		}
		if err := s.look(ctx, rows); err != nil {
			return false, err
		}
		switch {
		case len(s.found) > s.limit:
			return true, nil
		case len(rows) < size:
			return false, nil // there are no more
		case s.looked >= maxSearched:
			s.stopped = true
			return true, nil
		}
	}
}

// look takes those of the candidates that the query finds.
func (s *messageSearch) look(ctx context.Context, rows []candidate) error {
	if len(rows) == 0 {
		return nil
	}
	bodies, err := s.bodies(ctx, rows)
	if err != nil {
		return err
	}
	var matches []candidate
	var seqs []int64
	excerpts := map[int64][]ExcerptPart{}
	for _, r := range rows {
		if excerpt := s.match(bodies[r.Message], bodies[r.Source], r); excerpt != nil {
			matches, seqs = append(matches, r), append(seqs, r.Message)
			excerpts[r.Message] = excerpt
		}
	}
	s.looked += len(rows)
	s.before = page.Cursor{rows[len(rows)-1].AtUS, rows[len(rows)-1].Message}
	messages, err := s.read(ctx, seqs)
	if err != nil {
		return err
	}
	for _, r := range matches {
		if m := messages[r.Message]; m != nil && len(s.found) <= s.limit {
			f := FoundMessage{Message: m.View(&m.In), ChatName: view(&m.In, nil).Name, Excerpt: excerpts[r.Message]}
			s.found = append(s.found, foundAt{page.Cursor{r.AtUS, r.Message}, f})
		}
	}
	return nil
}

// bodies reads the bodies of messages, and of the edits of them.
func (s *messageSearch) bodies(ctx context.Context, rows []candidate) (map[int64]*payload.Body, error) {
	var seqs []int64
	for _, r := range rows {
		seqs = append(seqs, r.Message)
		if r.Source != r.Message {
			seqs = append(seqs, r.Source)
		}
	}
	in, args := s.a.s.db.Dialect.InNumbers("seq", 1, seqs)
	var stored []struct {
		Seq  int64  `db:"seq"`
		Body string `db:"body"`
	}
	if err := s.a.s.db.SelectContext(ctx, &stored, `SELECT seq, body FROM messaging_message WHERE `+in, args...); err != nil {
		return nil, err
	}
	out := map[int64]*payload.Body{}
	for _, m := range stored {
		var b payload.Body
		_ = json.Unmarshal([]byte(m.Body), &b) // written by this package
		out[m.Seq] = &b
	}
	return out, nil
}

// match returns the excerpt of a message if the query finds it by the text that it has
// now: its own, or that of an edit.
func (s *messageSearch) match(b, source *payload.Body, r candidate) []ExcerptPart {
	switch {
	case b == nil || s.kind != "" && b.Type != s.kind:
		return nil
	case r.Source != r.Message && source != nil:
		return s.query.Excerpt(search.Edited(b, source))
	}
	return s.query.Excerpt(search.Text(b))
}

// storedMessage is a message with its chat.
type storedMessage struct {
	store.Message
	In store.Chat `db:"in"`
}

var selectFound = `SELECT ` + store.MessageColumns + `, ` + store.Nested(store.ChatColumns, "c", "in") + store.MessageFrom + `
	JOIN messaging_chat c ON c.id = m.chat WHERE c.activity_us >= 0`

func (s *messageSearch) read(ctx context.Context, seqs []int64) (map[int64]*storedMessage, error) {
	out := map[int64]*storedMessage{}
	if len(seqs) == 0 {
		return out, nil
	}
	in, args := s.a.s.db.Dialect.InNumbers("m.seq", 1, seqs)
	q := selectFound + ` AND ` + in
	if s.scope.Chat != 0 {
		q, args = q+fmt.Sprintf(` AND m.chat = $%d`, len(args)+1), append(args, s.scope.Chat)
	}
	var rows []*storedMessage
	if err := s.a.s.db.SelectContext(ctx, &rows, q, args...); err != nil {
		return nil, err
	}
	for _, m := range rows {
		out[m.Seq] = m
	}
	return out, nil
}

// page is what was found.
func (s *messageSearch) page() Page[FoundMessage] {
	p := page.CutAt(s.found, s.limit, func(f foundAt) string { return f.at.String() }, func(f foundAt) FoundMessage { return f.FoundMessage })
	if p.Next == "" && s.stopped {
		p.Next = s.before.String()
	}
	return p
}

// hasMessageIndex reports whether the words of messages have a full-text index: not if
// SQLite was built without them.
func (s *Service) hasMessageIndex(ctx context.Context) (bool, error) {
	if s.db.Dialect == database.Postgres {
		return true, nil
	}
	return s.hasTextIndex(ctx)
}
