package runtime_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
)

// TestConversation has a contact talk to a flow, and looks at the run.
func TestConversation(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := running(t, db, nil)
		f.shelf.add(t, "greeting", source(t, "greeting"))
		f.say(t, "ana", "hi")
		f.awaitDid(t, "ana", "What is your name?")
		page, err := f.acc.Runs(t.Context(), runtime.Filter{})
		require.NoError(t, err)
		require.Len(t, page.Items, 1)
		run := page.Items[0]
		require.Equal(t, runtime.Waiting, run.Status)
		require.Equal(t, flow.WaitReply, run.WaitsFor)
		require.Equal(t, "greeting", run.Owner)
		require.JSONEq(t, `{"id":"in-hi","type":"text","text":"hi"}`, string(run.Input))

		f.clock.Advance(time.Minute)
		f.say(t, "ana", "Ana")
		f.awaitDid(t, "ana", "What is your name?", "And your PIN, Ana?")
		f.say(t, "ana", "sesame")
		f.awaitDid(t, "ana", "What is your name?", "And your PIN, Ana?", "Bye, Ana.")
		d, err := f.acc.Detail(t.Context(), run.ID)
		require.NoError(t, err)
		require.Equal(t, runtime.Completed, d.Status)
		require.JSONEq(t, `"Ana"`, string(d.Output))
		require.Equal(t, epoch, d.StartedAt)
		require.Equal(t, epoch.Add(time.Minute), d.EndedAt)
		require.Equal(t, map[string]any{"name": "Ana"}, d.Variables, "without the secret one")
		require.Len(t, d.Sent, 3)
		var path []string
		for _, s := range d.Steps {
			path = append(path, s.Node)
			raw, err := json.Marshal(s)
			require.NoError(t, err)
			require.NotContains(t, string(raw), "sesame")
		}
		require.Equal(t, []string{"trigger", "ask", "pin", "bye", "end"}, path)
		require.Equal(t, "out", d.Steps[1].Output)
		require.Equal(t, time.Minute, d.Steps[1].Duration, "until the answer came")
		f.once(t)

		f.say(t, "ana", "again")
		f.awaitDid(t, "ana", "What is your name?", "And your PIN, Ana?", "Bye, Ana.", "What is your name?")
		_, err = f.For("stranger").Run(t.Context(), run.ID)
		require.ErrorIs(t, err, runtime.ErrNotFound)
	})
}
