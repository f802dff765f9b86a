package server_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/provider/graph/graphtest"
)

// TestEverythingReceived posts one of each thing that a number receives: none
// is refused, each is counted, and none cannot be read.
func TestEverythingReceived(t *testing.T) {
	t.Parallel()
	cloudTest(t, &graphOptions{}, func(t *testing.T, ana client, ref int, g *graphtest.Server) {
		samples := graphtest.Samples(contact)
		for _, x := range samples {
			require.NoError(t, g.PostSample(t.Context(), "", x), x.Name)
		}
		for what, least := range map[string]int{
			"message": 25, "contact": 5, "call": 3, "history": 2, "group": 1, "template": 4, "health": 7, "raw:message:hologram": 1,
			"raw:brand_new_field": 1,
		} {
			require.GreaterOrEqual(t, gauge(t, ana.fixture, `trunkline_received_total{kind="provider-cloud",what="`+what+`"}`), float64(least), what)
		}
		require.Negative(t, gauge(t, ana.fixture, `trunkline_received_total{kind="provider-cloud",what="dead"}`))
		shown := ana.call(t, "GET", fmt.Sprintf("/chats/messages?reference=%d&chatId=%s&limit=100", ref, contact), "").json(200)["items"].([]any)
		require.Greater(t, len(shown), 25)
		ana.log.hasNoErrors(t)

		chat := ana.call(t, "GET", fmt.Sprintf("/chats/list?reference=%d&search=%s", ref, contact), "").json(200)["items"].([]any)[0].(map[string]any)
		require.Equal(t, []any{"Sample", true}, []any{chat["name"], chat["optedOut"]})
		session := ana.call(t, "GET", fmt.Sprintf("/reference/session/status?reference=%d", ref), "").json(200)
		require.Equal(t, "CONNECTED", session["state"])
		require.NotNil(t, session["lastError"], "the account is restricted")
	})
}

// TestCountsAreBounded posts fields without end: a network, or whoever has the
// secret of a reference, does not choose how much is counted.
func TestCountsAreBounded(t *testing.T) {
	t.Parallel()
	cloudTest(t, &graphOptions{}, func(t *testing.T, ana client, _ int, g *graphtest.Server) {
		account := cloudNumber("900").BusinessAccountID
		changes := make([]string, 300)
		for i := range changes {
			changes[i] = fmt.Sprintf(`{"field":"field_%d","value":{"x":1}}`, i)
		}
		body := `{"object":"whatsapp_business_account","entry":[{"id":"` + account + `","changes":[` + strings.Join(changes, ",") + `]}]}`
		require.NoError(t, g.Post(t.Context(), "", []byte(body)))
		require.Less(t, strings.Count(metrics(t, ana.fixture), "trunkline_received_total{"), 250)
		require.GreaterOrEqual(t, gauge(t, ana.fixture, `trunkline_received_total{kind="provider-cloud",what="other"}`), 50.0)
	})
}
