package server_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/server"
)

// TestSubscriptionEvents tells each URL of an account once, in the name of its
// oldest reference, whichever was registered first.
func TestSubscriptionEvents(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := working(t, setupOn(t, db, func(c *server.Config) { c.WebhookAllow = []string{"127.0.0.1"} }))
		in := startIntegrator(t)
		ana, ben := f.as(t, "ana"), f.as(t, "ben")
		first, second, third := ana.sandbox(t), ana.sandbox(t), ana.sandbox(t)
		in.listen(t, ana, second, "/shared", "")
		in.listen(t, ana, third, "/shared", "")
		in.listen(t, ana, first, "/shared", `["message"]`) // does not ask
		in.listen(t, ana, third, "/own", `["subscription"]`)
		in.listen(t, ana, third, "/more", "")
		in.listen(t, ben, ben.sandbox(t), "/shared", "")
		account := ana.call(t, "GET", "/user/me", "").json(200)["accountId"].(string)

		s := schemas(t, f)
		handle, err := database.Of(t.Context(), db)
		require.NoError(t, err)
		publish := func(sub server.Subscription, end error) {
			err := handle.InTx(t.Context(), func(tx *database.Tx) error {
				return errors.Join(f.PublishSubscriptionTx(t.Context(), tx, sub), end)
			})
			require.Equal(t, end != nil, err != nil)
		}
		publish(server.Subscription{Account: account, Plan: "never", Status: "active"}, errors.New("undone"))
		publish(server.Subscription{Account: account, Plan: "pro", Status: "active", CurrentPeriodEnd: time.Unix(1774958400, 0)}, nil)
		publish(server.Subscription{Account: account, Plan: "pro", Status: "canceled"}, nil)

		published := map[string][]string{}
		for _, d := range in.wait(t, 6) {
			require.Equal(t, "subscription", d.header.Get("X-Trunkline-Event"))
			require.NoError(t, s.fitsEvent(t, d.body, "subscription"), string(d.body))
			p := d.json(t)
			require.Equal(t, account, p["account"])
			require.Equal(t, p["reference"], p["ref"])
			require.Equal(t, fmt.Sprint(p["reference"]), d.header.Get("X-Trunkline-Reference"))
			require.True(t, fits("<now>", p["timestamp"]))
			published[d.path] = append(published[d.path], fmt.Sprintf("%v %v %v %.0f %s", p["reference"], p["plan"], p["status"], p["currentPeriodEnd"],
				d.header.Get("X-Trunkline-Sequence")))
		}
		both := func(ref int) []string {
			return []string{fmt.Sprintf("%d pro active 1774958400 1", ref), fmt.Sprintf("%d pro canceled 0 2", ref)}
		}
		require.Equal(t, map[string][]string{"/shared": both(second), "/own": both(third), "/more": both(third)}, published)
	})
}
