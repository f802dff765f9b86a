package messaging_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
)

// named gives a chat, that may be new, a name.
func (f *fixture) named(t *testing.T, ref provider.ReferenceID, chat, name string) {
	t.Helper()
	f.receive(t, ref, text(chat+" 1", chat, "hi"))
	_, err := f.acc.UpdateChat(t.Context(), ref, chat, messaging.ChatChange{Name: &name})
	require.NoError(t, err)
}

func (f *fixture) found(t *testing.T, ref provider.ReferenceID, search string) []string {
	t.Helper()
	page, err := f.acc.Chats(t.Context(), ref, messaging.ChatFilter{Search: search})
	require.NoError(t, err)
	ids := []string{}
	for _, c := range page.Items {
		ids = append(ids, c.ID)
	}
	return ids
}

// TestChats_Search finds chats by any part of their names, also by the characters that
// mean something to an index.
func TestChats_Search(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{idle: true})
		ref := f.reference(t, testKind)
		for chat, name := range map[string]string{
			"anna": `Anna "the cat" O'Hara`, "bert": `NOT bert* OR (x) ^y`, "carl": `100% carl_ \ Ü`, "dora": "Dora zzzzz",
		} {
			f.named(t, ref, chat, name)
		}
		for search, want := range map[string]string{
			`"the cat"`: "anna", `e cat" O'H`: "anna", `"`: "anna", `""`: "", `"""`: "",
			`NOT bert*`: "bert", `bert* OR (`: "bert", `rt*`: "bert", `^y`: "bert", `names:bert`: "",
			`00%`: "carl", `l_ \`: "carl", `1_0`: "", `% Ü`: "", `ZZZ`: "dora", `zz`: "dora", `ora`: "dora",
		} {
			require.Equal(t, want, strings.Join(f.found(t, ref, search), " "), search)
		}

		f.named(t, ref, "dora", "Theodora")
		require.Empty(t, f.found(t, ref, "zzz"))
		require.Equal(t, []string{"dora"}, f.found(t, ref, "theo"))
		require.NoError(t, f.acc.DeleteChat(t.Context(), ref, "dora"))
		require.Empty(t, f.found(t, ref, "theo"))
		if db.DriverName() == "sqlite" {
			var left int
			require.NoError(t, db.GetContext(t.Context(), &left, `SELECT count(*) FROM messaging_chat_search_data
				WHERE instr(block, CAST('zzz' AS BLOB)) > 0 OR instr(block, CAST('heo' AS BLOB)) > 0`))
			require.Zero(t, left, "the index has parts of names that were erased")
		}
	})
}

// TestChats_SearchWithoutIndex searches in tables that a program made whose SQLite has no
// full-text indexes.
func TestChats_SearchWithoutIndex(t *testing.T) {
	t.Parallel()
	db := testkit.Open(t, testkit.SQLiteURL(t))
	require.NoError(t, messaging.Migrate(t.Context(), db))
	for _, statement := range []string{
		`DROP TRIGGER messaging_chat_search_insert`, `DROP TRIGGER messaging_chat_search_update`, `DROP TRIGGER messaging_chat_search_delete`,
		`DROP TABLE messaging_chat_search`, `DROP VIEW messaging_chat_names`,
	} {
		_, err := db.ExecContext(t.Context(), statement)
		require.NoError(t, err)
	}
	f := setup(t, db, config{idle: true})
	ref := f.reference(t, testKind)
	f.named(t, ref, "anna", "Anna")
	require.Equal(t, []string{"anna"}, f.found(t, ref, "nna"))
	require.Empty(t, f.found(t, ref, "nnb"))
}

// TestMigrate_NoExtensions migrates as a user who may not create extensions: chats are
// searched without an index, until the owner of the database adds it.
func TestMigrate_NoExtensions(t *testing.T) {
	t.Parallel()
	url := testkit.PostgresURL(t)
	admin := testkit.Open(t, url)
	for _, statement := range []string{`DROP EXTENSION IF EXISTS pg_trgm CASCADE`, `DO $$ BEGIN CREATE ROLE messaging_guest LOGIN; EXCEPTION WHEN duplicate_object THEN END $$`, `CREATE SCHEMA guest AUTHORIZATION messaging_guest`} {
		_, err := admin.ExecContext(t.Context(), statement)
		require.NoError(t, err)
	}
	db := testkit.Open(t, strings.Replace(url, "postgres@", "messaging_guest@", 1)+"&search_path=guest")
	f := setup(t, db, config{idle: true})
	ref := f.reference(t, testKind)
	f.named(t, ref, "anna", "Anna")
	require.Equal(t, []string{"anna"}, f.found(t, ref, "nna"))
	const indexed = `SELECT count(*) FROM pg_indexes WHERE schemaname = 'guest' AND indexname = 'messaging_chat_search'`
	require.Zero(t, count(t, db, indexed))

	owner := testkit.Open(t, url+"&search_path=guest")
	for statement := range strings.SplitSeq(testkit.ReadGuide(t, "../docs/running.md")["search"], ";\n") {
		_, err := owner.ExecContext(t.Context(), statement)
		require.NoError(t, err)
	}
	require.Equal(t, 1, count(t, db, indexed))
	require.Equal(t, []string{"anna"}, f.found(t, ref, "nna"))
	session, err := owner.Connx(t.Context())
	require.NoError(t, err)
	defer session.Close() //nolint:errcheck // it goes back to the pool
	_, err = session.ExecContext(t.Context(), `SET enable_seqscan = off`)
	require.NoError(t, err)
	var plan []string
	require.NoError(t, session.SelectContext(t.Context(), &plan, `EXPLAIN SELECT 1 FROM messaging_chat c WHERE `+messaging.ChatNames+` LIKE '%nna%'`))
	require.Contains(t, strings.Join(plan, "\n"), "messaging_chat_search", "the index is of what a search compares")
}

// TestChats_SearchStrangeText searches for parts of strange names, and for what
// strangers may send: SQLite's index finds what a comparison with each chat finds.
func TestChats_SearchStrangeText(t *testing.T) {
	t.Parallel()
	db := testkit.Open(t, testkit.SQLiteURL(t))
	f := setup(t, db, config{idle: true})
	ref := f.reference(t, testKind)
	names := []string{
		"kelvin kilo", "Straße ẞ", "İstanbul ısı", "e\u0301te\u0301 été", "👩‍👩‍👧 family", "\u202eabc\u202c", `""" ' -- ; DROP`, "ＡＢＣ wide", "ﬁne ﬂuke", "a\u00adb\u00adc", "日本語の名前", "ǅ ǆ Ǆ",
	}
	for i, name := range names {
		f.named(t, ref, fmt.Sprintf("%d", 100+i), name)
	}
	searches := []string{"\u212aelvin", "\u212ailo", "STRASSE", "ÉTÉ", "\xff\xfe\xfd", "a\x00bc", strings.Repeat("ab", 100), "* * *", "NEAR(a b)", "\n\n\n", "\ufeff\ufeff\ufeff"}
	for _, name := range names {
		for part := []rune(name); len(part) >= 3; part = part[1:] {
			searches = append(searches, string(part), string(part[:3]), strings.ToUpper(string(part[:3])), strings.ToLower(string(part[:3])))
		}
	}
	found := map[string][]string{}
	for _, search := range searches {
		found[search] = f.found(t, ref, search)
	}
	require.Len(t, found["kel"], 1)
	require.Len(t, found["\u212aelvin"], 1, "the sign of kelvin is a k")
	for _, what := range []string{"TRIGGER messaging_chat_search_insert", "TRIGGER messaging_chat_search_update", "TRIGGER messaging_chat_search_delete", "TABLE messaging_chat_search"} {
		_, err := db.ExecContext(t.Context(), `DROP `+what)
		require.NoError(t, err)
	}
	without := setup(t, db, config{idle: true})
	for _, search := range searches {
		require.Equal(t, without.found(t, ref, search), found[search], "%q", search)
	}
}
