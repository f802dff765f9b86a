package messaging_test

import (
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider/cloud"
)

func TestStats(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f, _, ref := deadSetup(t, db)
		deleted := f.reference(t, testKind)
		_, err := f.acc.References().Hide(t.Context(), deleted, nil)
		require.NoError(t, err)
		st, err := f.svc.Stats(t.Context())
		require.NoError(t, err)
		require.Equal(t, messaging.Stats{Sessions: []messaging.SessionCount{{Kind: cloud.Kind, State: messaging.StateStarting, N: 1}}}, st)
		require.NoError(t, f.post(t, ownerSecret, callback(change("1001", button("b1", "Yes")))))
		require.Len(t, f.letters(t, ref), 1)
		st, err = f.svc.Stats(t.Context())
		require.NoError(t, err)
		require.Equal(t, messaging.Stats{
			Sessions: []messaging.SessionCount{{Kind: cloud.Kind, State: messaging.StateConnected, N: 1}}, DeadLetters: 1,
		}, st)
	})
}
