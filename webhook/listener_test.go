package webhook_test

import (
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/webhook"
)

// TestListeners lists those of all scopes that ask for a type.
func TestListeners(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, webhook.Options{})
		add := func(a *webhook.Account, scope, url string, events ...string) string {
			ep, _, err := a.Put(t.Context(), webhook.Settings{Scope: scope, URL: url, Events: events})
			require.NoError(t, err)
			return ep.ID
		}
		one := add(f.Account, "1", "https://example.org/a", "subscription")
		add(f.Account, "1", "https://example.org/b", "message", "session")
		off := add(f.Account, "2", "https://example.org/c", "subscription")
		two := add(f.Account, "2", "https://example.org/a") // by default
		add(f.For("another"), "1", "https://example.org/a", "subscription")
		_, err := f.Update(t.Context(), off, webhook.Change{Enabled: new(bool)})
		require.NoError(t, err)
		require.NoError(t, f.db.InTx(t.Context(), func(tx *database.Tx) error {
			eps, err := f.ListenersTx(t.Context(), tx, "subscription")
			var got []string
			for _, ep := range eps {
				got = append(got, ep.ID)
				require.Empty(t, ep.Secret)
			}
			require.Equal(t, []string{one, two}, got)
			return err
		}))
	})
}

// TestEventOfOneEndpoint reaches one of several, which does not ask for its
// type, and none when the endpoint is not of the event's scope and account.
func TestEventOfOneEndpoint(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := running(t, db, webhook.Options{})
		a, b := receive(t, nil), receive(t, nil)
		one, _, err := f.Put(t.Context(), webhook.Settings{Scope: scope, URL: a.URL, Events: []string{"message"}})
		require.NoError(t, err)
		f.put(t, b.URL)
		to := func(id, scope string, n int) webhook.Event {
			ev := event("k", n)
			ev.Type, ev.Endpoint, ev.Scope = "session", id, scope
			return ev
		}
		f.publish(t, to(one.ID, "8", 1), to("0191b6a1-0000-7000-8000-000000000000", scope, 2), to(one.ID, scope, 3), event("k", 4))
		got := a.wait(t, 2)
		require.JSONEq(t, `{"key":"k","n":3}`, got[0].body)
		require.Equal(t, "session", got[0].header.Get("X-Trunkline-Event"))
		require.JSONEq(t, `{"key":"k","n":4}`, got[1].body)
		require.JSONEq(t, `{"key":"k","n":4}`, b.wait(t, 1)[0].body)

		both := to(one.ID, scope, 5)
		both.Audience = "extracted"
		for _, ev := range []webhook.Event{both, to("no id", scope, 5)} {
			err := f.db.InTx(t.Context(), func(tx *database.Tx) error { return f.PublishTx(t.Context(), tx, ev) })
			require.ErrorContains(t, err, "Event.Endpoint")
		}
	})
}
