package messaging_test

import (
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/messaging"
)

// TestIDs finds what a chat and a message were called before.
func TestIDs(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{})
		ref := f.reference(t, testKind)
		acc, other := f.svc.For(messaging.OneAccount), f.svc.For("other")
		f.receive(t, ref, text("m1", "", "hello", from("", "u.1")), text("m2", "", "again", from("111", "u.1")))
		for _, id := range []string{"u.1", "111", " 111"} {
			ids, err := acc.ChatIDs(t.Context(), ref, id)
			require.NoError(t, err)
			require.ElementsMatch(t, []string{"u.1", "111"}, ids, id)
		}
		ids, err := acc.ChatIDs(t.Context(), ref, "222")
		require.NoError(t, err)
		require.Equal(t, []string{"222"}, ids, "a chat that does not exist")
		_, err = other.ChatIDs(t.Context(), ref, "111")
		require.ErrorIs(t, err, messaging.ErrNotFound)

		sent := f.send(t, messaging.SendRequest{Reference: ref, ChatID: "111", Wait: timeout})
		var own string
		require.NoError(t, db.Get(&own, `SELECT own_id FROM messaging_outbound`))
		for _, id := range []string{own, sent.ID} {
			ids, err := acc.MessageIDs(t.Context(), ref, id)
			require.NoError(t, err)
			require.Subset(t, ids, []string{own, sent.ID}, id)
		}
		ids, err = acc.MessageIDs(t.Context(), ref, "m1")
		require.NoError(t, err)
		require.Equal(t, []string{"m1"}, ids)
		_, err = other.MessageIDs(t.Context(), ref, "m1")
		require.ErrorIs(t, err, messaging.ErrNotFound)
	})
}
