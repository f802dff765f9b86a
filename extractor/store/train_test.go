package store_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/extractor/store"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

// TestIntentsAreLearned checks training in the background, and that the previous
// model is used until it ends.
func TestIntentsAreLearned(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		learned, goOn := make(chan struct{}), make(chan struct{})
		a := start(t, db, store.Options{BeforeTrained: func() { learned <- struct{}{}; <-goOn }}).For("a")
		e := made(t, a, store.Intent, intents(""))
		<-learned
		require.Equal(t, store.Training, e.Training)
		_, err := a.Try(t.Context(), e.ID, said("where is my package"))
		require.ErrorIs(t, err, store.ErrUntrained)
		require.Equal(t, "{}", valuesOf(t, a, said("where is my package")))
		goOn <- struct{}{}
		trained(t, db, a, e.ID)
		require.JSONEq(t, `{"intent":"delivery"}`, valuesOf(t, a, said("where is my package")))

		changed, err := a.Update(t.Context(), e.ID, store.Change{Config: json.RawMessage(strings.ReplaceAll(intents(""), "delivery", "shipping"))})
		require.NoError(t, err)
		require.Equal(t, store.Training, changed.Training)
		<-learned
		require.JSONEq(t, `{"intent":"delivery"}`, valuesOf(t, a, said("where is my package")))
		goOn <- struct{}{}
		trained(t, db, a, e.ID)
		require.JSONEq(t, `{"intent":"shipping"}`, valuesOf(t, a, said("where is my package")))

		again, err := a.Update(t.Context(), e.ID, store.Change{Name: new("only the name")})
		require.NoError(t, err)
		require.Equal(t, store.Ready, again.Training)
	})
}

// TestTrainersDie checks that another node continues the training of a dead one,
// and that the dead one stores nothing when it resumes.
func TestTrainersDie(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		var ahead atomic.Int64
		now := func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
		ctx, kill := context.WithCancel(context.Background())
		died := make(chan struct{})
		first := idle(t, db, store.Options{Now: now, BeforeTrained: func() { kill(); close(died) }})
		e := made(t, first.For("a"), store.Intent, intents(""))
		require.NoError(t, first.Run(ctx))
		<-died
		e, err := first.For("a").Extractor(t.Context(), e.ID)
		require.NoError(t, err)
		require.Equal(t, store.Training, e.Training)

		second := start(t, db, store.Options{Now: now}).For("a")
		ahead.Store(int64(11 * time.Second))
		trained(t, db, second, e.ID)
		require.JSONEq(t, `{"intent":"delivery"}`, valuesOf(t, second, said("where is my package")))
	})
}
