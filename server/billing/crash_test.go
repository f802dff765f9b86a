package billing_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/server/billing"
)

// childURL is where a child finds the database, and in whose absence
// [TestChild] does nothing.
const childURL = "BILLING_TEST_CHILD"

var crashEvent = event("evt_1", "customer.subscription.created", 100, subscription("sub_1", "ana", "active", "pro", 900))

// TestChild is the process that [TestKill] kills: it says so when it has
// written everything but the commit, and then waits.
func TestChild(t *testing.T) {
	url := os.Getenv(childURL)
	if url == "" {
		return
	}
	s, err := billing.New(t.Context(), testkit.Open(t, url), &billing.Options{
		Secret: secret, Changed: func(context.Context, billing.Tx, billing.Subscription) error {
			fmt.Println("written")
			select {}
		},
	})
	require.NoError(t, err)
	_, _ = notify(t, s, crashEvent)
}

// TestKill kills a process between its writes and their commit. Stripe, which got
// no answer, repeats the notification, which then counts as new.
func TestKill(t *testing.T) {
	t.Parallel()
	testkit.EachURL(t, func(t *testing.T, url string) {
		f := setup(t, testkit.Open(t, url))
		child, _ := testkit.Child(t, "TestChild", "written", childURL+"="+url)
		require.NoError(t, child.Process.Kill())
		_ = child.Wait()
		f.stands(t, "ana", "", "", 0)
		f.is(t, billing.Applied, crashEvent)
		f.is(t, billing.Repeated, crashEvent)
		f.stands(t, "ana", "pro", "active", 900)
		require.Len(t, f.notified, 1)
	})
}
