package messaging_test

import (
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
)

// TestResolve finds a person by every name that she has or had.
func TestResolve(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{idle: true})
		ref, other := f.reference(t, testKind), f.reference(t, testKind)
		resolve := func(id string) messaging.Identity {
			who, err := f.acc.Contacts().Resolve(t.Context(), ref, id)
			require.NoError(t, err, id)
			return who
		}
		f.receive(t, ref, text("m1", "u.1", "hello", from("", "u.1")))
		require.Equal(t, messaging.Identity{ChatID: "u.1", UserID: ptr("u.1")}, resolve("u.1"))
		m := text("m2", "", "again", from("111", "u.1"))
		m.From.Username, m.Chat.LID = "ana.lima", "9@lid"
		f.receive(t, ref, m, &provider.ContactChange{
			Raw: provider.Raw{ID: "r1", Kind: "moved"}, What: provider.ContactMoved, At: epoch,
			Chat: provider.Address{ChatID: "111", Phone: "111"}, To: provider.Address{ChatID: "222", Phone: "222"},
		})
		ana := messaging.Identity{ChatID: "222", Phone: ptr("222"), LID: ptr("9@lid"), UserID: ptr("u.1"), Username: ptr("ana.lima")}
		for _, id := range []string{"222", "+2 22", "111", "u.1", "ana.lima", "@ana.lima", "@Ana.Lima"} {
			require.Equal(t, ana, resolve(id), id)
		}
		for _, id := range []string{"333", "u.2"} {
			_, err := f.acc.Contacts().Resolve(t.Context(), ref, id)
			require.ErrorIs(t, err, messaging.ErrNotFound, id)
		}
		var bad *messaging.Invalid
		for _, id := range []string{"", "@ben", "nonsense"} {
			_, err := f.acc.Contacts().Resolve(t.Context(), ref, id)
			require.ErrorAs(t, err, &bad, id)
			require.Equal(t, "id", bad.Field)
		}
		_, err := f.acc.Contacts().Resolve(t.Context(), other, "222")
		require.ErrorIs(t, err, messaging.ErrNotFound, "of another reference")
		_, err = f.svc.For("another").Contacts().Resolve(t.Context(), ref, "222")
		require.ErrorIs(t, err, messaging.ErrNotFound, "of another account")
	})
}
