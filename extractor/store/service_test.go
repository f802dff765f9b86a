package store_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/extractor/store"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

func TestExtractorsAreKept(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		s := idle(t, db, store.Options{})
		a, other := s.For("a"), s.For("b")
		first := made(t, a, store.Regex, `{"pattern": "#(?P<order>\\d+)", "groups": {"order": "number"}}`)
		second, err := a.Create(t.Context(), store.NewExtractor{
			Name: "of a flow", Kind: store.Entity, Scope: store.Scope{Flow: "f1"}, Config: json.RawMessage(`{"types": ["email"]}`), Disabled: true,
		})
		require.NoError(t, err)
		require.False(t, second.Enabled)

		got, err := a.Extractor(t.Context(), first.ID)
		require.NoError(t, err)
		require.Equal(t, first, got)
		all, err := a.Extractors(t.Context(), store.List{Limit: 1})
		require.NoError(t, err)
		require.Equal(t, []store.Extractor{first}, all.Items)
		all, err = a.Extractors(t.Context(), store.List{Cursor: all.Next})
		require.NoError(t, err)
		require.Empty(t, all.Next)
		require.Equal(t, []store.Extractor{second}, all.Items)
		all, err = a.Extractors(t.Context(), store.List{Scope: store.Scope{Flow: "f1"}})
		require.NoError(t, err)
		require.Len(t, all.Items, 1)

		changed, err := a.Update(t.Context(), first.ID, store.Change{Name: new("new name"), Config: json.RawMessage(`{"pattern": "x"}`)})
		require.NoError(t, err)
		require.Equal(t, "new name", changed.Name)
		require.JSONEq(t, `{"match":"x"}`, valuesOf(t, a, said("x #5")), "a change counts at once")

		_, err = other.Extractor(t.Context(), first.ID)
		require.ErrorIs(t, err, store.ErrNotFound)
		_, err = other.Update(t.Context(), first.ID, store.Change{Name: new("mine")})
		require.ErrorIs(t, err, store.ErrNotFound)
		require.ErrorIs(t, other.Delete(t.Context(), first.ID), store.ErrNotFound)
		_, err = other.Try(t.Context(), first.ID, said("x"))
		require.ErrorIs(t, err, store.ErrNotFound)
		_, err = other.Evaluate(t.Context(), first.ID)
		require.ErrorIs(t, err, store.ErrNotFound)
		require.NoError(t, a.Delete(t.Context(), first.ID))
		_, err = a.Extractor(t.Context(), "\x00")
		require.ErrorIs(t, err, store.ErrNotFound)
		require.Equal(t, "{}", valuesOf(t, a, said("x")))
		require.NoError(t, a.DeleteAll(t.Context()))
		all, err = a.Extractors(t.Context(), store.List{})
		require.NoError(t, err)
		require.Empty(t, all.Items)
	})
}

// TestConfigsHaveRoom checks the limit of an account's configs, which nodes keep in
// memory.
func TestConfigsHaveRoom(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		s := idle(t, db, store.Options{})
		a := s.For("a")
		small := made(t, a, store.Regex, `{"pattern": "x"}`)
		large := json.RawMessage(`{"pattern": "y"` + strings.Repeat(" ", store.MaxConfig-20) + `}`)
		n := store.NewExtractor{Name: "n", Kind: store.Regex, Scope: store.Scope{Reference: 1}, Config: large}
		for range 3 {
			_, err := a.Create(t.Context(), n)
			require.NoError(t, err)
		}
		_, err := a.Update(t.Context(), small.ID, store.Change{Config: large})
		require.NoError(t, err)
		n.Config = json.RawMessage(`{"pattern": "z` + strings.Repeat("z", 200) + `"}`)
		_, err = a.Create(t.Context(), n)
		var bad *store.Invalid
		require.ErrorAs(t, err, &bad)
		require.Equal(t, "config", bad.Field)
		_, err = s.For("b").Create(t.Context(), n)
		require.NoError(t, err, "another account has room of its own")
		_, err = a.Update(t.Context(), small.ID, store.Change{Config: json.RawMessage(`{"pattern": "x"}`)})
		require.NoError(t, err)
		_, err = a.Create(t.Context(), n)
		require.NoError(t, err)
	})
}

func TestErrorsNameTheField(t *testing.T) {
	t.Parallel()
	a := idle(t, testkit.Open(t, testkit.SQLiteURL(t)), store.Options{}).For("a")
	line := store.Scope{Reference: 1}
	for name, c := range map[string]struct {
		new   store.NewExtractor
		field string
	}{
		"name":          {store.NewExtractor{Kind: "regex", Scope: line, Config: json.RawMessage(`{"pattern":"a"}`)}, "name"},
		"scope":         {store.NewExtractor{Name: "n", Kind: "regex", Config: json.RawMessage(`{"pattern":"a"}`)}, "scope"},
		"kind":          {store.NewExtractor{Name: "n", Kind: "magic", Scope: line, Config: json.RawMessage(`{}`)}, "kind"},
		"no object":     {store.NewExtractor{Name: "n", Kind: "regex", Scope: line, Config: json.RawMessage(`[]`)}, "config"},
		"unknown":       {store.NewExtractor{Name: "n", Kind: "regex", Scope: line, Config: json.RawMessage(`{"patern":"a"}`)}, "config.patern"},
		"type":          {store.NewExtractor{Name: "n", Kind: "regex", Scope: line, Config: json.RawMessage(`{"pattern":7}`)}, "config.pattern"},
		"pattern":       {store.NewExtractor{Name: "n", Kind: "regex", Scope: line, Config: json.RawMessage(`{"pattern":"("}`)}, "config.pattern"},
		"group":         {store.NewExtractor{Name: "n", Kind: "regex", Scope: line, Config: json.RawMessage(`{"pattern":"a","groups":{"b":"string"}}`)}, "config.groups.b"},
		"nothing":       {store.NewExtractor{Name: "n", Kind: "entity", Scope: line, Config: json.RawMessage(`{}`)}, "config.types"},
		"entity":        {store.NewExtractor{Name: "n", Kind: "entity", Scope: line, Config: json.RawMessage(`{"types":["date","colour"]}`)}, "config.types[1]"},
		"no words":      {store.NewExtractor{Name: "n", Kind: "entity", Scope: line, Config: json.RawMessage(`{"types":["dictionary"]}`)}, "config.dictionary"},
		"word":          {store.NewExtractor{Name: "n", Kind: "entity", Scope: line, Config: json.RawMessage(`{"dictionary":[{"value":"a"},{"value":""}]}`)}, "config.dictionary[1].value"},
		"intents":       {store.NewExtractor{Name: "n", Kind: "intent", Scope: line, Config: json.RawMessage(`{"intents":[]}`)}, "config.intents"},
		"examples":      {store.NewExtractor{Name: "n", Kind: "intent", Scope: line, Config: json.RawMessage(`{"intents":[{"name":"a","examples":["b"]},{"name":"b","examples":[""]}]}`)}, "config.intents[1].examples[0]"},
		"threshold":     {store.NewExtractor{Name: "n", Kind: "intent", Scope: line, Config: json.RawMessage(intents(`,"threshold":2`))}, "config.threshold"},
		"fallback":      {store.NewExtractor{Name: "n", Kind: "intent", Scope: line, Config: json.RawMessage(intents(`,"fallback":{"model":"x"}`))}, "config.fallback.model"},
		"model":         {store.NewExtractor{Name: "n", Kind: "ai", Scope: line, Config: json.RawMessage(`{"schema":{"type":"object"}}`)}, "config.model"},
		"schema":        {store.NewExtractor{Name: "n", Kind: "ai", Scope: line, Config: json.RawMessage(`{"model":"a/b","schema":{"type":"object"}}`)}, "config.schema"},
		"bad schema":    {store.NewExtractor{Name: "n", Kind: "ai", Scope: line, Config: json.RawMessage(`{"model":"a/b","schema":{"type":"object","properties":{"a":{"type":"colour"}}}}`)}, "config.schema"},
		"remote schema": {store.NewExtractor{Name: "n", Kind: "ai", Scope: line, Config: json.RawMessage(`{"model":"a/b","schema":{"type":"object","properties":{"a":{"$ref":"https://example.com/s"}}}}`)}, "config.schema"},
		"when":          {store.NewExtractor{Name: "n", Kind: "ai", Scope: line, Config: json.RawMessage(`{"model":"a/b","when":"never","schema":{"type":"object","properties":{"a":{}}}}`)}, "config.when"},
		"test":          {store.NewExtractor{Name: "n", Kind: "regex", Scope: line, Config: json.RawMessage(`{"pattern":"a","tests":[{"text":""}]}`)}, "config.tests[0].text"},
	} {
		_, err := a.Create(t.Context(), c.new)
		var bad *store.Invalid
		require.ErrorAs(t, err, &bad, name)
		require.Equal(t, c.field, bad.Field, name)
		require.NotEmpty(t, bad.Message, name)
	}
}

// TestScopes checks that a message is read by the extractors of its line and its
// bots, and of the named flows. Of values with one name the oldest extractor wins.
func TestScopes(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		s := idle(t, db, store.Options{})
		a := s.For("a")
		for pattern, scope := range map[string]store.Scope{
			`(?P<line>x)`: {Reference: 1}, `(?P<elsewhere>x)`: {Reference: 2}, `(?P<bot>x)`: {Reference: 1, Bot: "b1"}, `(?P<flow>x)`: {Flow: "f1"}, `(?P<other>x)`: {Flow: "f2"},
		} {
			config, err := json.Marshal(map[string]any{"pattern": pattern})
			require.NoError(t, err)
			_, err = a.Create(t.Context(), store.NewExtractor{Name: "n", Kind: store.Regex, Scope: scope, Config: config})
			require.NoError(t, err)
		}
		made(t, a, store.Regex, `{"pattern": "(?P<line>y)"}`)
		require.JSONEq(t, `{"line":"x"}`, valuesOf(t, a, said("y x")), "the bot does not listen")
		require.Equal(t, "{}", valuesOf(t, s.For("b"), said("y x")))
		m := said("x")
		m.Owners = func(context.Context) ([]string, error) { return []string{"f1", "b1"}, nil }
		require.JSONEq(t, `{"line":"x","bot":"x","flow":"x"}`, valuesOf(t, a, m))

		read := func() []string {
			text, args := s.ReadingQuery(1, []int64{1, 2, 3, 4}, []string{"a", "b"})
			var rows []struct {
				Reference int64
				Account   string
			}
			require.NoError(t, db.SelectContext(t.Context(), &rows, text, args...))
			out := make([]string, len(rows))
			for i, r := range rows {
				out[i] = fmt.Sprintf("%d %s", r.Reference, r.Account)
			}
			return out
		}
		require.ElementsMatch(t, []string{"0 a", "1 ", "1 a", "2 "}, read())
		require.NoError(t, a.DeleteFlow(t.Context(), "f1"))
		require.NoError(t, a.DeleteFlow(t.Context(), "f2"))
		require.NoError(t, a.DeleteReference(t.Context(), 2))
		require.NoError(t, a.DeleteBot(t.Context(), "b1"))
		require.Equal(t, []string{"1 "}, read())
		require.JSONEq(t, `{"line":"x"}`, valuesOf(t, a, said("x")), "a change holds at once, whoever made it")
	})
}

// TestAccountsAreMadeAgain checks that an account under the id of a deleted one
// does not see what a node has cached of that.
func TestAccountsAreMadeAgain(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		a, b := idle(t, db, store.Options{}).For("a"), idle(t, db, store.Options{}).For("a")
		made(t, a, store.Regex, `{"pattern": "x"}`)
		require.JSONEq(t, `{"match":"x"}`, valuesOf(t, b, said("x")))
		require.NoError(t, a.DeleteAll(t.Context()))
		made(t, a, store.Regex, `{"pattern": "y"}`)
		require.JSONEq(t, `{}`, valuesOf(t, b, said("x")))
		require.JSONEq(t, `{"match":"y"}`, valuesOf(t, b, said("y")))
	})
}

// maxRows is the maximum number of rows of one deletion: 20 extractors with their
// models, and the account.
const maxRows = 41

// TestDeletionsAreBounded deletes ten times as much: the transactions become
// more, and none becomes larger.
func TestDeletionsAreBounded(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		a := idle(t, db, store.Options{}).For("a")
		commits := testkit.ObserveCommits(t, db)
		for _, n := range []int64{30, 300} {
			for _, remove := range []func() error{
				func() error { return a.DeleteFlow(t.Context(), "f") },
				func() error { return a.DeleteBot(t.Context(), "b") },
				func() error { return a.DeleteReference(t.Context(), 1) },
				func() error { return a.DeleteAll(t.Context()) },
			} {
				made(t, a, store.Regex, `{"pattern": "x"}`)
				const number = `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) `
				db.MustExec(fmt.Sprintf(`INSERT INTO extractor_item (id, account, name, kind, reference, bot, flow, config, enabled, revision, training,
					training_error, claim, claim_us, created_us, updated_us) `+number+
					`SELECT 'filler' || i, 'a', 'n', 'intent', 1, 'b', 'f', '{}', FALSE, 1, 'ready', '', '', 0, 1, 1 FROM n`, n))
				db.MustExec(fmt.Sprintf(`INSERT INTO extractor_model (extractor, revision, body) `+number+`SELECT 'filler' || i, 1, 'x' FROM n`, n))
				commits.Take()
				require.NoError(t, remove())
				commits.RequireBounded(t, 2*n, maxRows)
				require.Empty(t, testkit.Holding(t, db, "filler"))
			}
		}
	})
}

// TestEveryNodeSeesChanges checks that a change on one node applies on another
// within five seconds.
func TestEveryNodeSeesChanges(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		a, b := start(t, db, store.Options{}).For("a"), idle(t, db, store.Options{}).For("a")
		require.Equal(t, "{}", valuesOf(t, b, said("x")))
		e := made(t, a, store.Regex, `{"pattern": "x"}`)
		on := func(text, want string) {
			require.Eventually(t, func() bool { return valuesOf(t, b, said(text)) == want }, timeout, 50*time.Millisecond)
		}
		on("x", `{"match":"x"}`)
		_, err := a.Update(t.Context(), e.ID, store.Change{Enabled: new(false)})
		require.NoError(t, err)
		on("x", `{}`)
		made(t, a, store.Intent, intents(""))
		on("where is my package", `{"intent":"delivery"}`)
	})
}

func TestDictionary(t *testing.T) {
	t.Parallel()
	a := idle(t, testkit.Open(t, testkit.SQLiteURL(t)), store.Options{}).For("a")
	made(t, a, store.Entity, `{"types": ["number"], "dictionary": [{"value": "Margherita", "synonyms": ["cheese pizza"]}]}`)
	require.JSONEq(t, `{"number":2,"our_entity":"Margherita"}`, valuesOf(t, a, said("2 margarita please")))
	require.JSONEq(t, `{"our_entity":"Margherita"}`, valuesOf(t, a, said("a Cheese Pizza")))
}

// TestLongTexts: only the beginning of a text is read, and offsets slice it.
func TestLongTexts(t *testing.T) {
	t.Parallel()
	a := idle(t, testkit.Open(t, testkit.SQLiteURL(t)), store.Options{}).For("a")
	e := made(t, a, store.Regex, `{"pattern": "é+|end"}`)
	text := strings.Repeat("é", 40_000) + "end"
	r, err := a.Try(t.Context(), e.ID, said(text))
	require.NoError(t, err)
	require.Len(t, r.Matches, 1)
	m := r.Matches[0]
	require.Equal(t, m.Text, text[m.Start:m.End])
	require.Equal(t, 16<<10, m.End)
}

func TestEvaluate(t *testing.T) {
	t.Parallel()
	db := testkit.Open(t, testkit.SQLiteURL(t))
	s := start(t, db, store.Options{})
	a := s.For("a")
	e := made(t, a, store.Regex, `{"pattern": "#(?P<n>\\d+)", "groups": {"n": "number"}, "tests": [
		{"text": "see #12", "values": {"n": 12}}, {"text": "nothing"}, {"text": "see #13", "values": {"n": 14}}]}`)
	got, err := a.Evaluate(t.Context(), e.ID)
	require.NoError(t, err)
	require.Equal(t, 3, got.Tests)
	require.Equal(t, 2, got.Right)
	require.Equal(t, 2, got.Failures[0].Test)
	require.Empty(t, got.Confused)

	e = made(t, a, store.Intent, intents(`, "threshold": 0.65, "tests": [
		{"text": "give me a refund", "values": {"intent": "refund"}}, {"text": "hola amigos"},
		{"text": "track my parcel", "values": {"intent": "refund"}}, {"text": "where is my package", "values": {"intent": "refund"}}]`))
	trained(t, db, a, e.ID)
	got, err = a.Evaluate(t.Context(), e.ID)
	require.NoError(t, err)
	require.Equal(t, 2, got.Right)
	require.Equal(t, []store.Confusion{{Intent: "refund", Taken: "delivery", Times: 2, Example: "track my parcel"}}, got.Confused)
}
