package messaging_test

import (
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

// list returns the ids of the chats on all pages, and how many pages that were. between
// runs before each page but the first.
func (f *fixture) list(t *testing.T, ref provider.ReferenceID, filter messaging.ChatFilter, between func()) (ids []string, pages int) {
	t.Helper()
	ids = []string{}
	for {
		page, err := f.acc.Chats(t.Context(), ref, filter)
		require.NoError(t, err)
		for _, c := range page.Items {
			ids = append(ids, c.ID)
		}
		if pages++; page.Next == "" {
			return ids, pages
		}
		filter.Cursor = page.Next
		between()
	}
}

func TestChats_Filter(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{idle: true})
		ref := f.reference(t, testKind)
		for _, id := range []string{"101", "102", "103", "104", "105"} {
			f.receive(t, ref, text("m"+id, id, "hi"))
			f.clock.Advance(time.Second)
		}
		change := func(id string, c messaging.ChatChange) {
			t.Helper()
			_, err := f.acc.UpdateChat(t.Context(), ref, id, c)
			require.NoError(t, err)
		}
		_, err := f.acc.MarkRead(t.Context(), ref, "104", "")
		require.NoError(t, err)
		strange := []string{`a,`, `"b"`, `<&>`, `c\`, "Größe"}
		change("101", messaging.ChatChange{Tags: []string{"vip", "new"}})
		change("102", messaging.ChatChange{Tags: strange, Ask: &messaging.HandoffAsk{}})
		change("103", messaging.ChatChange{Ask: &messaging.HandoffAsk{}, Handoff: "take"})
		f.clock.Advance(time.Minute)
		late := f.clock.Now()
		f.clock.Advance(time.Second)
		change("101", messaging.ChatChange{Language: ptr("de")})

		type filter = messaging.ChatFilter
		for _, c := range []struct {
			filter
			want []string
		}{
			{filter{}, []string{"105", "104", "103", "102", "101"}},
			{filter{Unread: true}, []string{"105", "103", "102", "101"}},
			{filter{Handoff: messaging.HandoffWaiting}, []string{"102"}},
			{filter{Handoff: messaging.HandoffTaken}, []string{"103"}},
			{filter{Tag: "vip"}, []string{"101"}},
			{filter{Tag: " new "}, []string{"101"}},
			{filter{Tag: "vi"}, []string{}},
			{filter{Tag: "VIP"}, []string{}},
			{filter{Tag: ","}, []string{}},
			{filter{UpdatedAfter: late}, []string{"101"}},
			{filter{Unread: true, Tag: "vip", Search: "10"}, []string{"101"}},
			{filter{Unread: true, Search: "104"}, []string{}},
		} {
			got, _ := f.list(t, ref, c.filter, func() {})
			require.Equal(t, c.want, got, "%+v", c.filter)
		}
		for _, tag := range strange {
			got, _ := f.list(t, ref, filter{Tag: tag}, func() {})
			require.Equal(t, []string{"102"}, got, tag)
		}
		for field, bad := range map[string]filter{"handoff": {Handoff: "closed"}, "tag": {Tag: strings.Repeat("ü", 101)}} {
			_, err := f.acc.Chats(t.Context(), ref, bad)
			requireInvalid(t, err, field)
		}
	})
}

// TestChats_FilterIsBounded pages through more chats than a page looks at, while others
// move to the top: each that stays in its place is listed once.
func TestChats_FilterIsBounded(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{idle: true})
		ref := f.reference(t, testKind)
		const all = 2500
		var events []provider.Event
		for i := range all {
			events = append(events, text(fmt.Sprint("m", i), fmt.Sprint(10_000+i), "hi", func(m *provider.Message) {
				m.At = epoch.Add(time.Duration(i) * time.Second)
			}))
		}
		f.receive(t, ref, events...)
		tagged := []string{"12400", "11200", "10001"}
		for _, id := range tagged {
			_, err := f.acc.UpdateChat(t.Context(), ref, id, messaging.ChatChange{Tags: []string{"vip"}})
			require.NoError(t, err)
		}
		moved := 0
		got, pages := f.list(t, ref, messaging.ChatFilter{Tag: "vip"}, func() {
			for range 5 { // those in the middle of the pages that follow
				id := fmt.Sprint(11_000 + moved)
				f.receive(t, ref, text("again "+id, id, "hi", func(m *provider.Message) { m.At = epoch.Add(time.Hour * 24) }))
				moved++
			}
		})
		require.Equal(t, tagged, got)
		require.Equal(t, 3, pages, "a page looks at 1,000 chats")
		require.Positive(t, moved)
	})
}
