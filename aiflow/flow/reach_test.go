package flow_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/flow"
)

// documentOf returns a document of nodes that need not be connected.
func documentOf(t *testing.T, slug, nodes string) *flow.Document {
	t.Helper()
	d, problems := flow.Decode([]byte(fmt.Sprintf(`{"format": "trunkline-flow/1", "kind": "function", "slug": %q, "name": "F", "start": "give",
		"nodes": {"give": {"type": "return", "config": {}}%s}}`, slug, nodes)))
	require.NotNil(t, d, "%v", problems)
	return d
}

// TestReach checks what functions can do outside of their run.
func TestReach(t *testing.T) {
	t.Parallel()
	node := func(typ, config string) string { return fmt.Sprintf(`, "n": {"type": %q, "config": %s}`, typ, config) }
	all := flow.Reach{Leaves: true, Private: true, Foreign: true}
	functions := []*flow.Document{
		documentOf(t, "post", node("http", `{"method": "POST", "url": "https://shop.example/x"}`)),
		documentOf(t, "around", node("call", `{"function": "again"}`)),
		documentOf(t, "again", node("call", `{"function": "around"}`)+`, "m": {"type": "call", "config": {"function": "post"}}`),
		documentOf(t, "pure", ""),
		documentOf(t, "look", node("http", `{"url": "https://shop.example/{{ args.id }}", "auth": "c"}`)),
	}
	for _, c := range []struct {
		name, nodes string
		want        flow.Reach
	}{
		{"nothing", `, "a": {"type": "set", "config": {}}, "b": {"type": "loop", "config": {}}, "c": {"type": "condition", "config": {}}`, flow.Reach{}},
		{"it writes by HTTP", node("http", `{"method": "POST", "url": "https://shop.example/x"}`), all},
		{"it reads at one host", node("http", `{"url": "https://shop.example/{{ args.id }}", "auth": "c"}`), flow.Reach{Leaves: true, Fixed: true, Private: true, Foreign: true}},
		{"it reads what is public", node("http", `{"url": "https://shop.example"}`), flow.Reach{Leaves: true, Fixed: true, Foreign: true}},
		{"at any host", node("http", `{"url": "{{ args.url }}"}`), flow.Reach{Leaves: true, Foreign: true}},
		{"below any host", node("http", `{"url": "https://{{ args.shop }}.example/"}`), flow.Reach{Leaves: true, Foreign: true}},
		{"behind a host", node("http", `{"url": "https://shop.example{{ args.x }}/"}`), flow.Reach{Leaves: true, Foreign: true}},
		{"a user of it", node("http", `{"url": "https://shop.example@{{ args.x }}/"}`), flow.Reach{Leaves: true, Foreign: true}},
		{"a header that may be a key", node("http", `{"url": "https://shop.example/", "headers": {"X-Key": "k"}}`), flow.Reach{Leaves: true, Fixed: true, Private: true, Foreign: true}},
		{"a tool", node("tool", `{"server": "shop", "tool": "stock"}`), all},
		{"an event", node("event", `{"name": "x"}`), all},
		{"a message", node("message", `{"text": "x"}`), all},
		{"another flow", node("flow", `{"flow": "x"}`), all},
		{"the contact", node("contact", `{"ops": []}`), all},
		{"a node of one's own", node("x.pay", `{}`), all},
		{"an assistant", node("assistant", `{}`), flow.Reach{Private: true, Foreign: true}},
		{"an agent that has nothing", node("agent", `{"model": "a/b"}`), flow.Reach{Private: true, Foreign: true}},
		{"an agent with a tool", node("agent", `{"model": "a/b", "tools": ["send_message"]}`), all},
		{"an agent with a function", node("agent", `{"model": "a/b", "functions": ["post"]}`), all},
		{"an agent with a function that does nothing", node("agent", `{"model": "a/b", "functions": ["pure"]}`), flow.Reach{Private: true, Foreign: true}},
		{"a function", node("call", `{"function": "post"}`), all},
		{"a function that calls a function, in a circle", node("call", `{"function": "around"}`), all},
		{"a function that reads at one host, and another node", node("call", `{"function": "look"}`) + `, "m": {"type": "event", "config": {"name": "x"}}`, all},
		{"a function that reads at one host", node("call", `{"function": "look"}`), flow.Reach{Leaves: true, Fixed: true, Private: true, Foreign: true}},
		{"a function that is not there", node("call", `{"function": "gone"}`), all},
		{"itself", node("call", `{"function": "me"}`), flow.Reach{}},
		{"a node that is switched off", `, "n": {"type": "event", "disabled": true, "config": {"name": "x"}}`, all},
	} {
		require.Equal(t, c.want, documentOf(t, "me", c.nodes).Reach(functions), c.name)
	}
}
