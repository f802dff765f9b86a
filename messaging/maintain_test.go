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

func TestRetention(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{options: func(o *messaging.Options) { o.Retention = 30 * 24 * time.Hour }})
		ref := f.openChat(t, testKind)
		old := f.send(t, say(ref, "old"))
		var evs []provider.Event
		for i := range 600 { // more than one step
			evs = append(evs, text(fmt.Sprint("m", i), "111", "x"))
		}
		f.receive(t, ref, append(evs, &provider.Raw{ID: "r", Kind: "image"}, text("", "111", "dead"), status("early", provider.StatusRead))...)
		f.clock.Advance(20 * 24 * time.Hour)
		require.NoError(t, f.svc.Prune(t.Context()))
		require.Zero(t, count(t, db, `SELECT count(*) FROM messaging_early_status`), "its message never came")
		require.Equal(t, 602, count(t, db, `SELECT count(*) FROM messaging_message`))
		f.receive(t, ref, text("young", "111", "x", func(m *provider.Message) { m.At = f.clock.Now() }))

		f.clock.Advance(11 * 24 * time.Hour)
		commits := testkit.ObserveCommits(t, db)
		require.NoError(t, f.svc.Prune(t.Context()))
		commits.RequireBounded(t, 602, 510+searchRows(db, 500)) // with their chat
		got := f.messages(t, ref, "111")
		require.Len(t, got, 1)
		require.Equal(t, "young", got[0].ID)
		for _, table := range []string{"messaging_outbound", "messaging_raw", "messaging_dead_letter", "messaging_change"} {
			require.Zero(t, count(t, db, `SELECT count(*) FROM `+table), table)
		}
		require.Equal(t, "young", f.chat(t, ref, "111").LastMessage.ID)

		// What comes late for a message that is gone harms nothing.
		f.receive(t, ref, status(old.ID, provider.StatusRead), &provider.StatusChange{OwnID: old.ID, Status: provider.StatusRead})
		f.clock.Advance(31 * 24 * time.Hour)
		require.NoError(t, f.svc.Prune(t.Context()))
		require.Nil(t, f.chat(t, ref, "111").LastMessage)
		left, err := f.acc.MarkRead(t.Context(), ref, "111", "")
		require.NoError(t, err)
		require.Zero(t, left)
	})
}

func TestMessagesAreKeptForEver(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{idle: true})
		ref := f.openChat(t, testKind)
		f.clock.Advance(10 * 365 * 24 * time.Hour)
		require.NoError(t, f.svc.Prune(t.Context()))
		require.Len(t, f.messages(t, ref, "111"), 1)
	})
}
