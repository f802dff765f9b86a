package server_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/server"
)

// TestTypebotImport makes a project of an export of Typebot, publishes its
// flow, and has a contact talk to it.
func TestTypebotImport(t *testing.T) {
	t.Parallel()
	export := func(name string) string {
		raw, err := os.ReadFile("../aiflow/typebot/testdata/" + name + ".json")
		require.NoError(t, err)
		return string(raw)
	}
	onDatabases(t, nil, func(t *testing.T, f fixture) {
		ana := f.as(t, "ana")
		made := ana.call(t, "POST", "/aiflow/project/import", export("support")).json(201)
		require.Equal(t, "Café support", made["name"])
		flows := made["flows"].([]any)
		require.Len(t, flows, 1)
		flow := flows[0].(map[string]any)
		require.Equal(t, []any{false, []any{}}, []any{flow["published"], flow["problems"]})
		id := flow["id"].(string)
		ana.call(t, "POST", "/aiflow/flow/"+id+"/publish", "{}").json(200)
		ref := ana.sandbox(t)
		ana.bindTo(t, ref, id)
		ana.write(t, ref, "bob", "help me")
		ana.awaitShown(t, ref, "bob", "out: help me", "in: Hey *friend*", "in: How can I help you?")

		lossy := ana.call(t, "POST", "/aiflow/project/import", export("logic")).json(201)["flows"].([]any)[0].(map[string]any)
		places := map[string]string{}
		for _, it := range lossy["problems"].([]any) {
			p := it.(map[string]any)
			places[p["path"].(string)] = p["severity"].(string)
		}
		require.Equal(t, "error", places["/groups/0/blocks/9"], "the payment input has no counterpart")
		ana.call(t, "POST", "/aiflow/flow/"+lossy["id"].(string)+"/publish", "{}").json(200)

		large := `{"version":"6","groups":[` + strings.Repeat(`{"blocks":[]},`, 2000) + `{}],"edges":[]}`
		p := ana.call(t, "POST", "/aiflow/project/import", large).problem(422, "validation")
		require.Equal(t, "body.groups", p.Errors[0].Location)
		p = ana.call(t, "POST", "/aiflow/project/import", `{"version":"6","groups":[]}`).problem(422, "validation")
		require.Contains(t, p.Errors, server.FieldError{Location: "body.format", Message: "is required"}, "it is neither")
	})
}
