package webhook_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/audit"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/webhook"
	"github.com/trunklinehq/trunkline/webhook/internal/delivery"
)

// recorder keeps what is recorded.
type recorder struct {
	mu    sync.Mutex
	lines []string
}

func (r *recorder) RecordTx(_ context.Context, _ database.Executor, x audit.Record) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	details, err := json.Marshal(x.Details)
	r.lines = append(r.lines, fmt.Sprintf("%s by %s: %s", x.Action, x.Kind, details))
	return err
}

// take returns what was recorded since it was called last.
func (r *recorder) take() (lines []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	lines, r.lines = r.lines, nil
	return lines
}

// TestAudit records each change of an endpoint, and the one that an answer causes. No
// observer is needed for that.
func TestAudit(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		rec := receive(t, func(_ int, _ request, w http.ResponseWriter) { w.WriteHeader(http.StatusGone) })
		f := setup(t, db, webhook.Options{Observer: &webhook.Observer{}})
		r := &recorder{}
		bare := audit.With(t.Context(), r, audit.Origin{})
		ctx := audit.As(bare, audit.Actor{Account: account, Kind: audit.Login})
		ep, created, err := f.Put(ctx, webhook.Settings{Scope: scope, URL: rec.URL})
		require.NoError(t, err)
		require.True(t, created)
		require.Equal(t, []string{"webhook.create by login: null"}, r.take())
		_, created, err = f.Put(ctx, webhook.Settings{Scope: scope, URL: rec.URL, Include: []string{"extracted"}})
		require.NoError(t, err)
		require.False(t, created)
		require.Equal(t, []string{`webhook.update by login: {"changed":["include","enabled"]}`}, r.take())
		_, err = f.Update(ctx, ep.ID, webhook.Change{Events: []string{"message"}, Include: []string{}, Headers: []webhook.Header{{Key: "X-A", Value: "1"}}})
		require.NoError(t, err)
		require.Equal(t, []string{`webhook.update by login: {"changed":["headers","events","include"]}`}, r.take())

		n, err := f.Replay(ctx, webhook.Replay{Endpoint: ep.ID})
		require.NoError(t, err)
		require.Zero(t, n)
		require.Empty(t, r.take(), "nothing was sent again")

		running, stop := context.WithCancel(context.WithoutCancel(bare))
		done := make(chan error, 1)
		go func() { done <- f.Run(running) }()
		f.publish(t, event("a", 1), event("b", 1))
		f.until(t, func() bool { return outcomes(t, f, "failed") == 2 })
		stop()
		require.NoError(t, <-done)
		require.Equal(t, []string{`webhook.update by system: {"changed":["enabled"],"enabled":false}`}, r.take())
		enabled := true
		_, err = f.Update(ctx, ep.ID, webhook.Change{Enabled: &enabled})
		require.NoError(t, err)
		require.Equal(t, []string{`webhook.update by login: {"changed":["enabled"]}`}, r.take())

		listed, err := f.Deliveries(ctx, webhook.DeliveryFilter{Scope: scope, State: webhook.DeliveryFailed})
		require.NoError(t, err)
		_, err = f.Replay(ctx, webhook.Replay{IDs: []string{listed.Items[0].ID}})
		require.NoError(t, err)
		require.Equal(t, []string{`webhook.replay by login: {"deliveries":1}`}, r.take())
		n, err = f.Replay(ctx, webhook.Replay{Endpoint: ep.ID})
		require.NoError(t, err)
		require.Equal(t, 1, n, "the other one")
		require.Equal(t, []string{"webhook.replay by login: null"}, r.take())
		require.NoError(t, f.Delete(ctx, ep.ID))
		require.Equal(t, []string{"webhook.delete by login: null"}, r.take())
	})
}

// TestPolicy has the values that its comments name.
func TestPolicy(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	whole := delivery.Policy{
		Retries: []time.Duration{
			time.Second, 5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute, 30 * time.Minute,
			2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 14 * time.Hour, 20 * time.Hour, day,
		},
		BlockFor: 10 * time.Minute, DownAfter: 5, ProbeFirst: 5 * time.Second, ProbeLast: 5 * time.Minute, GiveUp: 5 * day,
	}
	require.Equal(t, whole, delivery.Policy{}.WithDefaults())
	other := delivery.Policy{Retries: []time.Duration{}, BlockFor: 1, DownAfter: 2, ProbeFirst: 3, ProbeLast: 4, GiveUp: 5}
	require.Equal(t, other, other.WithDefaults())
}

// TestRefusals refuses what cannot be meant.
func TestRefusals(t *testing.T) {
	t.Parallel()
	db := testkit.Open(t, testkit.SQLiteURL(t))
	f := setup(t, db, webhook.Options{})
	one, two := event("a", 1), event("a", 2)
	one.ID, two.ID = "same", "same"
	require.ErrorContains(t, f.db.InTx(t.Context(), func(tx *database.Tx) error {
		return f.PublishTx(t.Context(), tx, one, two)
	}), "two events have the same Event.ID")
	for _, cursor := range []string{"f:0", "f:-1", "f:", "p:", "p:1", "x", "f:1x"} {
		_, err := f.Deliveries(t.Context(), webhook.DeliveryFilter{Scope: scope, Cursor: cursor})
		require.ErrorContains(t, err, "cursor", cursor)
	}
	for field, st := range map[string]webhook.Settings{
		"include": {Events: []string{"message"}, Include: []string{"everything"}},
		"secret":  {Events: []string{"message"}, Include: []string{"extracted"}, Secret: "short"},
		"events":  {Events: []string{"weather"}},
	} {
		st.Scope, st.URL = scope, "http://127.0.0.1/"
		_, _, err := f.Put(t.Context(), st)
		var refused *webhook.Invalid
		require.ErrorAs(t, err, &refused, field)
		require.Contains(t, refused.Field, field)
	}
	st, err := f.Stats(t.Context())
	require.NoError(t, err)
	require.Zero(t, st.OldestPending)

	closed := testkit.Open(t, testkit.SQLiteURL(t))
	require.NoError(t, closed.Close())
	require.Error(t, webhook.Migrate(t.Context(), closed))
	_, err = webhook.New(t.Context(), closed, &webhook.Options{Secrets: []string{sealing}})
	require.Error(t, err)
}
