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

// badCursors are none of any list.
var badCursors = []string{"x", "!", "MA.MA", "MC4wLjAuMA", "=", "\x00", strings.Repeat("a", 500), "LS0", "w7w"}

func TestCursorsAreChecked(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{idle: true})
		ref := f.openChat(t, testKind)
		ctx := t.Context()
		for _, bad := range badCursors {
			_, err := f.acc.References().List(ctx, "", messaging.List{Cursor: bad})
			requireInvalid(t, err, "cursor")
			_, err = f.acc.Chats(ctx, ref, messaging.ChatFilter{List: messaging.List{Cursor: bad}})
			requireInvalid(t, err, "cursor")
			_, err = f.acc.Screen().List(ctx, ref, "", messaging.List{Cursor: bad})
			requireInvalid(t, err, "cursor")
			_, err = f.acc.Messages(ctx, ref, "111", messaging.History{Before: bad})
			requireInvalid(t, err, "before")
			_, err = f.acc.Messages(ctx, ref, "111", messaging.History{After: bad})
			requireInvalid(t, err, "after")
		}
		for _, limit := range []int{-1, -201} {
			_, err := f.acc.Chats(ctx, ref, messaging.ChatFilter{List: messaging.List{Limit: limit}})
			requireInvalid(t, err, "limit")
			_, err = f.acc.Messages(ctx, ref, "111", messaging.History{Limit: limit})
			requireInvalid(t, err, "limit")
		}
		page, err := f.acc.Messages(ctx, ref, "111", messaging.History{})
		require.NoError(t, err)
		require.Empty(t, page.Next)
		_, err = f.acc.Messages(ctx, ref, "111", messaging.History{Before: "MC4w", After: "MC4w"})
		requireInvalid(t, err, "after")
		_, err = f.acc.Messages(ctx, ref, "nobody", messaging.History{})
		requireInvalid(t, err, "chatId")
		_, err = f.acc.Messages(ctx, ref, "999", messaging.History{})
		require.ErrorIs(t, err, messaging.ErrNotFound)
	})
}

// TestPagesWhileMessagesCome pages both ways through a chat that grows.
func TestPagesWhileMessagesCome(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{idle: true})
		ref := f.reference(t, testKind)
		n := 0
		receiveNext := func() {
			f.receive(t, ref, text(fmt.Sprintf("m%02d", n), "111", "x"), text(fmt.Sprintf("o%02d", n), "222", "x"))
			n++
		}
		for range 10 {
			receiveNext()
		}
		var back []string
		h := messaging.History{Limit: 3}
		for {
			page, err := f.acc.Messages(t.Context(), ref, "111", h)
			require.NoError(t, err)
			for _, m := range page.Items {
				back = append(back, m.ID)
			}
			receiveNext()
			if page.Next == "" {
				break
			}
			h.Before = page.Next
		}
		require.Equal(t, []string{"m09", "m08", "m07", "m06", "m05", "m04", "m03", "m02", "m01", "m00"}, back)

		oldest, err := f.acc.Messages(t.Context(), ref, "111", messaging.History{Limit: 1, Before: h.Before})
		require.NoError(t, err)
		require.Equal(t, "m00", oldest.Items[0].ID)
		var forth []string
		h = messaging.History{Limit: 4, After: h.Before} // after m01
		for {
			page, err := f.acc.Messages(t.Context(), ref, "111", h)
			require.NoError(t, err)
			for i := len(page.Items) - 1; i >= 0; i-- { // every page shows the newest first
				forth = append(forth, page.Items[i].ID)
			}
			if page.Next == "" {
				break
			}
			h.After = page.Next
		}
		require.Len(t, forth, n-2)
		for i, id := range forth {
			require.Equal(t, fmt.Sprintf("m%02d", i+2), id)
		}
	})
}

// TestPagesAroundAMessage shows what surrounds a message that is known by its id.
func TestPagesAroundAMessage(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{idle: true})
		ref := f.reference(t, testKind)
		for n := range 7 {
			f.receive(t, ref, text(fmt.Sprintf("m%d", n), "111", "x"), text(fmt.Sprintf("o%d", n), "222", "x"))
		}
		list := func(h messaging.History) []string {
			h.Limit = 2
			page, err := f.acc.Messages(t.Context(), ref, "111", h)
			require.NoError(t, err)
			var ids []string
			for _, m := range page.Items {
				ids = append(ids, m.ID)
			}
			return ids
		}
		require.Equal(t, []string{"m2", "m1"}, list(messaging.History{Before: "m3"}))
		require.Equal(t, []string{"m2", "m1"}, list(messaging.History{Cursor: "m3"}))
		require.Equal(t, []string{"m5", "m4"}, list(messaging.History{After: "m3"}))
		require.Empty(t, list(messaging.History{After: "m6"}))
		_, err := f.acc.Messages(t.Context(), ref, "111", messaging.History{Before: "o3"})
		requireInvalid(t, err, "before")
	})
}

func TestChatsAreListedAndSearched(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{idle: true})
		ref := f.reference(t, testKind)
		var evs []provider.Event
		for i := range 7 { // two and two at the same moment
			evs = append(evs, text(fmt.Sprint("m", i), fmt.Sprint(100+i), "x", func(m *provider.Message) {
				m.At = epoch.Add(time.Duration(i/2) * time.Second)
				m.From.Name = []string{"Ana_Lima", "Bob 100%", "ana b\\c"}[i%3]
			}))
		}
		f.receive(t, ref, evs...)
		list := func(search string) (got []string) {
			l := messaging.List{Limit: 2}
			for {
				page, err := f.acc.Chats(t.Context(), ref, messaging.ChatFilter{Search: search, List: l})
				require.NoError(t, err)
				for _, c := range page.Items {
					got = append(got, c.ID)
					require.NotNil(t, c.LastMessage)
				}
				if page.Next == "" {
					return got
				}
				l.Cursor = page.Next
			}
		}
		require.Equal(t, []string{"106", "105", "104", "103", "102", "101", "100"}, list(""))
		require.Equal(t, []string{"106", "105", "103", "102", "100"}, list(" ANA "))
		require.Equal(t, []string{"106", "103", "100"}, list("a_l"))
		require.Equal(t, []string{"104", "101"}, list("0%"))
		require.Equal(t, []string{"105", "102"}, list(`b\c`))
		require.Equal(t, []string{"104"}, list("104"))
		require.Empty(t, list("\x00nobody"))
	})
}

func TestUpdateChat(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{idle: true})
		ref := f.reference(t, testKind)
		update := func(ch messaging.ChatChange) (messaging.Chat, error) {
			return f.acc.UpdateChat(t.Context(), ref, "+1 11", ch)
		}
		object := func(s string) (out map[string]json.RawMessage) {
			require.NoError(t, json.Unmarshal([]byte(s), &out))
			return out
		}
		c, err := update(messaging.ChatChange{
			BotActive: ptr(false), Variables: object(`{"a":1,"b":{"c":[1.50]}}`), Fields: object(`{"city":"Recife"}`),
			Tags: []string{" vip ", "vip", "new"}, Language: ptr("pt-BR"), OptedOut: ptr(true), Handoff: "take",
		})
		require.NoError(t, err)
		require.Equal(t, "111", c.ID)
		require.Zero(t, c.BotActive)
		require.Equal(t, []string{"vip", "new"}, c.Tags)
		require.Equal(t, "pt-BR", *c.Language)
		require.Equal(t, epoch, c.Handoff.Since.Time)
		require.JSONEq(t, `{"c":[1.50]}`, string(c.Variables["b"]))
		f.clock.Advance(time.Minute)
		c, err = update(messaging.ChatChange{Variables: object(`{"a":null,"d":"x"}`), Tags: []string{}})
		require.NoError(t, err)
		require.Equal(t, object(`{"b":{"c":[1.50]},"d":"x"}`), c.Variables)
		require.Equal(t, object(`{"city":"Recife"}`), c.Fields)
		require.Empty(t, c.Tags)
		require.Zero(t, c.BotActive, "what is not named stays")

		for field, ch := range map[string]messaging.ChatChange{
			"name":      {Name: ptr(strings.Repeat("x", 201))},
			"language":  {Language: ptr(strings.Repeat("x", 36))},
			"handoff":   {Handoff: "give"},
			"tags":      {Tags: make([]string, 101)},
			"tags[1]":   {Tags: []string{"x", " "}},
			"variables": {Variables: object(`{"x":"` + strings.Repeat("x", 64<<10) + `"}`)},
			"fields":    {Fields: object(`{"x":"` + strings.Repeat("x", 64<<10) + `"}`)},
		} {
			_, err = update(ch)
			requireInvalid(t, err, field)
		}
		_, err = f.acc.UpdateChat(t.Context(), ref, "nobody", messaging.ChatChange{})
		requireInvalid(t, err, "chatId")
		require.Equal(t, c, f.chat(t, ref, "111"))
		page, err := f.acc.Chats(t.Context(), ref, messaging.ChatFilter{})
		require.NoError(t, err)
		require.Len(t, page.Items, 1)
	})
}
