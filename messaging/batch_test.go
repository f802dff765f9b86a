package messaging_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/sandbox"
)

// TestBatch sends to several chats and changes them in one transaction.
func TestBatch(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		seen, asked := testkit.Counting(t, db)
		f := setup(t, seen, config{idle: true})
		ref := f.reference(t, testKind)
		var chats, keys []string
		for i := range 10 {
			chats = append(chats, fmt.Sprint(100+i))
			f.receive(t, ref, text(fmt.Sprint("m", i), "", "Hello", from(chats[i], "")))
			keys = append(keys, f.sink.all(t)[i].Key)
		}
		// do sends to chats and tags them, and returns the number of statements.
		do := func(chats, keys []string) int {
			tx, err := seen.BeginTxx(t.Context(), nil)
			require.NoError(t, err)
			defer tx.Rollback() //nolint:errcheck // it is over, unless a check failed
			before := asked.Of("messaging_")
			b, err := f.svc.BatchTx(tx)
			require.NoError(t, err)
			require.NoError(t, b.Lock(t.Context(), append([]string{"", "1:999999"}, keys...)...))
			for i, chat := range chats {
				m, err := b.Send(t.Context(), messaging.OneAccount, messaging.SendRequest{Reference: ref, ChatID: chat, Content: say(ref, "Hi").Content})
				require.NoError(t, err)
				require.Equal(t, "PENDING", m.Status)
				_, err = b.UpdateChat(t.Context(), messaging.OneAccount, ref, chat, messaging.ChatChange{Tags: []string{"vip"}})
				require.NoError(t, err)
				_, err = b.UpdateChat(t.Context(), messaging.OneAccount, ref, chat, messaging.ChatChange{Name: ptr("Ana"), Tags: []string{""}})
				require.Error(t, err)
				c, err := b.Chat(messaging.OneAccount, keys[i])
				require.NoError(t, err)
				require.Equal(t, []string{"vip"}, c.Tags)
				require.Empty(t, c.Name, "a change that is refused changes nothing")
				_, err = b.Chat("stranger", keys[i])
				require.ErrorIs(t, err, messaging.ErrNotFound)
				_, err = b.Send(t.Context(), "stranger", messaging.SendRequest{Reference: ref, ChatID: chat, Content: say(ref, "Hi").Content})
				require.ErrorIs(t, err, messaging.ErrNotFound)
			}
			require.NoError(t, b.Flush(t.Context()))
			asked := asked.Of("messaging_") - before
			require.NoError(t, tx.Commit())
			return asked
		}
		one := do(chats[:1], keys[:1])
		many := do(chats[:8], keys[:8])
		require.Equal(t, one, many, "statements for eight chats")
		for _, chat := range chats[:8] {
			c := f.chat(t, ref, chat)
			require.Equal(t, []string{"vip"}, c.Tags)
			require.Equal(t, messaging.ActorAPI, c.LastMessage.Actor)
		}
		require.Len(t, f.messages(t, ref, chats[0]), 3)
		require.Len(t, f.messages(t, ref, chats[9]), 1)
	})
}

// TestBatchAnswersItself answers a message that the same batch sends, in a chat that it
// has not locked.
func TestBatchAnswersItself(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{})
		sent := make(chan string, 2)
		f.net.script(func(_ context.Context, out provider.Outbound, _ int) (provider.Receipt, error) {
			sent <- out.Content.(provider.Text).Text
			return f.net.taken(out), nil
		})
		ref := f.openChat(t, testKind)
		tx, err := db.BeginTxx(t.Context(), nil)
		require.NoError(t, err)
		defer tx.Rollback() //nolint:errcheck // it is over, unless a check failed
		b, err := f.svc.BatchTx(tx)
		require.NoError(t, err)
		first, err := b.Send(t.Context(), messaging.OneAccount, say(ref, "first"))
		require.NoError(t, err)
		second := say(ref, "second")
		second.ReplyTo = first.ID
		_, err = b.Send(t.Context(), messaging.OneAccount, second)
		require.NoError(t, err)
		c, err := b.ChatNamed(t.Context(), messaging.OneAccount, ref, "111")
		require.NoError(t, err)
		require.Equal(t, "111", c.ID)
		_, err = b.ChatNamed(t.Context(), messaging.OneAccount, ref, "999")
		require.ErrorIs(t, err, messaging.ErrNotFound)
		require.NoError(t, b.Flush(t.Context()))
		require.NoError(t, tx.Commit())
		require.Equal(t, "first", <-sent)
		require.Equal(t, "second", <-sent)
		var quoted *messaging.Message
		for _, m := range f.messages(t, ref, "111") {
			if m.Context != nil {
				quoted = &m
			}
		}
		require.NotNil(t, quoted)
		require.Equal(t, first.ID, quoted.Context.MessageID)
	})
}

// TestBatchOfNewContacts sends to contacts of whom some are new.
func TestBatchOfNewContacts(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{})
		box := f.reference(t, sandbox.Kind)
		known := sandbox.Phone{Inbox: f.svc, Reference: box, Name: "known"}
		_, err := known.Write(t.Context(), provider.Text{Text: "Hello"})
		require.NoError(t, err)
		tx, err := db.BeginTxx(t.Context(), nil)
		require.NoError(t, err)
		defer tx.Rollback() //nolint:errcheck // it is over, unless a check failed
		b, err := f.svc.BatchTx(tx)
		require.NoError(t, err)
		for i, name := range []string{"ana", "known", "bob", "ana"} {
			_, err := b.Send(t.Context(), messaging.OneAccount, messaging.SendRequest{
				Reference: box, ChatID: name + "@sandbox", Content: provider.Text{Text: fmt.Sprint(i)},
			})
			require.NoError(t, err)
		}
		require.NoError(t, b.Flush(t.Context()))
		require.NoError(t, tx.Commit())
		for chat, want := range map[string][]string{"ana": {"3", "0"}, "known": {"1", "Hello"}, "bob": {"2"}} {
			var got []string
			for _, m := range f.messages(t, box, chat+"@sandbox") {
				got = append(got, m.Text)
			}
			require.Equal(t, want, got, "the newest first")
		}
	})
}
