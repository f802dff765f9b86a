package messaging_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
)

// search returns the ids of the messages that a query finds, on pages of two.
func (f *fixture) search(t testing.TB, q messaging.SearchQuery) string {
	t.Helper()
	var ids []string
	for q.Limit = 2; ; {
		page, err := f.acc.SearchMessages(t.Context(), q)
		require.NoError(t, err, "%q", q.Text)
		for _, m := range page.Items {
			ids = append(ids, m.Message.ID)
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			return strings.Join(ids, " ")
		}
	}
}

func (f *fixture) searchText(t testing.TB, words string) string {
	t.Helper()
	return f.search(t, messaging.SearchQuery{Text: words})
}

// searchable are texts of messages, and queries with the messages that they find.
var searchable, searches = map[string]string{
	"accent": "El señor Núñez pidió café", "plain": "the senor is here", "german": "Die Straße ist GROSS", "turkish": "İstanbul'da ısı",
	"chinese": "我想预订明天的会议室", "japanese": "東京タワーへ行きます", "arabic": "مَرْحَبًا بالعـــالم", "hangul": "안녕하세요 친구", "thai": "สวัสดีครับ",
	"emoji": "👍🏽", "family": "party 👩‍👩‍👧 tonight", "phone": "call +1 (650) 555-1234 please", "bare": "my number is 16505551234",
	"url": "see https://example.com/a-b?c=1", "letter": "x", "decomposed": "cafe\u0301 society", "ligature": "ﬁne ＡＢＣ",
	"order": "order 2026-17 shipped", "operator": `NOT a "near" AND * OR ' \ :* ! & | <-> (x`, "long": strings.Repeat("ab", 100), "arabic digits": "٠١٢٣ رقم",
	"pangram": "the quick brown fox jumps",
}, map[string]string{
	"cafe": "accent decomposed", "CAFÉ": "accent decomposed", "nunez": "accent", "ñuñez": "accent", "senor": "accent plain", "SEÑ": "accent plain",
	"strasse": "german", "STRAẞE": "german", "straße": "german", "groß": "german", "istanbul": "turkish", "İSTANBUL": "turkish", "isi": "turkish", "ısı": "turkish",
	"预订": "chinese", "会议室": "chinese", "议会": "", "東京": "japanese", "タワー": "japanese", "京東": "",
	"مرحبا": "arabic", "بالعالم": "arabic", "안녕": "hangul", "친구": "hangul", "\u110e\u1175\u11ab\u1100\u116e": "hangul", "สวัสดี": "thai", "ครับ": "thai",
	"👍": "emoji", "👍🏿": "emoji", "👧": "family", "👩‍👩‍👧": "family", "👎": "", "party 👧": "family",
	"6505551234": "phone", "16505551234": "bare phone", "+1 650 555 1234": "bare phone", "650-555": "phone", "+1 (650) 555-12": "bare phone", "165055": "bare phone", "5551234": "phone", "51234": "",
	"example.com": "url", "https://example.com/a-b?c=1": "url", "com.example": "", "example com": "url", "a-b": "url",
	"x": "letter operator", "X": "letter operator", "z": "", "fine abc": "ligature", "2026-17": "order", "17": "order",
	"near": "operator", `"near"`: "operator", "NOT near": "operator", "quick fox": "pangram", "fox quick": "pangram", `"quick fox"`: "", `"quick brown"`: "pangram", "“brown fox”": "pangram",
	`"quick bro"`: "", "quick bro": "pangram", "qui brown": "", `"quick brown" jum`: "pangram", `fox "quick brown`: "pangram", `"`: "", `""`: "", "*": "", "?!": "", " ": "", "": "",
	"ab*": "ligature long", "abab*": "long", "0123": "arabic digits", "٠١٢٣": "arabic digits", strings.Repeat("AB", 100): "long", "\x00": "", "\xff\xfe": "", "cafe\x00": "accent decomposed",
}

// TestSearchMessages finds messages by words of all scripts, the same on both databases.
func TestSearchMessages(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{idle: true})
		ref := f.reference(t, testKind)
		for id, words := range searchable {
			f.receive(t, ref, text(id, "111", words))
		}
		require.Empty(t, f.search(t, messaging.SearchQuery{Text: "cafe", Type: "image"}))
		for words, want := range searches {
			got := strings.Fields(strings.ReplaceAll(f.searchText(t, words), "arabic digits", "arabic_digits"))
			require.ElementsMatch(t, strings.Fields(strings.ReplaceAll(want, "arabic digits", "arabic_digits")), got, "%q", words)
		}
	})
}

// TestSearchMessages_Scope searches in one account, reference, chat, time and type, the
// newest message first.
func TestSearchMessages_Scope(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{idle: true})
		one, two := f.reference(t, testKind), f.reference(t, testKind)
		at := func(ago time.Duration) func(*provider.Message) {
			return func(m *provider.Message) { m.At = epoch.Add(-ago) }
		}
		const day = 24 * time.Hour
		f.receive(t, one, text("a", "111", "hello", at(time.Hour)), text("b", "222", "hello", at(time.Minute)), text("c", "111", "hello again", at(400*day)),
			text("old", "111", "hello", at(3000*day), func(m *provider.Message) { m.Historical = true }))
		f.receive(t, two, text("d", "111", "hello", at(2*day)), text("e", "111", "", at(3*day), func(m *provider.Message) {
			m.Content = file(provider.Document, provider.File{MIME: "application/pdf"}, func(m *provider.Media) { m.Caption, m.FileName = "hello there", "Invoice 17.pdf" })
		}))
		for want, q := range map[string]messaging.SearchQuery{
			"b a d e c old": {}, "b a c old": {Reference: one}, "d e": {Reference: two}, "a c old": {Reference: one, ChatID: "111"},
			"a d": {From: epoch.Add(-2 * day), To: epoch.Add(-time.Minute)}, "e": {Type: "document"}, "b a c  old": {References: []int64{int64(one)}}, "": {References: []int64{}},
		} {
			q.Text = "hello"
			require.Equal(t, strings.ReplaceAll(want, "  ", " "), f.search(t, q))
		}
		require.Equal(t, "e", f.searchText(t, "invoice there"), "words of the caption and of the file's name")
		require.Equal(t, "e", f.searchText(t, "17.pdf"))
	})
}

// TestSearchMessages_Follows finds a message by its newest text, and not when it is gone.
func TestSearchMessages_Follows(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{idle: true, options: func(o *messaging.Options) { o.Retention = 30 * 24 * time.Hour }})
		ref := f.reference(t, testKind)
		edit := func(id, of, words string) provider.Event {
			return text(id, "111", words, func(m *provider.Message) { m.Edits = of })
		}
		f.receive(t, ref, text("m1", "111", "aardvark"), text("m2", "111", "buffalo"), text("m3", "222", "cheetah"))
		f.receive(t, ref, edit("m4", "m1", "antelope"))
		require.Empty(t, f.searchText(t, "aardvark"))
		page, err := f.acc.SearchMessages(t.Context(), messaging.SearchQuery{Text: "antelope"})
		require.NoError(t, err)
		require.Len(t, page.Items, 1)
		require.Equal(t, "m1", page.Items[0].Message.ID, "the message that was edited")
		require.Equal(t, []messaging.ExcerptPart{{Text: "antelope", Match: true}}, page.Items[0].Excerpt)
		f.receive(t, ref, edit("m5", "m1", "armadillo"))
		require.Empty(t, f.searchText(t, "antelope"))
		require.Equal(t, "m1", f.searchText(t, "armadillo"))
		_, _, err = f.extracted(t, ref, "111", "m2", map[string]json.RawMessage{"animal": json.RawMessage(`{"words":["wildebeest"]}`)})
		require.NoError(t, err)
		require.Equal(t, "m2", f.searchText(t, "wildebeest"))
		require.Equal(t, "m2", f.searchText(t, "buffalo"))
		f.receive(t, ref, text("m6", "111", "", func(m *provider.Message) { m.Content = provider.Revoke{MessageID: "m1"} }))
		require.Empty(t, f.searchText(t, "armadillo"))
		require.Empty(t, f.searchText(t, "deleted"))

		require.NoError(t, f.acc.DeleteChat(t.Context(), ref, "111"))
		require.Empty(t, f.searchText(t, "buffalo"))
		require.Equal(t, "m3", f.searchText(t, "cheetah"))
		requireNoWords(t, db, "aardvark", "antelope", "armadillo", "buffalo", "wildebeest")

		f.clock.Advance(31 * 24 * time.Hour)
		require.NoError(t, f.svc.Prune(t.Context()))
		require.Empty(t, f.searchText(t, "cheetah"))
		requireNoWords(t, db, "cheetah")
		f.receive(t, ref, text("m7", "333", "dolphin"))
		require.NoError(t, f.acc.References().Delete(t.Context(), ref))
		requireNoWords(t, db, "dolphin")
	})
}

// searchRows is how many rows the index of n messages takes at most. SQLite counts what
// its full-text index writes, too.
func searchRows(db *sqlx.DB, n int64) int64 {
	if db.DriverName() == "sqlite" {
		return 4 * n
	}
	return n
}

// requireNoWords fails if the index has one of some words.
func requireNoWords(t *testing.T, db *sqlx.DB, words ...string) {
	t.Helper()
	for _, w := range words {
		require.Zero(t, count(t, db, `SELECT count(*) FROM messaging_search WHERE words LIKE '%`+w+`%'`), w)
		if db.DriverName() == "sqlite" {
			require.Zero(t, count(t, db, `SELECT count(*) FROM messaging_search_words_data WHERE instr(block, CAST('`+w[1:]+`' AS BLOB)) > 0`), "the index has parts of %s", w)
		}
	}
}

// TestSearchMessages_Merged finds messages in the chat that theirs became one with.
func TestSearchMessages_Merged(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{idle: true})
		ref := f.reference(t, testKind)
		f.receive(t, ref, text("m1", "", "hello", from("", "u.1")), text("m2", "", "hello", from("111", "")))
		f.receive(t, ref, text("m3", "", "bye", from("111", "u.1")))
		require.ElementsMatch(t, []string{"m1", "m2"}, strings.Fields(f.search(t, messaging.SearchQuery{Text: "hello", Reference: ref, ChatID: "111"})))
		require.Equal(t, "m3", f.search(t, messaging.SearchQuery{Text: "bye", Reference: ref, ChatID: "u.1"}))
	})
}

// TestSearchMessages_Backlog indexes what was stored before there was an index, with
// what changed it, and does not undo what came since.
func TestSearchMessages_Backlog(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{idle: true})
		ref := f.reference(t, testKind)
		var evs []provider.Event
		for i := range 1100 { // more than two steps
			evs = append(evs, text(fmt.Sprint("m", i), "111", fmt.Sprint("number n", i)))
		}
		revoke := func(id, of string) provider.Event {
			return text(id, "111", "", func(m *provider.Message) { m.Content = provider.Revoke{MessageID: of} })
		}
		edit := func(id, of, words string) provider.Event {
			return text(id, "111", words, func(m *provider.Message) { m.Edits = of })
		}
		f.receive(t, ref, evs...)
		f.receive(t, ref, edit("e1", "m1", "edited once"), revoke("r1", "m2"))
		for _, statement := range []string{`DELETE FROM messaging_search`, `INSERT INTO messaging_search_backlog (last) VALUES (0)`} {
			_, err := db.ExecContext(t.Context(), statement)
			require.NoError(t, err)
		}
		require.Empty(t, f.searchText(t, "n3"))
		f.receive(t, ref, edit("e2", "m4", "edited meanwhile"), revoke("r2", "m5"), text("new", "111", "number n2000"))

		commits := testkit.ObserveCommits(t, db)
		for done := false; !done; {
			var err error
			done, err = f.svc.IndexBacklog(t.Context())
			require.NoError(t, err)
		}
		commits.RequireBounded(t, 1100, 10+searchRows(db, 500))
		require.Equal(t, "m3", f.searchText(t, `"n3"`))
		require.Equal(t, "m1099", f.searchText(t, "n1099"))
		require.Equal(t, "m1", f.searchText(t, "once"))
		require.Equal(t, "m4", f.searchText(t, "meanwhile"))
		require.Equal(t, "new", f.searchText(t, "n2000"))
		for _, gone := range []string{`"n1"`, `"n2"`, `"n4"`, `"n5"`} {
			require.Empty(t, f.searchText(t, gone), gone)
		}
		require.Zero(t, count(t, db, `SELECT count(*) FROM messaging_search_backlog`))
	})
}

// TestSearchMessages_Bounded looks at no more than five hundred messages for a page, and
// goes on with the next one.
func TestSearchMessages_Bounded(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{idle: true})
		ref := f.reference(t, testKind)
		evs := []provider.Event{text("first", "111", "one two", func(m *provider.Message) { m.At = epoch.Add(-time.Hour) })}
		for i := range 1500 {
			evs = append(evs, text(fmt.Sprint("m", i), "111", "two one"))
		}
		f.receive(t, ref, evs...)
		q := messaging.SearchQuery{Text: `"one two"`, List: messaging.List{Limit: 10}}
		page, err := f.acc.SearchMessages(t.Context(), q)
		require.NoError(t, err)
		require.Empty(t, page.Items)
		require.NotEmpty(t, page.Next)
		require.Equal(t, "first", f.search(t, q))
	})
}

// TestSearchMessages_WithoutIndex searches in tables that a program made whose SQLite has
// no full-text indexes.
func TestSearchMessages_WithoutIndex(t *testing.T) {
	t.Parallel()
	db := testkit.Open(t, testkit.SQLiteURL(t))
	require.NoError(t, messaging.Migrate(t.Context(), db))
	for _, what := range []string{"TRIGGER messaging_search_words_insert", "TRIGGER messaging_search_words_update", "TRIGGER messaging_search_words_delete", "TABLE messaging_search_words"} {
		_, err := db.ExecContext(t.Context(), `DROP `+what)
		require.NoError(t, err)
	}
	f := setup(t, db, config{idle: true})
	ref := f.reference(t, testKind)
	for id, words := range searchable {
		f.receive(t, ref, text(id, "111", words))
	}
	for words, want := range searches {
		require.Len(t, strings.ReplaceAll(f.searchText(t, words), "arabic digits", "arabic_digits"), len(strings.ReplaceAll(want, "arabic digits", "arabic_digits")), "%q", words)
	}
}

// FuzzSearchMessages has any text be a query, and a text be found by itself.
func FuzzSearchMessages(f *testing.F) {
	for words := range searches {
		f.Add(words)
	}
	for _, words := range searchable {
		f.Add(words)
	}
	var all []*fixture
	var refs []provider.ReferenceID
	for _, url := range []string{testkit.SQLiteURL(f), testkit.PostgresURL(f)} {
		s := setup(f, testkit.Open(f, url), config{idle: true})
		all, refs = append(all, s), append(refs, s.reference(f, testKind))
		s.receive(f, refs[len(refs)-1], text("m", "111", "hello"))
	}
	n := 0
	f.Fuzz(func(t *testing.T, words string) {
		n++
		var found []bool
		for i, s := range all {
			id := fmt.Sprint("m", n)
			s.receive(t, refs[i], text(id, "111", words))
			page, err := s.acc.SearchMessages(t.Context(), messaging.SearchQuery{Text: words, List: messaging.List{Limit: 200}})
			require.NoError(t, err)
			has := false
			for _, m := range page.Items {
				has = has || m.Message.ID == id
			}
			found = append(found, has)
			require.NoError(t, s.acc.DeleteChat(t.Context(), refs[i], "111"))
		}
		require.Equal(t, found[0], found[1], "%q", words)
	})
}
