package aiflow_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow"
)

func TestPublisher(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		project := f.project(t, "P")
		made := f.flow(t, project, plain("one"))
		by := func(version int64) aiflow.Publisher {
			p, err := f.Versions().Publisher(t.Context(), made.ID, version)
			require.NoError(t, err)
			return p
		}
		ana, bob := aiflow.Publisher{User: "ana"}, aiflow.Publisher{User: "bob", Permissions: []string{}}
		_, err := f.Versions().Publish(t.Context(), made.ID, ana)
		require.NoError(t, err)
		require.Equal(t, ana, by(1))

		// Whoever publishes what is published already answers for it.
		again, err := f.Versions().Publish(t.Context(), made.ID, bob)
		require.NoError(t, err)
		require.Equal(t, int64(1), again.Published.Version)
		require.Equal(t, bob, by(1))

		_, err = f.Flows().Update(t.Context(), made.ID, aiflow.FlowChange{Draft: []byte(plain("two"))})
		require.NoError(t, err)
		_, err = f.Versions().Publish(t.Context(), made.ID, bob)
		require.NoError(t, err)
		require.Equal(t, bob, by(2))
		_, err = f.Versions().Rollback(t.Context(), made.ID, 1, ana)
		require.NoError(t, err)
		require.Equal(t, ana, by(1))
		require.Equal(t, bob, by(2))

		for _, version := range []int64{0, 3} {
			_, err = f.Versions().Publisher(t.Context(), made.ID, version)
			require.ErrorIs(t, err, aiflow.ErrNotFound)
		}
		_, err = f.For("stranger").Versions().Publisher(t.Context(), made.ID, 1)
		require.ErrorIs(t, err, aiflow.ErrNotFound)
		_, err = f.Versions().Publisher(t.Context(), "none", 1)
		require.ErrorIs(t, err, aiflow.ErrNotFound)
	})
}
