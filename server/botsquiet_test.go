package server_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/provider/graph/graphtest"
)

// parrot answers whatever a contact writes.
const parrot = `{
	"format": "trunkline-flow/1", "kind": "flow", "engine": "botengine", "slug": "parrot", "name": "Parrot", "start": "start",
	"nodes": {
		"start": {"type": "trigger", "config": {"on": [{"kind": "any_message"}]}, "next": {"out": "say"}},
		"say": {"type": "message", "config": {"text": "{{ input.text }}!"}}
	}
}`

// TestBotsKeepQuiet has a reference report all that no bot answers: groups,
// reactions, edits, statuses, imported history and messages of the phone's
// app, whose author has the chat from then on.
func TestBotsKeepQuiet(t *testing.T) {
	t.Parallel()
	cloudTest(t, &graphOptions{}, func(t *testing.T, ana client, ref int, g *graphtest.Server) {
		bot := ana.bot(t, ref, parrot)
		write := func(in graphtest.Inbound) string {
			t.Helper()
			id, err := g.Write(t.Context(), in)
			require.NoError(t, err)
			return id
		}
		const group, phone, old, eve = "16505550001", "16505550002", "16505550003", "16505550004"
		write(graphtest.Inbound{From: group, Group: "120363041234567890", Text: "to all"})
		_, err := g.Echo(t.Context(), graphtest.Inbound{From: phone, Text: "by hand"})
		require.NoError(t, err)
		write(graphtest.Inbound{From: phone, Text: "to the person"})
		require.NoError(t, g.PostChange(t.Context(), "", "history", map[string]any{"history": []any{map[string]any{
			"metadata": map[string]any{"phase": 0, "chunk_order": 1, "progress": 100},
			"threads": []any{map[string]any{"id": old, "messages": []any{map[string]any{
				"from": old, "id": "wamid.OLD", "timestamp": "1700000000", "type": "text", "text": map[string]any{"body": "long ago"},
				"history_context": map[string]any{"status": "READ"},
			}}}},
		}}}))

		first := write(graphtest.Inbound{From: eve, Text: "hello"})
		said, err := g.WaitShown(t.Context(), eve, 1)
		require.NoError(t, err)
		require.NoError(t, g.Status(t.Context(), said[0].ID, "read", 0))
		write(graphtest.Inbound{From: eve, Type: "reaction", Body: map[string]any{"message_id": said[0].ID, "emoji": "👍"}})
		write(graphtest.Inbound{From: eve, Type: "edit", Body: map[string]any{
			"original_message_id": first, "message": map[string]any{"type": "text", "text": map[string]any{"body": "hallo"}},
		}})
		write(graphtest.Inbound{From: eve, Text: "bye"})
		_, err = g.WaitShown(t.Context(), eve, 2)
		require.NoError(t, err)

		runs := ana.call(t, "GET", "/bot/"+bot+"/runs", "").json(200)["items"].([]any)
		var seen []string
		for _, r := range runs {
			seen = append([]string{r.(map[string]any)["input"].(map[string]any)["text"].(string)}, seen...)
		}
		require.Equal(t, []string{"hello", "bye"}, seen)
		for _, quiet := range []string{group, phone, old} {
			for _, m := range g.Shown(quiet) {
				require.False(t, strings.HasSuffix(m.Text, "!"), "%s was answered", quiet)
			}
		}
	})
}

// TestBotsSendTemplates tells a bot what is wrong with a template that the reference
// does not have.
func TestBotsSendTemplates(t *testing.T) {
	t.Parallel()
	cloudTest(t, &graphOptions{}, func(t *testing.T, ana client, ref int, g *graphtest.Server) {
		g.Templates.Put(shipped("90099"))
		ana.call(t, "GET", fmt.Sprintf("/templates?reference=%d", ref), "").json(200)
		ana.bot(t, ref, `{
			"format": "trunkline-flow/1", "kind": "flow", "engine": "botengine", "slug": "order", "name": "Order", "start": "start",
			"nodes": {
				"start": {"type": "trigger", "config": {"on": [{"kind": "any_message"}]}, "next": {"out": "send"}},
				"send": {"type": "message", "config": {"kind": "template", "template": {"name": "order_lost", "language": {"code": "en_US"}}}, "next": {"error": "say"}},
				"say": {"type": "message", "config": {"text": "{{ error.code }}"}}
			}
		}`)
		const eve = "16505550004"
		_, err := g.Write(t.Context(), graphtest.Inbound{From: eve, Text: "where is it?"})
		require.NoError(t, err)
		said, err := g.WaitShown(t.Context(), eve, 1)
		require.NoError(t, err)
		require.Equal(t, "template.not_found", said[0].Text)
	})
}
