package messaging_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/sandbox"
)

// TestScreen edits, deletes and reacts from both sides.
func TestScreen(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{})
		ref := f.reference(t, sandbox.Kind)
		ana := sandbox.Phone{Inbox: f.svc, Reference: ref, Name: "ana"}
		write := func(c provider.Content) string {
			id, err := ana.Write(t.Context(), c)
			require.NoError(t, err)
			return id
		}
		say := func(c provider.Content) string {
			m := f.send(t, messaging.SendRequest{Reference: ref, ChatID: "ana", Content: c, Wait: timeout})
			require.Equal(t, "DELIVERED", m.Status)
			return m.ID
		}
		screen := func() map[string]messaging.ScreenItem {
			p, err := f.acc.Screen().List(t.Context(), ref, "ana", messaging.List{})
			require.NoError(t, err)
			out := map[string]messaging.ScreenItem{}
			for _, item := range p.Items {
				out[item.ID] = item
				one, err := f.acc.Screen().Get(t.Context(), ref, "ana", item.ID)
				require.NoError(t, err)
				require.Equal(t, item, one)
			}
			return out
		}
		textOf := func(item messaging.ScreenItem) string {
			var v struct{ Text, Caption string }
			require.NoError(t, json.Unmarshal(item.Content, &v))
			return v.Text + v.Caption
		}
		theirs, gone := write(provider.Text{Text: `a "edited":{"messageId": in a text`}), write(provider.Text{Text: "oops"})
		ours, doomed := say(provider.Text{Text: "Helo"}), say(provider.Buttons{Text: "Tea?", Buttons: []provider.Choice{{ID: "y", Title: "Yes"}}})
		require.Len(t, screen(), 4, "words alone change nothing")

		fixed := say(provider.Edit{MessageID: ours, Text: "Hello"})
		say(provider.Revoke{MessageID: doomed})
		say(provider.Reaction{MessageID: theirs, Emoji: "👍"})
		say(provider.Reaction{MessageID: theirs, Emoji: "🎉"})
		write(provider.Reaction{MessageID: theirs, Emoji: "❤"})
		write(provider.Reaction{MessageID: ours, Emoji: "🙏"})
		write(provider.Reaction{MessageID: ours, Emoji: ""})
		write(provider.Edit{MessageID: theirs, Text: "better"})
		write(provider.Revoke{MessageID: gone})
		write(provider.Edit{MessageID: gone, Text: "too late"})
		write(provider.Edit{MessageID: ours, Text: "not hers"})

		now := screen()
		require.Len(t, now, 4)
		require.Equal(t, "Hello", textOf(now[ours]))
		require.True(t, now[ours].Edited)
		require.Empty(t, now[ours].Reactions, "taken away")
		require.True(t, now[doomed].Deleted)
		require.JSONEq(t, `{"type":"text","text":"This message was deleted"}`, string(now[doomed].Content), "the buttons are gone")
		require.Equal(t, "better", textOf(now[theirs]))
		require.Equal(t, []messaging.ScreenReaction{{Emoji: "🎉", Mine: true}, {Emoji: "❤"}}, now[theirs].Reactions, "one of each")
		require.True(t, now[gone].Deleted)
		require.False(t, now[gone].Edited)
		_, err := f.acc.Screen().Get(t.Context(), ref, "ana", fixed)
		require.ErrorIs(t, err, messaging.ErrNotFound, "an edit has no place of its own")

		// The records tell what happened.
		all := f.messages(t, ref, "ana")
		require.Len(t, all, 15)
		require.Equal(t, gone, all[2].Revoked.MessageID)
		require.Equal(t, theirs, all[3].Edited.MessageID)
		require.Equal(t, "better", all[3].Text)
	})
}

// TestUnreadIsRead: a contact reads what it has received before it writes, in one
// transaction.
func TestUnreadIsRead(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{})
		ref := f.reference(t, sandbox.Kind)
		_, err := f.acc.Screen().Unread(t.Context(), ref, "ana")
		require.ErrorIs(t, err, messaging.ErrNotFound)
		ana := sandbox.Phone{Inbox: f.svc, Reference: ref, Name: "ana", PushName: "Ana"}
		theirs, err := ana.Write(t.Context(), provider.Text{Text: "Hello"})
		require.NoError(t, err)
		var said []string
		for _, c := range []provider.Content{provider.Text{Text: "one"}, provider.Text{Text: "two"}, provider.Reaction{MessageID: theirs, Emoji: "👍"}} {
			m := f.send(t, messaging.SendRequest{Reference: ref, ChatID: "ana", Content: c, Wait: timeout})
			require.Equal(t, "DELIVERED", m.Status)
			said = append(said, m.ID)
		}
		unread, err := f.acc.Screen().Unread(t.Context(), ref, "ana")
		require.NoError(t, err)
		require.Equal(t, messaging.Unread{Name: "Ana", IDs: []string{said[1], said[0]}}, unread, "a reaction is read with its message")

		before := len(f.sink.all(t))
		ana.Reads = unread.IDs
		_, err = ana.Write(t.Context(), provider.Text{Text: "Thanks"})
		require.NoError(t, err)
		var happened []string
		for _, ev := range f.sink.all(t)[before:] {
			happened = append(happened, string(ev.Type)+" "+ev.MessageID)
		}
		require.Len(t, happened, 3)
		require.Equal(t, []string{"status " + said[1], "status " + said[0]}, happened[:2], "read first, then written")
		unread, err = f.acc.Screen().Unread(t.Context(), ref, "ana")
		require.NoError(t, err)
		require.Empty(t, unread.IDs)
	})
}

func TestTypingIsShown(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{})
		ref := f.reference(t, sandbox.Kind)
		_, err := sandbox.Phone{Inbox: f.svc, Reference: ref, Name: "ana"}.Write(t.Context(), provider.Text{Text: "hi"})
		require.NoError(t, err)
		typing := func() []messaging.Typing {
			out, err := f.acc.Screen().Typing(t.Context(), ref)
			require.NoError(t, err)
			return out
		}
		show := func() {
			require.NoError(t, f.acc.ShowTyping(t.Context(), ref, "ana"))
			require.Equal(t, []messaging.Typing{{ChatID: "ana@sandbox", Since: messaging.UnixTime{Time: f.clock.Now()}}}, typing())
		}
		require.Empty(t, typing())
		show()
		f.clock.Advance(25 * time.Second)
		require.Empty(t, typing(), "it ends by itself")
		show()
		f.send(t, messaging.SendRequest{Reference: ref, ChatID: "ana", Wait: timeout})
		require.Empty(t, typing(), "the message has come")
		show()
		require.NoError(t, f.acc.References().Delete(t.Context(), ref))
		require.Zero(t, count(t, db, `SELECT count(*) FROM messaging_typing`))
	})
}
