package memory_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/aiflow/memory"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

// fixture is a service under test, and one of its accounts.
type fixture struct {
	*memory.Service
	*memory.Account
	db *sqlx.DB
}

// ana is one contact on two references.
var ana = []memory.Chat{{Reference: 1, ID: "ana@sandbox"}, {Reference: 2, ID: "16505551234"}}

func eachDatabase(t *testing.T, fn func(t *testing.T, f *fixture)) {
	t.Helper()
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		require.NoError(t, memory.Migrate(t.Context(), db))

		s, err := memory.New(t.Context(), db, &memory.Options{Names: names, Logger: slog.New(slog.DiscardHandler)})
		require.NoError(t, err)
		fn(t, &fixture{Service: s, Account: s.For("acme"), db: db})
	})
}

// names knows that a chat had another id, and that ana has two references.
func names(_ context.Context, _ string, c memory.Chat, everywhere bool) ([]memory.Chat, error) {
	switch {
	case c.ID == "ana@sandbox" && everywhere:
		return ana, nil
	case c.ID == "bob":
		return []memory.Chat{c, {Reference: c.Reference, ID: "bob@lid"}}, nil
	}
	return []memory.Chat{c}, nil
}

func place(scope memory.Scope, run string, chat memory.Chat) memory.Place {
	return memory.Place{Scope: scope, Run: run, Chat: chat}
}

// say keeps a question and its answer.
func (f *fixture) say(t *testing.T, p memory.Place, text string) {
	t.Helper()
	require.NoError(t, f.Remember(t.Context(), p, p.Run+"."+text, []llm.Message{llm.User(text), llm.Assistant("re " + text)}))
}

// messages returns the texts that are recalled.
func (f *fixture) messages(t *testing.T, p memory.Place) []string {
	t.Helper()
	return texts(f.recall(t, memory.Question{Place: p, Messages: 20, Tokens: 8000}))
}

func (f *fixture) recall(t *testing.T, q memory.Question) memory.History {
	t.Helper()
	h, err := f.Recall(t.Context(), q)
	require.NoError(t, err)
	return h
}

func texts(h memory.History) []string {
	out := []string{}
	for _, m := range h.Messages {
		if m.Role == llm.RoleUser {
			out = append(out, m.Text())
		}
	}
	return out
}

func TestScopes(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		f.say(t, place(memory.ScopeRun, "r1", ana[0]), "a")
		f.say(t, place(memory.ScopeChat, "r1", ana[0]), "b")
		f.say(t, place(memory.ScopeContact, "r2", ana[1]), "c")
		f.say(t, place(memory.ScopeContact, "r3", ana[0]), "d")
		f.say(t, place(memory.ScopeNone, "r1", ana[0]), "never")
		for _, c := range []struct {
			place memory.Place
			want  []string
		}{
			{place(memory.ScopeRun, "r1", ana[0]), []string{"a", "b"}},
			{place(memory.ScopeRun, "r9", ana[0]), []string{}},
			{place(memory.ScopeChat, "r9", ana[0]), []string{"b", "d"}},
			{place(memory.ScopeContact, "r9", ana[0]), []string{"c", "d"}},
			{place(memory.ScopeNone, "r1", ana[0]), []string{}},
			{place(memory.ScopeChat, "r1", memory.Chat{}), []string{"a", "b"}},
		} {
			require.Equal(t, c.want, f.messages(t, c.place), c.place)
		}
		h, err := f.For("other").Recall(t.Context(), memory.Question{Place: place(memory.ScopeRun, "r1", ana[0]), Messages: 20, Tokens: 8000})
		require.NoError(t, err)
		require.Empty(t, h.Messages, "another account remembers nothing of it")
	})
}

func TestChatOfTwoNames(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		f.say(t, place(memory.ScopeChat, "r1", memory.Chat{Reference: 1, ID: "bob@lid"}), "before")
		f.say(t, place(memory.ScopeChat, "r2", memory.Chat{Reference: 1, ID: "bob"}), "after")
		require.Equal(t, []string{"before", "after"}, f.messages(t, place(memory.ScopeChat, "r3", memory.Chat{Reference: 1, ID: "bob"})))
	})
}

func TestTurnIsKeptOnce(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		p := place(memory.ScopeChat, "r1", ana[0])
		for _, text := range []string{"first", "second"} {
			require.NoError(t, f.Remember(t.Context(), p, "k", []llm.Message{llm.User(text)}))
		}
		require.Equal(t, []string{"second"}, f.messages(t, p))
		require.Empty(t, f.recall(t, memory.Question{Place: p, Key: "k", Messages: 20, Tokens: 8000}).Messages,
			"who asks again does not see that it has asked before")
	})
}

func TestRememberInTransaction(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		p := place(memory.ScopeChat, "r1", ana[0])
		tx, err := f.db.BeginTxx(t.Context(), nil)
		require.NoError(t, err)
		require.NoError(t, f.RememberTx(t.Context(), tx, p, "k", []llm.Message{llm.User("x")}))
		require.NoError(t, tx.Rollback())
		require.Empty(t, f.messages(t, p))
	})
}

// lookup returns a turn in which a tool was called.
func lookup(question string, size int) []llm.Message {
	return []llm.Message{
		llm.User(question),
		{Role: llm.RoleAssistant, Calls: []llm.ToolCall{{ID: "c", Name: "find", Arguments: `{}`}}, Raw: []byte(`{"x":1}`), RawProvider: "p"},
		{Role: llm.RoleTool, Results: []llm.ToolResult{{CallID: "c", Content: strings.Repeat("r", size)}}},
		llm.Assistant("re " + question),
	}
}

func TestWindow(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		p := place(memory.ScopeChat, "r1", ana[0])
		for i := range 5 {
			require.NoError(t, f.Remember(t.Context(), p, fmt.Sprint(i), lookup(fmt.Sprint("q", i), 3000)))
		}
		all := f.recall(t, memory.Question{Place: p, Messages: 200, Tokens: 100_000})
		require.Len(t, all.Messages, 20)
		require.Nil(t, all.Messages[1].Raw, "what one provider alone understands is not kept")

		few := f.recall(t, memory.Question{Place: p, Messages: 6, Tokens: 100_000})
		require.Equal(t, []string{"q3", "q4"}, texts(few), "a turn is shortened to what was said before it is forgotten")
		require.Len(t, few.Messages, 6)
		paired(t, few)

		small := f.recall(t, memory.Question{Place: p, Messages: 200, Tokens: 1500})
		require.Equal(t, []string{"q0", "q1", "q2", "q3", "q4"}, texts(small), "what tools returned goes first")
		require.Equal(t, "[left out]", small.Messages[2].Results[0].Content)
		require.Len(t, small.Messages[18].Results[0].Content, 3000)
		paired(t, small)

		smaller := f.recall(t, memory.Question{Place: p, Messages: 200, Tokens: 1085})
		require.Equal(t, []string{"q3", "q4"}, texts(smaller))
		tiny := f.recall(t, memory.Question{Place: p, Messages: 200, Tokens: 20})
		require.Equal(t, []string{"q4"}, texts(tiny))
		require.Len(t, tiny.Messages, 2)
		require.Empty(t, f.recall(t, memory.Question{Place: p, Messages: 200, Tokens: 3}).Messages)
		require.Empty(t, f.recall(t, memory.Question{Place: p, Messages: 0, Tokens: 1000}).Messages)
	})
}

// paired requires that each call has its result and each result its call.
func paired(t *testing.T, h memory.History) {
	t.Helper()
	for i, m := range h.Messages {
		if len(m.Calls) > 0 {
			require.Equal(t, m.Calls[0].ID, h.Messages[i+1].Results[0].CallID)
		}
		if len(m.Results) > 0 {
			require.NotEmpty(t, h.Messages[i-1].Calls)
		}
	}
}

func TestWindowIsBounded(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		p := place(memory.ScopeChat, "r1", ana[0])
		for i := range 12 {
			require.NoError(t, f.Remember(t.Context(), p, fmt.Sprint(i), lookup(fmt.Sprint("q", i), 100*i)))
		}
		for messages := range 50 {
			for _, tokens := range []int{1, 10, 50, 100, 400, 1000, 4000} {
				h := f.recall(t, memory.Question{Place: p, Messages: messages, Tokens: tokens})
				require.LessOrEqual(t, len(h.Messages), messages)
				n := 0
				for i := range h.Messages {
					n += memory.Tokens(&h.Messages[i])
				}
				require.LessOrEqual(t, n, tokens)
				paired(t, h)
			}
		}
	})
}

func TestStorageIsBounded(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		p := place(memory.ScopeChat, "r1", ana[0])
		for i := range 205 {
			f.say(t, p, fmt.Sprint(i))
		}
		h := f.recall(t, memory.Question{Place: p, Messages: 1000, Tokens: 1_000_000})
		require.Len(t, h.Messages, 400)
		require.Equal(t, "5", h.Messages[0].Text())

		huge := strings.Repeat("ü", 200<<10)
		require.NoError(t, f.Remember(t.Context(), p, "huge", []llm.Message{
			{Role: llm.RoleUser, Parts: []llm.Part{{Text: huge}, {MediaType: "image/png", Name: "cat.png", Data: []byte(huge)}}}, llm.Assistant(huge),
		}))
		var size int
		require.NoError(t, f.db.GetContext(t.Context(), &size, `SELECT MAX(LENGTH(messages)) FROM memory_turn`))
		require.Less(t, size, 70<<10)
	})
}

func TestFilesAreNamed(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		p := place(memory.ScopeChat, "r1", ana[0])
		require.NoError(t, f.Remember(t.Context(), p, "k", []llm.Message{
			{Role: llm.RoleUser, Parts: []llm.Part{{Text: "What is this? "}, {MediaType: "image/png", Name: "cat.png", Data: []byte("…")}}},
		}))
		require.Equal(t, []string{"What is this? [image/png cat.png]"}, f.messages(t, p))
	})
}

func TestSummary(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		p := place(memory.ScopeChat, "r1", ana[0])
		var asked []string
		q := memory.Question{Place: p, Messages: 8, Tokens: 8000, Sum: func(_ context.Context, before string, said []llm.Message) (string, error) {
			asked = append(asked, before)
			for _, m := range said {
				if m.Role == llm.RoleUser {
					before += m.Text()
				}
			}
			return before, nil
		}}
		for i := range 4 {
			f.say(t, p, fmt.Sprint(i))
		}
		require.Empty(t, f.recall(t, q).Note(), "all of it fits")
		f.say(t, p, "4")
		h := f.recall(t, q)
		require.Equal(t, "012", h.Summary)
		require.Equal(t, []string{"3", "4"}, texts(h))
		require.Contains(t, h.Note(), "<summary>\n012\n</summary>")
		require.Equal(t, h, f.recall(t, q), "nothing is summed up twice")
		for i := 5; i < 8; i++ {
			f.say(t, p, fmt.Sprint(i))
		}
		h = f.recall(t, q)
		require.Equal(t, "012345", h.Summary)
		require.Equal(t, []string{"6", "7"}, texts(h))
		require.Equal(t, []string{"", "012"}, asked)

		q.Sum = nil
		require.Equal(t, []string{"4", "5", "6", "7"}, texts(f.recall(t, q)), "who wants no summary gets what was said")

		q.Sum = func(context.Context, string, []llm.Message) (string, error) { return "", errors.New("no model") }
		for i := 8; i < 12; i++ {
			f.say(t, p, fmt.Sprint(i))
		}
		h = f.recall(t, q)
		require.Equal(t, "012345", h.Summary)
		require.Equal(t, []string{"8", "9", "10", "11"}, texts(h), "it goes on without")
	})
}

func TestErase(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		group := memory.Chat{Reference: 1, ID: "7@g.us"}
		f.say(t, place(memory.ScopeContact, "r1", ana[0]), "a")
		f.say(t, place(memory.ScopeContact, "r2", ana[1]), "b")
		said := place(memory.ScopeChat, "r3", group)
		f.say(t, said, "kept")
		said.Message = "m7"
		f.say(t, said, "hers")
		sum := memory.Question{
			Place: place(memory.ScopeContact, "r2", ana[0]), Messages: 2, Tokens: 8000,
			Sum: func(context.Context, string, []llm.Message) (string, error) { return "of both", nil },
		}
		require.Equal(t, "of both", f.recall(t, sum).Summary)

		f.erase(t, memory.Erasure{Reference: 1, ChatIDs: []string{"ana@sandbox"}, MessageIDs: []string{"m7"}})
		require.Equal(t, []string{"b"}, f.messages(t, place(memory.ScopeContact, "r9", ana[1])))
		require.Equal(t, []string{"kept"}, f.messages(t, place(memory.ScopeChat, "r9", group)))
		sum.Place.Chat, sum.Messages = ana[1], 20
		require.Empty(t, f.recall(t, sum).Summary, "it told of what is erased")

		f.erase(t, memory.Erasure{Reference: 1})
		require.Empty(t, f.messages(t, place(memory.ScopeChat, "r9", group)))
		require.Equal(t, []string{"b"}, f.messages(t, place(memory.ScopeContact, "r9", ana[1])))
	})
}

// TestErasureIsBounded erases what is summed up of more chats than are read at
// once, some of which are not of the reference.
func TestErasureIsBounded(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		const n = 1200
		for i := range n {
			f.db.MustExec(fmt.Sprintf(`INSERT INTO memory_turn (account, scope, run, reference, chat_id, message_id, call_key, messages, up_to, covers, at_us)
				VALUES ('acme', 3, 'r', 3, 'c%[2]d', '', 'k%[2]d', 'text', 1, '[{"Reference":%[1]d,"ID":"c%[2]d"}]', 1)`, 1+i%2, i))
		}
		commits := testkit.ObserveCommits(t, f.db)
		f.erase(t, memory.Erasure{Reference: 1})
		commits.RequireBounded(t, n/2, 500)
		var left, wrong int
		require.NoError(t, f.db.Get(&left, `SELECT count(*) FROM memory_turn`))
		require.NoError(t, f.db.Get(&wrong, `SELECT count(*) FROM memory_turn WHERE covers LIKE '%"Reference":1,%'`))
		require.Equal(t, []int{n / 2, 0}, []int{left, wrong})
	})
}

// TestErasedMeanwhile has a run erased before what was said in it is kept.
func TestErasedMeanwhile(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		require.NoError(t, memory.Migrate(t.Context(), db))
		there := true
		s, err := memory.New(t.Context(), db, &memory.Options{
			Lock: func(_ context.Context, _ memory.Tx, account, run string) (bool, error) {
				require.Equal(t, "acme r1", account+" "+run)
				return there, nil
			},
		})
		require.NoError(t, err)
		f := &fixture{Service: s, Account: s.For("acme"), db: db}
		p := place(memory.ScopeChat, "r1", ana[0])
		f.say(t, p, "a")
		f.say(t, p, "b")
		there = false
		f.say(t, p, "c")
		require.Equal(t, []string{"a", "b"}, f.messages(t, p))
		f.recall(t, memory.Question{
			Place: p, Messages: 2, Tokens: 8000,
			Sum: func(context.Context, string, []llm.Message) (string, error) { return "of a", nil },
		})
		var n int
		require.NoError(t, db.GetContext(t.Context(), &n, `SELECT count(*) FROM memory_turn`))
		require.Equal(t, 2, n, "and no summary")
	})
}

func (f *fixture) erase(t *testing.T, e memory.Erasure) {
	t.Helper()
	require.NoError(t, f.Erase(t.Context(), e))
}

func TestEndOfRun(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		f.say(t, place(memory.ScopeRun, "r1", ana[0]), "a")
		f.say(t, place(memory.ScopeChat, "r1", ana[0]), "b")
		tx, err := f.db.BeginTxx(t.Context(), nil)
		require.NoError(t, err)
		require.NoError(t, f.EndRunTx(t.Context(), tx, "r1"))
		require.NoError(t, tx.Commit())
		require.Equal(t, []string{"b"}, f.messages(t, place(memory.ScopeRun, "r1", ana[0])))
	})
}

func TestDeleteAll(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		f.say(t, place(memory.ScopeChat, "r1", ana[0]), "secret")
		require.NoError(t, f.For("other").Remember(t.Context(), place(memory.ScopeRun, "r2", ana[0]), "k", []llm.Message{llm.User("theirs")}))
		require.NoError(t, f.DeleteAll(t.Context()))
		require.Empty(t, testkit.Holding(t, f.db, "secret"))
		require.NotEmpty(t, testkit.Holding(t, f.db, "theirs"))
	})
}

func TestRetention(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		require.NoError(t, memory.Migrate(t.Context(), db))
		now := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
		s, err := memory.New(t.Context(), db, &memory.Options{Retention: 24 * time.Hour, Now: func() time.Time { return now }})
		require.NoError(t, err)
		f := &fixture{Service: s, Account: s.For("acme"), db: db}
		f.say(t, place(memory.ScopeChat, "r1", ana[0]), "old")
		now = now.Add(25 * time.Hour)
		f.say(t, place(memory.ScopeChat, "r1", ana[0]), "new")
		require.NoError(t, s.Prune(t.Context()))
		require.Equal(t, []string{"new"}, f.messages(t, place(memory.ScopeChat, "r1", ana[0])))
	})
}
