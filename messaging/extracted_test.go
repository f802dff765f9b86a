package messaging_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
)

// extracted notes what was found in a message.
func (f *fixture) extracted(t *testing.T, ref provider.ReferenceID, chat, id string, values map[string]json.RawMessage) (m messaging.Message, first bool, err error) {
	t.Helper()
	tx, err := f.db.Beginx()
	require.NoError(t, err)
	defer func() { _ = tx.Rollback() }()
	if m, first, err = f.acc.ExtractedTx(t.Context(), tx, ref, chat, id, values); err == nil {
		require.NoError(t, tx.Commit())
	}
	return m, first, err
}

// TestExtracted: what is found in a message is kept with it and with its chat,
// once, and goes with it.
func TestExtracted(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, config{idle: true})
		ref := f.reference(t, testKind)
		f.receive(t, ref, text("m1", "111", "order 17"), text("m2", "222", "hi"))
		values := map[string]json.RawMessage{"order": json.RawMessage(`17`)}
		m, first, err := f.extracted(t, ref, "111", "m1", values)
		require.NoError(t, err)
		require.True(t, first)
		require.Equal(t, values, m.Extracted)
		require.Equal(t, "order 17", m.Text)
		m, first, err = f.extracted(t, ref, "111", "m1", map[string]json.RawMessage{"order": json.RawMessage(`18`)})
		require.NoError(t, err)
		require.False(t, first)
		require.Equal(t, values, m.Extracted)
		m, err = f.acc.Message(t.Context(), ref, "111", "m1")
		require.NoError(t, err)
		require.Equal(t, values, m.Extracted)
		require.Equal(t, values, f.chat(t, ref, "111").Variables)
		x, err := f.acc.Explain(t.Context(), ref, "111", "m1")
		require.NoError(t, err)
		require.Equal(t, messaging.StepExtracted, x.Steps[len(x.Steps)-1].Step)
		require.NotEmpty(t, f.news(t, "message"))

		_, first, err = f.extracted(t, ref, "222", "m2", nil)
		require.NoError(t, err)
		require.False(t, first, "nothing was found")
		for _, wrong := range []struct{ chat, id string }{{"111", "m2"}, {"222", "m1"}, {"333", "m1"}, {"111", "m\x00"}} {
			_, _, err = f.extracted(t, ref, wrong.chat, wrong.id, values)
			require.ErrorIs(t, err, messaging.ErrNotFound, wrong)
		}
		var bad *messaging.Invalid
		_, _, err = f.extracted(t, ref, "222", "m2", map[string]json.RawMessage{"x": json.RawMessage(`"` + strings.Repeat("x", 33<<10) + `"`)})
		require.ErrorAs(t, err, &bad)

		full := map[string]json.RawMessage{"a": json.RawMessage(`"` + strings.Repeat("x", 63<<10) + `"`)}
		_, err = f.acc.UpdateChat(t.Context(), ref, "222", messaging.ChatChange{Variables: full})
		require.NoError(t, err)
		_, first, err = f.extracted(t, ref, "222", "m2", map[string]json.RawMessage{"b": json.RawMessage(`"` + strings.Repeat("y", 2<<10) + `"`)})
		require.NoError(t, err)
		require.True(t, first, "the message has room, though the chat has not")
		require.Equal(t, full, f.chat(t, ref, "222").Variables)
	})
}
