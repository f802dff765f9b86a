package agent_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/agent"
	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/aiflow/llm/llmtest"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

// deleting is a tool that takes something away.
func (c *calls) deleting() llm.Tool {
	tool := c.writing("drop")
	tool.Destructive = true
	return tool
}

// askedFor is the id of the step that waits for consent, and what is asked.
func askedFor(t testing.TB, d runtime.Detail) (step string, what map[string]any) {
	t.Helper()
	require.Equal(t, flow.WaitApproval, d.WaitsFor)
	last := d.Steps[len(d.Steps)-1].Out
	step, _ = last["stepId"].(string)
	require.NotEmpty(t, step)
	return step, last
}

// decide answers a run that asks for consent.
func (f *fixture) decide(t testing.TB, d runtime.Detail, approved bool) runtime.Detail {
	t.Helper()
	step, _ := askedFor(t, d)
	_, err := f.flows.Runs().Approve(t.Context(), d.ID, step, approved)
	require.NoError(t, err)
	return f.rest(t, d.ID)
}

func TestApproval(t *testing.T) {
	t.Parallel()
	script := func() *llmtest.Script {
		return llmtest.NewScript(llmtest.Call(order("1", "find", "A"), order("2", "drop", "A"), order("3", "drop", "B")), llmtest.Say("Dropped."))
	}
	begin := func(t *testing.T, db *sqlx.DB, made *calls, c config, outputs ...string) (*fixture, *llmtest.Script, runtime.Detail) {
		model := script()
		f := running(t, db, change{model: model, tools: []llm.Tool{made.reading("find"), made.deleting()}})
		all := config{"tools": []string{"find", "drop"}}
		for name, v := range c {
			all[name] = v
		}
		return f, model, f.ask(t, all, "Drop A", outputs...)
	}
	t.Run("given", func(t *testing.T) {
		eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
			var made calls
			f, model, d := begin(t, db, &made, nil)
			_, what := askedFor(t, d)
			require.Equal(t, "drop", what["tool"])
			require.Equal(t, map[string]any{"order": "A"}, what["arguments"])
			require.Equal(t, agent.StopApproval, stopped(t, d))
			require.Len(t, made.all(), 1)
			require.Equal(t, []string{"turn  done", "tool find done", "tool drop asked"}, f.entries(t, d.ID))

			d = f.decide(t, d, true) // and each call has to be approved for itself
			_, what = askedFor(t, d)
			require.Equal(t, map[string]any{"order": "B"}, what["arguments"])
			require.Equal(t, []string{`{"order":"A"}`, `{"order":"A"}`}, made.all())
			require.Equal(t, "Dropped.", output(t, f.decide(t, d, true)))
			require.Equal(t, `{"order":"B"}`, made.all()[2])
			require.Len(t, results(model.Requests()[1]), 3)
			require.Equal(t, []string{"ask drop", "ask drop", "Dropped."}, f.said(t, "ana"))
			f.agrees(t, model)
		})
	})
	t.Run("refused", func(t *testing.T) {
		eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
			var made calls
			f, _, d := begin(t, db, &made, nil, "denied")
			d = f.decide(t, d, false)
			require.Equal(t, "denied", output(t, d))
			require.Equal(t, agent.StopDenied, stopped(t, d))
			require.Len(t, made.all(), 1)
			require.Equal(t, []string{"turn  done", "tool find done", "tool drop denied"}, f.entries(t, d.ID))
		})
	})
	t.Run("never", func(t *testing.T) {
		eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
			var made calls
			_, _, d := begin(t, db, &made, config{"approval": "never"})
			require.Equal(t, "Dropped.", output(t, d))
			require.Len(t, made.all(), 3)
		})
	})
	t.Run("always", func(t *testing.T) {
		eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
			var made calls
			_, _, d := begin(t, db, &made, config{"approval": "always"})
			_, what := askedFor(t, d)
			require.Equal(t, "find", what["tool"])
			require.Empty(t, made.all())
		})
	})
	t.Run("nobody decides", func(t *testing.T) {
		eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
			var made calls
			f, _, d := begin(t, db, &made, nil, "denied")
			f.clock.advance(25 * time.Hour)
			f.runs.Notify()
			testkit.UntilCommitted(t, f.db, func() bool {
				d, _ = f.flows.Runs().Get(t.Context(), d.ID)
				return d.Status == runtime.Completed
			})
			require.Equal(t, "denied", output(t, d))
			require.Len(t, made.all(), 1)
		})
	})
}

// TestApprovalOutlivesTheNode has another process continue after the consent, and
// nothing of the agent's work stay when the chat is erased.
func TestApprovalOutlivesTheNode(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		var made calls
		first := running(t, db, change{model: llmtest.NewScript(llmtest.Call(order("1", "drop", "A"))), tools: []llm.Tool{made.deleting()}})
		d := first.ask(t, config{"tools": []string{"drop"}}, "Drop A")
		askedFor(t, d)
		first.stop()
		model := llmtest.NewScript(llmtest.Say("Dropped."))
		second := running(t, db, change{model: model, tools: []llm.Tool{made.deleting()}})
		require.Equal(t, "Dropped.", output(t, second.decide(t, d, true)))
		require.Len(t, made.all(), 1)
		require.NoError(t, model.Done())

		require.Equal(t, 3, second.number(t, `SELECT count(*) FROM agent_entry`))
		require.NoError(t, second.runs.For(account).Erase(t.Context(), runtime.Erasure{Reference: line, ChatIDs: []string{"ana"}}))
		require.Zero(t, second.number(t, `SELECT count(*) FROM agent_entry`))
		require.Zero(t, second.number(t, `SELECT count(*) FROM agent_session`))
	})
}

// TestConsentIsForOneCall holds consent to what was shown: it is no consent to
// another tool of the same name, nor for ever.
func TestConsentIsForOneCall(t *testing.T) {
	t.Parallel()
	waiting := func(t *testing.T, db *sqlx.DB, made *calls, model *llmtest.Script, tools *[]llm.Tool) (*fixture, runtime.Detail) {
		*tools = []llm.Tool{made.deleting()}
		f := running(t, db, change{model: model, agent: func(o *agent.Options) {
			o.Tools = func(context.Context, agent.Scope, *flow.AgentRequest) ([]llm.Tool, error) { return *tools, nil }
		}})
		return f, f.ask(t, config{"tools": []string{"drop"}}, "Drop A")
	}
	t.Run("changed", func(t *testing.T) {
		eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
			var made calls
			var tools []llm.Tool
			model := llmtest.NewScript(llmtest.Call(order("1", "drop", "A")), llmtest.Say("It was not done."))
			f, d := waiting(t, db, &made, model, &tools)
			other := made.deleting()
			other.Description = "Deletes everything."
			tools = []llm.Tool{other}
			require.Equal(t, "It was not done.", output(t, f.decide(t, d, true)))
			require.Empty(t, made.all())
			require.Contains(t, results(model.Requests()[1])[0], "tool.changed")
		})
	})
	t.Run("gone", func(t *testing.T) {
		eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
			var made calls
			var tools []llm.Tool
			model := llmtest.NewScript(llmtest.Call(order("1", "drop", "A")), llmtest.Say("It was not done."))
			f, d := waiting(t, db, &made, model, &tools)
			tools = nil
			require.Equal(t, "It was not done.", output(t, f.decide(t, d, true)))
			require.Empty(t, made.all())
		})
	})
	t.Run("late", func(t *testing.T) {
		eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
			var made calls
			late := true
			var f *fixture
			model := llmtest.NewScript(llmtest.Call(order("1", "drop", "A")), llmtest.Say("Dropped."))
			f = running(t, db, change{model: model, agent: func(o *agent.Options) {
				o.Tools = func(_ context.Context, _ agent.Scope, r *flow.AgentRequest) ([]llm.Tool, error) {
					if r.Approved != nil && late { // nothing was running for a while
						late = false
						f.clock.advance(11 * time.Minute)
					}
					return []llm.Tool{made.deleting()}, nil
				}
			}})
			d := f.decide(t, f.ask(t, config{"tools": []string{"drop"}}, "Drop A"), true)
			askedFor(t, d)
			require.Empty(t, made.all())
			require.Equal(t, "Dropped.", output(t, f.decide(t, d, true)))
			require.Len(t, made.all(), 1)
		})
	})
}

// TestRuleOfTwo asks a person before what is private could reach the world on
// the word of a stranger.
func TestRuleOfTwo(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		var made calls
		private, foreign, post := made.reading("private"), made.reading("foreign"), made.writing("post")
		private.Private, foreign.Untrusted, foreign.OpenWorld, post.OpenWorld = true, true, true, true
		tools := []llm.Tool{private, foreign, post}
		one, two, three := order("1", "private", "A"), order("2", "foreign", "A"), order("3", "post", "A")
		for _, c := range []struct {
			name  string
			chat  string
			calls []llm.ToolCall
			asks  string
		}{
			{"private, and a contact wrote", "ana", []llm.ToolCall{one, three}, "post"},
			{"private, and a stranger's page", "", []llm.ToolCall{one, two, three}, "post"},
			{"private, and nobody wrote", "", []llm.ToolCall{one, three}, ""},
			{"nothing private", "ana", []llm.ToolCall{two, three}, ""},
			{"what only reads goes out by what it looks up", "ana", []llm.ToolCall{one, two}, "foreign"},
		} {
			var steps []llmtest.Step
			for _, x := range c.calls {
				steps = append(steps, llmtest.Call(x))
			}
			f := running(t, db, change{model: llmtest.NewScript(append(steps, llmtest.Say("Done."))...), tools: tools})
			id := f.publish(t, document(t, config{"tools": []string{"private", "foreign", "post"}, "approval": "never"}))
			d := f.rest(t, f.start(t, id, c.chat, "Go").ID)
			if c.asks != "" {
				_, what := askedFor(t, d)
				require.Equal(t, c.asks, what["tool"], c.name)
				d = f.decide(t, d, true)
			}
			require.Equal(t, "Done.", output(t, d), c.name)
			f.stop()
		}
	})
}

func TestHandoff(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		model := llmtest.NewScript(
			llmtest.Call(call("1", "handoff", `{"reason":"angry"}`)),
			llmtest.Call(call("1", "handoff", `{}`)), llmtest.Say("There is nobody."),
		)
		f := running(t, db, change{model: model})
		d := f.ask(t, config{}, "A person, please", "handoff")
		require.Equal(t, "handoff", output(t, d))
		require.Equal(t, agent.StopHandoff, stopped(t, d))
		require.Equal(t, "handoff", model.Requests()[0].Tools[0].Name)

		// It is offered only where somebody is.
		d = f.ask(t, config{}, "A person, please")
		require.Equal(t, "There is nobody.", output(t, d))
		require.Empty(t, model.Requests()[1].Tools)
	})
}

// reply has the contact of a run answer.
func (f *fixture) reply(t testing.TB, run, text string) runtime.Detail {
	t.Helper()
	before, err := f.flows.Runs().Get(t.Context(), run)
	require.NoError(t, err)
	require.NoError(t, f.inTx(t, func(tx *database.Tx) error {
		return f.runs.IncomingTx(t.Context(), tx, runtime.Incoming{
			Chat: chatOf("ana"), Message: map[string]any{"id": "in-" + text, "type": "text", "text": text},
			Inbound: flow.Inbound{Channel: "provider-sandbox", Text: text},
		})
	}))
	var d runtime.Detail
	testkit.UntilCommitted(t, f.db, func() bool {
		d, err = f.flows.Runs().Get(t.Context(), run)
		return err == nil && d.Status != runtime.Running && len(d.Sent) > len(before.Sent)
	})
	return d
}

func TestConverse(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		model := llmtest.NewScript(
			llmtest.Say("Which order?"), llmtest.Call(order("1", "find", "A")), llmtest.Say("Anything else?"),
			llmtest.Call(call("2", "finish", `{"words":"Bye"}`)), llmtest.Call(call("3", "finish", `{"text":"Bye!"}`)),
		)
		var made calls
		f := running(t, db, change{model: model, tools: []llm.Tool{made.reading("find")}})
		d := f.ask(t, config{"converse": true, "tools": []string{"find"}}, "Hello")
		require.Equal(t, flow.WaitReply, d.WaitsFor)
		require.Equal(t, agent.StopAsk, stopped(t, d))
		d = f.reply(t, d.ID, "A")
		require.Equal(t, flow.WaitReply, d.WaitsFor)
		d = f.reply(t, d.ID, "No")
		require.Equal(t, "Bye!", output(t, d))
		require.Equal(t, agent.StopDone, stopped(t, d))
		require.Equal(t, []string{"Which order?", "Anything else?", "Bye!"}, f.said(t, "ana"))
		require.NoError(t, model.Done())
		f.agrees(t, model)
		require.Equal(t, []string{
			"turn Which order? done", "told A done", "turn  done", "tool find done", "turn Anything else? done", "told No done",
			"turn  done", "told The arguments of finish are not valid: /: missing property 'text'; /: additional properties 'words' not allowed done", "turn  done",
		}, f.entries(t, d.ID))
	})
}

func TestConverseForAValue(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		model := llmtest.NewScript(llmtest.Say("How many?"), llmtest.Call(call("1", "finish", `{"n":9007199254740993}`)))
		f := running(t, db, change{model: model})
		d := f.ask(t, config{"converse": true, "output": map[string]any{"mode": "json", "schema": json.RawMessage(
			`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`)}}, "Hello")
		require.NoError(t, f.inTx(t, func(tx *database.Tx) error {
			return f.runs.IncomingTx(t.Context(), tx, runtime.Incoming{
				Chat: chatOf("ana"), Message: map[string]any{"id": "in", "type": "text", "text": "Many"}, Inbound: flow.Inbound{Text: "Many"},
			})
		}))
		testkit.UntilCommitted(t, f.db, func() bool {
			d, _ = f.flows.Runs().Get(t.Context(), d.ID)
			return d.Status == runtime.Completed
		})
		require.JSONEq(t, `{"n":9007199254740993}`, string(d.Output))
	})
}

// TestLinks keeps addresses that a tool brought out of what the contact sees.
func TestLinks(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		const answer = `See https://evil.example/x?d=secret, [here](http://evil.example) or ![it](https://evil.example/p.png?d=1). ` +
			`Ours: https://shop.example/a, https://sub.shop.example/b, https://notshop.example, your https://own.example/c! (www.evil.example)`
		var made calls
		model := llmtest.NewScript(llmtest.Call(order("1", "find", "A")), llmtest.Say(answer), llmtest.Say("See https://evil.example."),
			llmtest.Call(order("1", "find", "A")), llmtest.Say("evil.example/x?d=1 or evil.example?d=1, ftp://evil.example/x, javascript://shop.example/%0a; shop.example/a and/or 1.5/2, e.g./i.e. mine"))
		f := running(t, db, change{model: model, tools: []llm.Tool{made.reading("find")}})
		c := config{"tools": []string{"find"}, "instructions": "Our shop is https://shop.example.", "memory": map[string]any{"scope": "none"}}
		d := f.ask(t, c, "What is https://own.example/c?")
		require.Equal(t, `See [link removed], here or it. Ours: https://shop.example/a, https://sub.shop.example/b, [link removed], `+
			`your https://own.example/c! ([link removed])`, output(t, d))
		require.Equal(t, "See https://evil.example.", output(t, f.ask(t, c, "Hello"))) // no tool said anything
		require.Equal(t, "[link removed] or [link removed], [link removed], [link removed]; shop.example/a and/or 1.5/2, e.g./i.e. mine", output(t, f.ask(t, c, "Go")))
	})
}
