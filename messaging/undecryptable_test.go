package messaging_test

import (
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/provider"
)

// TestUndecryptable replaces what could not be read by what it says, under the
// same id, once.
func TestUndecryptable(t *testing.T) {
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{})
		ref := f.reference(t, testKind)
		hidden := text("m1", "1", "", func(m *provider.Message) { m.Content = provider.Unknown{Kind: provider.Undecryptable} })
		f.receive(t, ref, hidden)
		require.Equal(t, []string{"message:DELIVERED"}, f.sink.of(t, "m1"))
		f.receive(t, ref, hidden, text("m2", "1", "later"))
		require.Equal(t, []string{"message:DELIVERED"}, f.sink.of(t, "m1"))
		f.receive(t, ref, text("m1", "1", "now it can be read"))
		f.receive(t, ref, text("m1", "1", "again"))
		require.Equal(t, []string{"message:DELIVERED", "message:DELIVERED"}, f.sink.of(t, "m1"))
		m := f.message(t, ref, "1", "m1")
		require.Equal(t, "now it can be read", m.Text)
		require.Nil(t, m.Unsupported)
		require.Len(t, f.messages(t, ref, "1"), 2)
		require.EqualValues(t, 2, f.chat(t, ref, "1").Unread)
	})
}
