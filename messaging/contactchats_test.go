package messaging_test

import (
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
)

// TestNames finds the chats of one person on all references, and all their ids.
func TestNames(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{idle: true})
		ref, other := f.reference(t, testKind), f.reference(t, testKind)
		f.receive(t, ref, text("m1", "u.1", "hello", from("", "u.1")), text("m2", "", "again", from("111", "u.1")))
		f.receive(t, other, text("m3", "", "hello", from("111", "")), text("m4", "", "hello", from("222", "")))
		names := func(acc *messaging.Account, ref provider.ReferenceID, id string, everywhere bool) []messaging.ChatName {
			found, err := acc.Contacts().Names(t.Context(), ref, id, everywhere)
			require.NoError(t, err)
			return found
		}
		here := []messaging.ChatName{{Reference: ref, ID: "111"}, {Reference: ref, ID: "u.1"}}
		require.Equal(t, here, names(f.acc, ref, "u.1", false))
		require.Equal(t, append(here, messaging.ChatName{Reference: other, ID: "111"}), names(f.acc, ref, "111", true))
		require.Equal(t, []messaging.ChatName{{Reference: other, ID: "222"}}, names(f.acc, other, "222", true))
		require.Empty(t, names(f.acc, ref, "333", true))
		require.Empty(t, names(f.svc.For("another"), ref, "111", true))
	})
}
