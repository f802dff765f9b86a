package messaging_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
)

// receiveMany receives n messages of one contact, in batches.
func (f *fixture) receiveMany(t testing.TB, ref provider.ReferenceID, prefix string, n int, who func(*provider.Message)) {
	t.Helper()
	var evs []provider.Event
	for i := range n {
		evs = append(evs, text(fmt.Sprintf("%s.%d", prefix, i), "", "x", who))
	}
	for part := range slices.Chunk(evs, 200) {
		f.receive(t, ref, part...)
	}
}

// both is a message of the contact of two chats.
var both = from("111", "u.1")

// TestMergesAreBounded merges a chat with ten times as much: the transactions
// become more, and no larger.
func TestMergesAreBounded(t *testing.T) {
	t.Parallel()
	for _, n := range []int{600, 6000} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
				f := setup(t, db, config{idle: true})
				ref := f.reference(t, testKind)
				f.receiveMany(t, ref, "old", n, from("", "u.1"))
				f.receive(t, ref, text("phone", "", "x", from("111", "")))
				commits := testkit.ObserveCommits(t, db)
				f.receive(t, ref, text("both", "", "x", both))
				require.NoError(t, f.svc.FinishMerges(t.Context()))
				commits.RequireBounded(t, int64(n), 550+searchRows(db, 500))

				require.Equal(t, 1, count(t, db, `SELECT count(*) FROM messaging_chat`))
				require.Zero(t, count(t, db, `SELECT count(*) FROM messaging_merge`))
				c := f.chat(t, ref, "u.1")
				require.Equal(t, "111", c.ID)
				require.EqualValues(t, n+2, c.Unread)
				require.Equal(t, "both", c.LastMessage.ID)
				require.Equal(t, n+2, count(t, db, `SELECT count(*) FROM messaging_message m JOIN messaging_chat c ON c.id = m.chat`))
			})
		})
	}
}

// TestMergeGoesOnMeanwhile looks at two chats between the steps of their merge.
func TestMergeGoesOnMeanwhile(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{idle: true})
		ref := f.reference(t, testKind)
		f.receiveMany(t, ref, "old", 1200, from("", "u.1"))
		f.receive(t, ref, text("phone", "", "x", from("111", "")))
		f.receive(t, ref, text("both", "", "x", both), text("both.2", "", "x", both))
		require.Equal(t, 1, count(t, db, `SELECT count(*) FROM messaging_merge`))
		check := func(phone, user, read int) {
			t.Helper()
			for id, n := range map[string]int{"111": phone, "u.1": user} {
				c := f.chat(t, ref, id)
				require.Equal(t, id, c.ID)
				require.EqualValues(t, n-read, c.Unread, id)
				require.Equal(t, n, count(t, db, `SELECT count(*) FROM messaging_message m JOIN messaging_chat c ON c.id = m.chat WHERE c.chat_id = $1`, id))
			}
		}
		check(3, 1200, 0)
		require.NoError(t, f.svc.StepMerge(t.Context()))
		check(503, 700, 0)
		require.Equal(t, "both.2", f.chat(t, ref, "111").LastMessage.ID)
		require.Equal(t, "old.1199", f.chat(t, ref, "u.1").LastMessage.ID)
		require.Equal(t, "old.1199", f.messages(t, ref, "u.1")[0].ID)

		// A status of a message that has moved, one of a message that has not, and news under each name.
		f.receive(t, ref, status("old.0", provider.StatusRead), status("old.1000", provider.StatusRead),
			text("later", "", "x", from("", "u.1")), text("both.3", "", "x", both))
		check(504, 701, 1)
		tx := db.MustBegin()
		known, err := f.svc.InboundMessagesTx(t.Context(), tx, []messaging.Event{
			{ID: "e", Account: messaging.OneAccount, Reference: ref, MessageID: "old.600"},
			{ID: "f", Account: messaging.OneAccount, Reference: ref, MessageID: "none"},
			{ID: "g", Account: "stranger", Reference: ref, MessageID: "old.600"},
		})
		require.NoError(t, err)
		require.NoError(t, tx.Rollback())
		require.Equal(t, map[string]messaging.InboundMessage{"e": {Kind: testKind}}, known, "not the first: what was before has moved")

		other := setup(t, db, config{idle: true, clock: f.clock, net: f.net}) // after a crash
		require.NoError(t, other.svc.FinishMerges(t.Context()))
		c := f.chat(t, ref, "u.1")
		require.Equal(t, "111", c.ID)
		require.EqualValues(t, 1203, c.Unread)
		require.Equal(t, "both.3", c.LastMessage.ID)
		page, err := f.acc.Messages(t.Context(), ref, "111", messaging.History{Limit: 5})
		require.NoError(t, err)
		got := []string{}
		for _, m := range page.Items {
			got = append(got, m.ID)
		}
		require.Equal(t, []string{"both.3", "later", "both.2", "both", "phone"}, got)
	})
}

// TestMergeEndsBeforeDeletion deletes and exports a contact of whom two chats are
// still becoming one: both go.
func TestMergeEndsBeforeDeletion(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"111", "u.1"} {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
				f := setup(t, db, config{idle: true})
				ref := f.reference(t, testKind)
				f.receiveMany(t, ref, "old", 600, from("", "u.1"))
				f.receive(t, ref, text("phone", "", "x", from("111", "")), text("both", "", "x", both))
				require.Equal(t, 2, count(t, db, `SELECT count(*) FROM messaging_chat`))
				require.NoError(t, f.acc.DeleteChat(t.Context(), ref, id))
				for _, table := range []string{"chat", "message", "merge", "alias"} {
					require.Zero(t, count(t, db, `SELECT count(*) FROM messaging_`+table), table)
				}
			})
		})
	}
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{idle: true})
		ref := f.reference(t, testKind)
		f.receiveMany(t, ref, "old", 600, from("", "u.1"))
		f.receive(t, ref, text("phone", "", "x", from("111", "")), text("both", "", "x", both))
		e, err := f.acc.Export(t.Context(), ref, "111")
		require.NoError(t, err)
		n := 0
		for _, err := range e.Messages(t.Context()) {
			require.NoError(t, err)
			n++
		}
		require.Equal(t, 602, n)
	})
}

// TestMergesPutOffDoNotCircle names three large chats as one contact in a circle.
func TestMergesPutOffDoNotCircle(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{idle: true})
		ref := f.reference(t, testKind)
		f.receiveMany(t, ref, "a", 600, from("", "u.1"))
		f.receiveMany(t, ref, "b", 600, from("111", ""))
		f.receiveMany(t, ref, "c", 600, from("", "u.2"))
		f.receive(t, ref, text("ab", "", "x", from("111", "u.1")))
		f.receive(t, ref, text("bc", "", "x", from("111", "u.2")))
		moved := func(from, to provider.Address) *provider.ContactChange {
			return &provider.ContactChange{What: provider.ContactMoved, Chat: from, To: to, At: f.clock.Now()}
		}
		f.receive(t, ref, moved(provider.Address{ChatID: "u.1", UserID: "u.1"}, provider.Address{ChatID: "u.2", UserID: "u.2"}))
		require.NoError(t, f.svc.FinishMerges(t.Context()))
		require.Equal(t, 1, count(t, db, `SELECT count(*) FROM messaging_chat`))
		require.Equal(t, 1802, count(t, db, `SELECT count(*) FROM messaging_message m JOIN messaging_chat c ON c.id = m.chat`))
		require.EqualValues(t, 1802, f.chat(t, ref, "u.2").Unread)
	})
}

// TestMergeStepsUnderLoad moves messages while statuses of them arrive.
func TestMergeStepsUnderLoad(t *testing.T) {
	t.Parallel()
	testkit.EachURL(t, func(t *testing.T, url string) {
		f := setup(t, testkit.Open(t, url), config{idle: true})
		ref := f.reference(t, testKind)
		f.receiveMany(t, ref, "old", 1600, from("", "u.1"))
		f.receive(t, ref, text("phone", "", "x", from("111", "")), text("both", "", "x", both))
		var all sync.WaitGroup
		for w := range 4 {
			all.Go(func() {
				for i := w; i < 1600; i += 80 {
					assert.NoError(t, f.svc.Receive(t.Context(), ref, []provider.Event{
						status(fmt.Sprintf("old.%d", i), provider.StatusRead), status(fmt.Sprintf("old.%d", 1599-i), provider.StatusDelivered),
					}))
				}
			})
		}
		for range 2 {
			all.Go(func() { assert.NoError(t, f.svc.FinishMerges(t.Context())) })
		}
		all.Wait()
		require.Equal(t, 1, count(t, f.db, `SELECT count(*) FROM messaging_chat`))
		require.EqualValues(t, 1602-80, f.chat(t, ref, "u.1").Unread)
		require.Equal(t, 80, count(t, f.db, `SELECT count(*) FROM messaging_message WHERE status = $1`, int(provider.StatusRead)))
		require.Zero(t, count(t, f.db, `SELECT count(*) FROM messaging_early_status`))
	})
}
