package node

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/internal/values"
)

func (c *callConfig) Refer(k *flow.Checker, env *flow.Environment) {
	if env.Functions == nil {
		return
	}
	f := k.Function(c.Function, env, "function")
	if f == nil {
		return
	}
	k.Given("call.args", "argument", c.Args, f.Args, "args")
	returns := f.ReturnNames()
	for _, output := range k.Wired() {
		if name, ok := strings.CutPrefix(output, "return:"); ok && !slices.Contains(returns, name) {
			k.Next("graph.output", output, "the function does not return "+name, values.DidYouMean(name, returns))
		}
	}
}

func (f *flowConfig) Refer(c *flow.Checker, env *flow.Environment) {
	c.Refer("flow", f.Flow, env.Flows, "flow")
}

func (h *httpConfig) Refer(c *flow.Checker, env *flow.Environment) {
	if h.Auth != "" {
		c.Refer("credential", h.Auth, env.Credentials, "auth")
	}
}

func (e *extractConfig) Refer(c *flow.Checker, env *flow.Environment) {
	if e.Method == "intent" {
		c.Extractor(e.Intents, "intent", env, "intents")
	}
	for i, kind := range e.Entities {
		if id, own := strings.CutPrefix(kind, "dictionary:"); own {
			c.Extractor(id, "entity", env, "entities", i)
		}
	}
	if e.Model != "" {
		c.Model(e.Model, env, "model")
	}
}

func (a *assistantConfig) Refer(c *flow.Checker, env *flow.Environment) {
	c.Model(a.Model, env, "model")
	if a.FallbackModel != "" {
		c.Model(a.FallbackModel, env, "fallbackModel")
	}
}

func (a *agentConfig) Refer(c *flow.Checker, env *flow.Environment) {
	c.Model(a.Model, env, "model")
	for i, slug := range a.Functions {
		if env.Functions != nil {
			c.Function(slug, env, "functions", i)
		}
	}
	for i, name := range a.Servers {
		c.Server(name, env, "servers", i)
	}
	for i, tool := range a.Tools {
		server, name, remote := strings.Cut(tool, "/")
		switch {
		case tool == "*" || name == "*":
		case remote:
			c.Tool(server, name, env, "tools", i)
		default:
			c.Refer("tool", tool, env.Tools, "tools", i)
		}
	}
}

func (t *toolConfig) Refer(c *flow.Checker, env *flow.Environment) {
	if c.Server(t.Server, env, "server") {
		c.Tool(t.Server, t.Tool, env, "tool")
	}
}

func (m *messageConfig) Refer(c *flow.Checker, env *flow.Environment) { m.fits(c, env) }

func (q *questionConfig) Refer(c *flow.Checker, env *flow.Environment) {
	if q.Prompt != nil {
		q.Prompt.fits(c, env, "prompt")
	}
}

func (h *handoffConfig) Refer(c *flow.Checker, env *flow.Environment) {
	if h.Message != nil {
		h.Message.fits(c, env, "message")
	}
}

// fits warns of what a line would refuse.
func (m *messageConfig) fits(c *flow.Checker, env *flow.Environment, at ...any) {
	text, constant := m.Text.Constant()
	for _, ch := range env.Channels {
		if !slices.Contains(ch.Send, m.Kind) && !slices.Contains(flow.AsText, m.Kind) {
			c.Warn("channel.unsupported", ch.Kind+" has no messages of kind "+m.Kind, "", flow.Below(at, "kind")...)
		}
		if n := utf8.RuneCountInString(text); constant && m.Kind == "text" && ch.Text > 0 && n > ch.Text {
			c.Warn("channel.length", fmt.Sprintf("has %s; %s takes %d", flow.Count(n, "character"), ch.Kind, ch.Text), "", flow.Below(at, "text")...)
		}
	}
}
