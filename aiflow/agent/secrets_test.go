package agent_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/agent"
	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/aiflow/llm/llmtest"
)

// TestWhatLeaves asks a person by what is known, who may have said something
// and where the arguments go, whatever a tool says of itself.
func TestWhatLeaves(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		var made calls
		tool := func(name string, change func(*llm.Tool)) llm.Tool {
			x := made.reading(name)
			change(&x)
			return x
		}
		tools := []llm.Tool{
			tool("notes", func(x *llm.Tool) { x.Private, x.Source = true, "notes" }),
			tool("history", func(x *llm.Tool) { x.Private, x.Shared, x.Untrusted = true, true, true }),
			tool("page", func(x *llm.Tool) { x.Untrusted = true }),
			tool("closed", func(x *llm.Tool) { x.Leaves = true }),
			tool("stock", func(x *llm.Tool) { x.Leaves, x.Private, x.Source, x.Home = true, true, "shop", "shop" }),
			tool("chats", func(x *llm.Tool) { x.Private, x.Others = true, true }),
			tool("tell", func(x *llm.Tool) { x.ReadOnly, x.Says = false, true }),
		}
		names := []string{"notes", "history", "page", "closed", "stock", "chats", "tell"}
		for _, c := range []struct {
			name, chat, calls string
			config            config
			asks              string
		}{
			{"a tool that says it only reads, and there", "ana", "notes closed", nil, "closed"},
			{"what the contact knows, and nobody else wrote", "ana", "history closed", nil, ""},
			{"what the contact knows, and a page was read", "ana", "history page closed", nil, "closed"},
			{"where the private came from", "ana", "stock stock", nil, ""},
			{"where other private things came from", "ana", "notes stock", nil, "stock"},
			{"to the contact, of the account", "ana", "notes tell", nil, ""},
			{"to the contact, of others", "ana", "chats tell", nil, "tell"},
			{"what the flow put in, and a page", "ana", "page closed", config{"instructions": "Help {{ contact.id }}."}, "closed"},
			{"what the flow put in", "ana", "closed", config{"instructions": "Help {{ contact.id }}."}, ""},
			{"without a chat, what the flow put in may be anybody's word", "", "closed", config{"input": "{{ start.text }}!"}, "closed"},
		} {
			all := config{"tools": names, "approval": "never"}
			for name, v := range c.config {
				all[name] = v
			}
			var steps []llmtest.Step
			for i, name := range strings.Fields(c.calls) {
				steps = append(steps, llmtest.Call(order("c", name, strings.Repeat("A", i+1))))
			}
			f := running(t, db, change{model: llmtest.NewScript(append(steps, llmtest.Say("Done."))...), tools: tools})
			d := f.rest(t, f.start(t, f.publish(t, document(t, all)), c.chat, "Go").ID)
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

// TestAnswerOfOthers asks a person before a contact is told what an agent has
// looked up of others, and says what was approved.
func TestAnswerOfOthers(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		var made calls
		chats := made.reading("chats")
		chats.Private, chats.Others = true, true
		for _, c := range []struct {
			name   string
			config config
			steps  []llmtest.Step
			asks   map[string]any
		}{
			{"a text", nil, []llmtest.Step{llmtest.Say("Bob.")}, map[string]any{"text": "Bob."}},
			{"a value", config{"output": map[string]any{"mode": "json", "schema": map[string]any{"type": "object"}}}, []llmtest.Step{llmtest.Say(`{"n":1}`)}, map[string]any{"value": map[string]any{"n": json.Number("1")}}},
			{"the end of a conversation", config{"converse": true}, []llmtest.Step{llmtest.Call(call("9", "finish", `{"text":"Bob."}`))}, map[string]any{"text": "Bob."}},
			{"nobody is asked", config{"approval": "never"}, []llmtest.Step{llmtest.Say("Bob.")}, nil},
		} {
			all := config{"tools": []string{"chats"}}
			for name, v := range c.config {
				all[name] = v
			}
			for _, approved := range []bool{true, false} {
				model := llmtest.NewScript(append([]llmtest.Step{llmtest.Call(order("1", "chats", "A"))}, c.steps...)...)
				f := running(t, db, change{model: model, tools: []llm.Tool{chats}})
				chat := c.name + map[bool]string{true: " yes", false: " no"}[approved]
				d := f.rest(t, f.start(t, f.publish(t, document(t, all, "denied")), chat, "Who else?").ID)
				if c.asks != nil {
					_, what := askedFor(t, d)
					require.Equal(t, "answer", what["tool"], chat)
					require.Equal(t, c.asks, what["arguments"], chat)
					require.Equal(t, []string{"ask answer"}, f.said(t, chat))
					d = f.decide(t, d, approved)
				}
				if c.asks != nil && !approved {
					require.Equal(t, "denied", output(t, d), chat)
					require.Equal(t, agent.StopDenied, stopped(t, d))
				} else {
					require.NotEqual(t, "denied", output(t, d), chat)
				}
				require.NoError(t, model.Done())
				f.stop()
			}
		}
	})
}

// TestLongArguments has nobody approve what cannot be shown.
func TestLongArguments(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		var made calls
		model := llmtest.NewScript(llmtest.Call(order("1", "drop", strings.Repeat("A", 17<<10))), llmtest.Call(order("2", "drop", strings.Repeat("B", 15<<10))))
		f := running(t, db, change{model: model, tools: []llm.Tool{made.deleting()}})
		d := f.ask(t, config{"tools": []string{"drop"}}, "Go")
		askedFor(t, d)
		require.Contains(t, results(model.Requests()[1])[0], "tool.bad_arguments")
		es, err := f.agents.For(account).Entries(t.Context(), d.ID, "")
		require.NoError(t, err)
		last := es[len(es)-1]
		require.Equal(t, "asked", last.Status)
		require.JSONEq(t, `{"order":"`+strings.Repeat("B", 15<<10)+`"}`, string(last.Arguments))
		require.Empty(t, made.all())
	})
}

// TestLinksOfArguments holds what a tool says to the contact to the rule for
// answers.
func TestLinksOfArguments(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		var made calls
		report := made.writing("tell")
		report.Says = true
		model := llmtest.NewScript(
			llmtest.Call(order("1", "tell", "https://evil.example/before")), llmtest.Call(order("2", "tell", "See https://evil.example/x, or https://shop.example.")),
			llmtest.Call(order("3", "tell", "https://evil.example/p.png?d=1")), llmtest.Say("Done."),
		)
		f := running(t, db, change{model: model, tools: []llm.Tool{report}})
		d := f.ask(t, config{"tools": []string{"tell"}, "instructions": "Our shop is https://shop.example."}, "Go")
		require.Equal(t, "Done.", output(t, d))
		require.Equal(t, []string{`{"order":"https://evil.example/before"}`, `{"order":"See [link removed], or https://shop.example."}`}, made.all())
		require.Contains(t, results(model.Requests()[3])[2], "order has a host that is not allowed")
	})
}
