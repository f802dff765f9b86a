package messaging_test

import (
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
)

// TestHistoryIsKept: an old message is stored with its status, and nothing
// follows from it.
func TestHistoryIsKept(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{})
		ref := f.reference(t, testKind)
		old := func(id string, change func(*provider.Message)) provider.Event {
			return text(id, "111", "long ago", func(m *provider.Message) {
				m.Historical = true
				change(m)
			})
		}
		f.receive(t, ref,
			old("h1", func(*provider.Message) {}),
			old("h2", func(m *provider.Message) { m.Mine, m.Status = true, provider.StatusRead }),
		)
		require.Empty(t, f.sink.of(t, "h1", "h2"))
		require.Equal(t, "DELIVERED", f.message(t, ref, "111", "h1").Status)
		require.Equal(t, "READ", f.message(t, ref, "111", "h2").Status)
		c := f.chat(t, ref, "111")
		require.Zero(t, c.Unread)
		require.Nil(t, c.WindowExpiresAt)
		require.Nil(t, c.Handoff)
	})
}

// TestReportsAreKept: what is no message is stored as the network gave it, and
// so is a message of a kind that nobody knows.
func TestReportsAreKept(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{})
		ref := f.reference(t, testKind)
		raw := func(kind string) provider.Raw { return provider.Raw{ID: "1", Kind: kind, Body: []byte(`{"a":1}`)} }
		for range 2 {
			f.receive(t, ref,
				&provider.Call{Raw: raw("call")}, &provider.ContactChange{Raw: raw("system")}, &provider.GroupChange{Raw: raw("group")},
				&provider.TemplateChange{Raw: raw("template_status")}, &provider.Health{Raw: raw("account_update")},
				&provider.HistoryProgress{Raw: raw("history")},
				text("m", "111", "", func(m *provider.Message) { m.Content = provider.Unknown{Kind: "hologram", Body: []byte(`{"a":1}`)} }),
			)
		}
		var kinds []string
		require.NoError(t, db.SelectContext(t.Context(), &kinds, `SELECT kind FROM messaging_raw WHERE body = '{"a":1}' ORDER BY kind`))
		require.Equal(t, []string{"account_update", "call", "group", "history", "message:hologram", "system", "template_status"}, kinds)
		require.Equal(t, &provider.Unknown{Kind: "hologram"}, f.message(t, ref, "111", "m").Unsupported)
	})
}

// TestStatusKeepsTheWindowOpen: where the network allows longer than the kind
// of reference does, its word counts.
func TestStatusKeepsTheWindowOpen(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{})
		ref := f.reference(t, testKind)
		f.receive(t, ref, text("m", "111", "from an advertisement"))
		sent := f.send(t, messaging.SendRequest{Reference: ref, ChatID: "111", Wait: timeout})
		for _, until := range []time.Duration{72 * time.Hour, time.Hour} { // what is less takes nothing away
			e := status(sent.ID, provider.StatusSending)
			e.WindowUntil = epoch.Add(until)
			f.receive(t, ref, e)
			require.Equal(t, epoch.Add(72*time.Hour), f.chat(t, ref, "111").WindowExpiresAt.Time)
		}
	})
}
