package messaging_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
)

// old is a message from before the reference was connected, by days.
func old(id, chat string, days int, change ...func(*provider.Message)) *provider.Message {
	return text(id, chat, id, append([]func(*provider.Message){func(m *provider.Message) {
		m.Historical, m.At = true, epoch.Add(-time.Duration(days)*24*time.Hour)
	}}, change...)...)
}

// TestImportedHistory: imported messages are listed before all others by when
// they were written, in whatever order they come; nobody hears of them but
// once, that there is more to see.
func TestImportedHistory(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{idle: true})
		ref := f.reference(t, testKind)
		mine := func(m *provider.Message) { m.Mine, m.Status = true, provider.StatusPlayed }
		progress := func(percent int) *provider.HistoryProgress {
			return &provider.HistoryProgress{Raw: rawID(fmt.Sprint("progress", percent)), Percent: percent}
		}
		f.receive(t, ref, text("live1", "111", "hello"))
		published, shown := len(f.sink.all(t)), count(t, db, `SELECT count(*) FROM messaging_change`)
		for range 2 {
			f.receive(t, ref, old("h2", "111", 5), old("h4", "111", 2, mine), old("o1", "222", 9, func(m *provider.Message) { m.From.Name = "Bob" }), progress(55))
			f.receive(t, ref, old("h1", "111", 8), old("h3", "111", 3), old("o2", "222", 12), progress(100))
		}
		require.Len(t, f.sink.all(t), published)
		require.Equal(t, shown+1, count(t, db, `SELECT count(*) FROM messaging_change`))
		require.JSONEq(t, fmt.Sprintf(`{"reference":%d}`, ref), string(f.news(t, "resync")[0]))
		f.receive(t, ref, text("live2", "111", "again"))

		ids := func(h messaging.History) (ids []string, next string) {
			page, err := f.acc.Messages(t.Context(), ref, "111", h)
			require.NoError(t, err)
			for _, m := range page.Items {
				ids = append(ids, m.ID)
			}
			if page.Next != "" {
				next = page.Next
			}
			return ids, next
		}
		newest, next := ids(messaging.History{Limit: 3})
		require.Equal(t, []string{"live2", "live1", "h4"}, newest)
		rest, end := ids(messaging.History{Before: next})
		require.Equal(t, []string{"h3", "h2", "h1"}, rest)
		require.Empty(t, end)
		after, _ := ids(messaging.History{After: next})
		require.Equal(t, []string{"live2", "live1"}, after)

		c := f.chat(t, ref, "111")
		require.Equal(t, "live2", c.LastMessage.ID)
		require.EqualValues(t, 2, c.Unread)
		bob := f.chat(t, ref, "222")
		require.Equal(t, "o1", bob.LastMessage.ID, "the newest of the imported")
		require.Equal(t, "Bob", bob.Name)
		require.Zero(t, bob.Unread)
		require.Nil(t, bob.WindowExpiresAt)
		require.Nil(t, bob.Handoff)

		f.receive(t, ref, status("h3", provider.StatusRead), status("h4", provider.StatusRead))
		_, err := f.acc.MarkRead(t.Context(), ref, "111", "h1")
		require.NoError(t, err)
		require.EqualValues(t, 2, f.chat(t, ref, "111").Unread, "history is before all that is unread")
		_, err = f.acc.MarkRead(t.Context(), ref, "111", "")
		require.NoError(t, err)
		require.Equal(t, "READ", f.message(t, ref, "111", "h3").Status)
		require.Equal(t, "PLAYED", f.message(t, ref, "111", "h4").Status)
		require.Equal(t, "DELIVERED", f.message(t, ref, "111", "h1").Status)
		require.Empty(t, f.sink.of(t, "h1", "h2", "h3", "h4"))
	})
}

// TestHistoryAndLiveMeet: a message that comes both ways is one, and heard of
// once, whichever way it comes first.
func TestHistoryAndLiveMeet(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		for _, ways := range [][]bool{{true, false}, {false, true}, {true, true, false, false}} {
			f := setup(t, db, config{idle: true})
			ref := f.reference(t, testKind)
			for _, historical := range ways {
				f.receive(t, ref, text("m1", "111", "hello", func(m *provider.Message) { m.Historical = historical }))
			}
			f.receive(t, ref, old("m0", "111", 3))
			c := f.chat(t, ref, "111")
			require.EqualValues(t, 1, c.Unread)
			require.Equal(t, "m1", c.LastMessage.ID)
			require.NotNil(t, c.WindowExpiresAt)
			require.Len(t, f.sink.of(t, "m1"), 1)
			require.Equal(t, "m1", f.messages(t, ref, "111")[0].ID)
			require.Len(t, f.messages(t, ref, "111"), 2)
		}
	})
}

// TestPlaceholderIsFilled: the file of an imported message comes later, under
// the same id.
func TestPlaceholderIsFilled(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{idle: true})
		ref := f.reference(t, testKind)
		with := func(c provider.Content) func(*provider.Message) {
			return func(m *provider.Message) { m.Content = c }
		}
		placeholder, photo := provider.Media{Kind: provider.Placeholder}, provider.Media{Kind: provider.Image, File: provider.File{MIME: "image/png"}}
		f.receive(t, ref, old("h1", "111", 3, with(placeholder)))
		require.Equal(t, "text", f.message(t, ref, "111", "h1").Type)
		f.receive(t, ref, old("h2", "111", 2, with(placeholder)), old("h2", "111", 2, with(photo)), old("h3", "111", 1, with(photo)))
		f.receive(t, ref, old("h1", "111", 3, with(photo)), old("h3", "111", 1, with(placeholder)))
		for _, id := range []string{"h1", "h2", "h3"} {
			m := f.message(t, ref, "111", id)
			require.Equal(t, "image", m.Type, id)
			require.Equal(t, "image/png", m.MimeType)
			require.Nil(t, m.Unsupported)
		}
		f.receive(t, ref, old("h1", "111", 3, func(m *provider.Message) { m.Content = provider.Text{Text: "other"} }))
		require.Equal(t, "image", f.message(t, ref, "111", "h1").Type, "only a placeholder is replaced")
		require.Empty(t, f.sink.all(t))
	})
}

// TestFailedHistory: a message that failed long ago says so.
func TestFailedHistory(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{idle: true})
		ref := f.reference(t, testKind)
		f.receive(t, ref, old("h1", "111", 3, func(m *provider.Message) { m.Mine, m.Status = true, provider.StatusFail }))
		m := f.message(t, ref, "111", "h1")
		require.Equal(t, "FAIL", m.Status)
		require.Equal(t, "failed", m.Error.Code)
	})
}
