package server_test

import (
	"fmt"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/provider/web/webtest"
)

const lunchFlow = `{"format":"trunkline-flow/1","kind":"flow","slug":"lunch","name":"Lunch","start":"begin",
	"variables":{"answer":{"type":"any"}},"nodes":{
	"begin":{"type":"trigger","config":{"on":[{"kind":"keyword","keywords":["hungry"]}]},"next":{"out":"ask"}},
	"ask":{"type":"question","config":{"prompt":{"kind":"poll","text":"Lunch?","options":["soup","salad"]},
		"expect":"choice","choices":[{"id":"soup"},{"id":"salad"}],"saveTo":"answer"},"next":{"out":"say"}},
	"say":{"type":"message","config":{"text":"You get {{ vars.answer }}."}}}}`

// event waits for the event of a message.
func (in *integrator) event(t *testing.T, id string) (found map[string]any) {
	t.Helper()
	in.until(t, func() bool {
		for _, d := range in.matching(func([]byte) bool { return true }) {
			if body := d.json(t); d.header.Get("X-Trunkline-Event") == "message" && body["id"] == id {
				in.verify(t, []delivered{d})
				found = body
			}
		}
		return found != nil
	}, "the event of %s", id)
	return found
}

// received waits until a phone has a message with a poll.
func received(t *testing.T, p *webtest.Phone) *webtest.Message {
	t.Helper()
	m, err := p.Await(t.Context(), func(m *webtest.Message) bool { return m.Content.GetPollCreationMessage() != nil })
	require.NoError(t, err)
	return m
}

// TestWebPolls has a bot ask a poll, whose voter votes after a restart: the vote
// answers the bot, the integrator gets it, and the record of the poll counts it.
func TestWebPolls(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		fake, config := fakeWeb(t)
		first := setupOn(t, db, config)
		stop := workers(t, first)
		ana := first.as(t, "ana")
		ref := ana.reference(t, `{"name":"Shop","type":"provider-web"}`)
		owner, maria := fake.AddPhone(nil), fake.AddPhone(&webtest.PhoneOptions{Name: "Maria"})
		device, err := owner.Scan(t.Context(), ana.shownQR(t, ref))
		require.NoError(t, err)
		require.NoError(t, device.AwaitActive(t.Context()))
		in := startIntegrator(t)
		in.listen(t, ana, ref, "/", `["message"]`)
		ana.bot(t, ref, lunchFlow)
		_, err = maria.SendText(t.Context(), owner.LID(), "hungry")
		require.NoError(t, err)
		poll := received(t, maria)
		asked := in.event(t, poll.ID)
		require.Equal(t, map[string]any{"question": "Lunch?", "options": []any{"soup", "salad"}, "multiple": false}, asked["poll"])

		stop()
		require.NoError(t, device.AwaitGone(t.Context()))
		ana = client{working(t, setupOn(t, db, config)), ana.token}
		vote := func(options ...string) map[string]any {
			id, err := maria.Polls().Vote(t.Context(), poll, options...)
			require.NoError(t, err)
			return in.event(t, id)
		}
		salad := vote("salad")
		require.Equal(t, "salad", salad["text"])
		require.Equal(t, map[string]any{"id": "salad", "title": "salad"}, salad["reply"])
		_, err = maria.AwaitText(t.Context(), "You get salad.")
		require.NoError(t, err)
		selected := func(options ...any) map[string]any {
			return map[string]any{"question": "Lunch?", "options": []any{"soup", "salad"}, "multiple": false, "messageId": poll.ID, "selected": options}
		}
		require.Equal(t, selected("salad"), salad["poll"])
		require.Equal(t, selected("soup"), vote("soup")["poll"])

		voter := maria.JID().User + "::single"
		record := ana.call(t, "GET", fmt.Sprintf("/messages/%s?reference=%d", poll.ID, ref), "").json(200)
		require.Equal(t, []any{
			map[string]any{"option": "soup", "votes": 1.0, "voters": []any{voter}},
			map[string]any{"option": "salad", "votes": 0.0, "voters": []any{}},
		}, record["poll"].(map[string]any)["results"])
		require.Equal(t, "Vote removed", vote()["text"])

		other := *poll
		other.ID = "3EB0UNKNOWN"
		id, err := maria.Polls().Vote(t.Context(), &other, "soup")
		require.NoError(t, err)
		require.Equal(t, map[string]any{"type": "poll_vote"}, in.event(t, id)["unsupported"])
		require.Empty(t, fake.Unknown())
	})
}
