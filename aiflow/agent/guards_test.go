package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/agent"
	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/aiflow/llm/anthropic"
	"github.com/trunklinehq/trunkline/aiflow/llm/llmtest"
	"github.com/trunklinehq/trunkline/aiflow/llm/openai"
	"github.com/trunklinehq/trunkline/aiflow/llm/usage"
)

// always answers every request in the same way.
func always(s llmtest.Step) llmtest.Step {
	s.Repeat = true
	return s
}

// busy is a model that calls a tool again and again, each time for something
// else, until it may not.
func busy() llmtest.Step {
	n := 0
	return always(llmtest.Step{Do: func(r *llm.Request) (*llm.Response, error) {
		if r.Choice == llm.ChoiceNone {
			return &llm.Response{Message: llm.Assistant("That is all I know.")}, nil
		}
		n++
		id := fmt.Sprint(n)
		return &llm.Response{Message: llm.Message{Calls: []llm.ToolCall{order(id, "tool", "A-"+id)}}}, nil
	}})
}

// results are what a request shows of calls, the oldest first.
func results(r llm.Request) (out []string) {
	for _, m := range r.Messages {
		for _, x := range m.Results {
			out = append(out, x.Content)
		}
	}
	return out
}

// flowError is what a model noted of what it was asked.
type flowError interface {
	Requests() []llm.Request
	Count() llmtest.Count
}

// played is a model that plays steps: "script" is asked in the process, and
// others with the client of a provider, over HTTP.
func played(t testing.TB, provider string, steps ...llmtest.Step) (model llm.Model, by flowError) {
	t.Helper()
	if provider == "script" {
		s := llmtest.NewScript(steps...)
		return s, s
	}
	s := llmtest.NewServer(steps...)
	t.Cleanup(s.Close)
	var err error
	if provider == "openai" {
		model, err = openai.New(&openai.Options{BaseURL: s.OpenAI(), Key: "k"})
	} else {
		model, err = anthropic.New(&anthropic.Options{BaseURL: s.Anthropic(), Key: "k"})
	}
	require.NoError(t, err)
	return model, s
}

// TestBounds holds agents with models that would never stop. Whichever bound
// they meet, the run ends, says why, and the ledger has what the model counted,
// also when that is a server of the two providers' kinds.
func TestBounds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		config config
		steps  func() []llmtest.Step
		tool   func(*calls) llm.Tool
		why    agent.Stop
		answer any           // of the last, tool-less answer
		made   int           // calls that were made
		limit  time.Duration // of the whole, if that is the bound
	}{
		{
			name: "endless tools", config: config{"maxSteps": 4}, why: agent.StopMaxTurns, answer: "That is all I know.", made: 3,
			steps: func() []llmtest.Step { return []llmtest.Step{busy()} },
		},
		{
			name: "endless tools by default", why: agent.StopMaxTurns, answer: "That is all I know.", made: 9,
			steps: func() []llmtest.Step { return []llmtest.Step{busy()} },
		},
		{
			name: "many calls", config: config{"maxToolCalls": 2}, why: agent.StopMaxCalls, answer: "That is all I know.", made: 2,
			steps: func() []llmtest.Step { return []llmtest.Step{busy()} },
		},
		{
			name: "many calls at once", config: config{"maxToolCalls": 2}, why: agent.StopMaxCalls, answer: "Two.", made: 2,
			steps: func() []llmtest.Step {
				return []llmtest.Step{
					llmtest.Call(order("1", "tool", "1"), order("2", "tool", "2"), order("3", "tool", "3"), order("4", "tool", "4")),
					llmtest.Say("Two."),
				}
			},
		},
		{
			name: "tokens", config: config{"tokenBudget": 9000}, why: agent.StopBudget, answer: "That is all I know.", made: 4,
			steps: func() []llmtest.Step { return []llmtest.Step{busy()} },
			tool: func(c *calls) llm.Tool {
				tool := c.reading("tool")
				tool.Call = func(_ context.Context, r llm.ToolRun) (llm.ToolOutput, error) {
					c.note(r)
					return llm.ToolOutput{Content: strings.Repeat("long ", 400)}, nil
				}
				return tool
			},
		},
		{
			name: "the same call", config: config{}, why: agent.StopToolFailures, answer: "Enough.", made: 2,
			steps: func() []llmtest.Step {
				return []llmtest.Step{
					llmtest.Call(call("1", "tool", `{"order":"A"}`)), llmtest.Call(call("2", "tool", ` { "order" : "A" } `)),
					llmtest.Call(call("3", "tool", `{"order":"A"}`)), llmtest.Call(call("4", "tool", `{"order":"A"}`)), llmtest.Call(call("5", "tool", `{"order":"A"}`)),
					llmtest.Say("Enough."),
				}
			},
		},
		{
			name: "failures", why: agent.StopToolFailures, answer: "That is all I know.", made: 3,
			steps: func() []llmtest.Step { return []llmtest.Step{busy()} },
			tool: func(c *calls) llm.Tool {
				tool := c.reading("tool")
				tool.Call = func(_ context.Context, r llm.ToolRun) (llm.ToolOutput, error) {
					c.note(r)
					return llm.ToolOutput{}, &llm.ToolError{Code: "shop.closed", Message: "The shop is closed."}
				}
				return tool
			},
		},
		{
			name: "arguments", why: agent.StopToolFailures, answer: "I cannot.", made: 0,
			steps: func() []llmtest.Step {
				return []llmtest.Step{
					llmtest.Call(call("1", "tool", `{"number":7}`)), llmtest.Call(call("2", "tool", `{"order":7}`)),
					llmtest.Call(call("3", "tool", `{"order":`)), llmtest.Say("I cannot."),
				}
			},
		},
		{
			name: "a tool that is not declared", why: agent.StopDone, answer: "Sorry.", made: 0,
			steps: func() []llmtest.Step {
				return []llmtest.Step{llmtest.Call(call("1", "hidden", `{"order":"A"}`)), llmtest.Say("Sorry.")}
			},
		},
		{
			name: "a tool that never answers", config: config{"toolTimeout": "PT1S"}, why: agent.StopDone, answer: "It is slow.", made: 1,
			steps: func() []llmtest.Step {
				return []llmtest.Step{llmtest.Call(order("1", "tool", "A")), llmtest.Say("It is slow.")}
			},
			tool: func(c *calls) llm.Tool {
				tool := c.reading("tool")
				tool.Call = func(_ context.Context, r llm.ToolRun) (llm.ToolOutput, error) {
					c.note(r)
					select {} // it does not even look at its context
				}
				return tool
			},
		},
		{
			name: "time", config: config{"timeout": "PT6S"}, limit: 6 * time.Second, why: agent.StopTimeout, answer: "Time is up.", made: 1,
			steps: func() []llmtest.Step {
				return []llmtest.Step{llmtest.Call(order("1", "tool", "A")), llmtest.Say("Time is up.")}
			},
			tool: func(c *calls) llm.Tool {
				tool := c.reading("tool")
				tool.Call = func(ctx context.Context, r llm.ToolRun) (llm.ToolOutput, error) {
					c.note(r)
					<-ctx.Done()
					return llm.ToolOutput{}, ctx.Err()
				}
				return tool
			},
		},
		{
			name: "a tool that panics", why: agent.StopDone, answer: "It broke.", made: 1,
			steps: func() []llmtest.Step {
				return []llmtest.Step{llmtest.Call(order("1", "tool", "A")), llmtest.Say("It broke.")}
			},
			tool: func(c *calls) llm.Tool {
				tool := c.reading("tool")
				tool.Call = func(_ context.Context, r llm.ToolRun) (llm.ToolOutput, error) {
					c.note(r)
					panic("a secret: sesame")
				}
				return tool
			},
		},
		{
			name: "an answer that is too long", why: agent.StopTruncated, answer: "It was a dark and",
			steps: func() []llmtest.Step {
				return []llmtest.Step{{Response: &llm.Response{Message: llm.Assistant("It was a dark and"), Stop: llm.StopLength}}}
			},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
				var made calls
				tool := made.reading("tool")
				if c.tool != nil {
					tool = c.tool(&made)
				}
				for _, way := range []struct {
					provider string
					branch   []string
				}{{"script", nil}, {"script", []string{"limit"}}, {"openai", nil}, {"anthropic", nil}} {
					branch := way.branch
					made.args = nil
					model, result := played(t, way.provider, c.steps()...)
					f := running(t, db, change{model: model, tools: []llm.Tool{tool}})
					settings := config{"tools": []string{"tool"}}
					for name, v := range c.config {
						settings[name] = v
					}
					before, started := f.sums(t), time.Now()
					d := f.ask(t, settings, "Go", branch...)
					if duration := time.Since(started); c.limit > 0 && branch == nil && duration > c.limit {
						t.Logf("the machine was too slow for anything in %s: it took %s", c.limit, duration)
						f.stop()
						continue
					}
					why, answer, count := c.why, c.answer, c.made
					if branch != nil && c.why != agent.StopDone && c.why != agent.StopTruncated {
						answer = "limit"
					}
					require.Equal(t, answer, output(t, d))
					require.Equal(t, why, stopped(t, d))
					if branch == nil {
						require.Len(t, made.all(), count)
					}
					after, counted := f.sums(t), result.Count()
					require.Equal(t, int64(counted.Requests), after.Calls-before.Calls)
					require.Equal(t, counted.Usage.Input+counted.Usage.Output, after.Input+after.Output-before.Input-before.Output)
					require.Zero(t, after.Unknown)
					for _, r := range result.Requests() {
						require.NotContains(t, fmt.Sprint(r), "sesame")
					}
					f.stop()
				}
			})
		})
	}
}

// TestTokenBudget lets models of many sizes run into their budget: no run ever
// takes more.
func TestTokenBudget(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		var made calls
		tool := made.reading("tool")
		size := 0
		tool.Call = func(_ context.Context, r llm.ToolRun) (llm.ToolOutput, error) {
			made.note(r)
			size = (size*7 + 311) % 9000
			return llm.ToolOutput{Content: strings.Repeat("x", size)}, nil
		}
		f := running(t, db, change{model: llmtest.NewScript(busy()), tools: []llm.Tool{tool}})
		for budget := 1000; budget <= 21000; budget += 4000 {
			before := f.sums(t)
			d := f.ask(t, config{"tools": []string{"tool"}, "tokenBudget": budget, "maxSteps": 50}, "Go", "limit")
			require.Equal(t, "limit", output(t, d))
			after := f.sums(t)
			require.LessOrEqual(t, after.Input+after.Output-before.Input-before.Output, int64(budget))
		}
	})
}

func TestGiantResult(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		model := llmtest.NewScript(llmtest.Call(order("1", "tool", "A")), llmtest.Say("Large."))
		var made calls
		tool := made.reading("tool")
		tool.Call = func(context.Context, llm.ToolRun) (llm.ToolOutput, error) {
			return llm.ToolOutput{Content: "begin " + strings.Repeat("é", 3<<20) + " end"}, nil
		}
		f := running(t, db, change{model: model, tools: []llm.Tool{tool}})
		d := f.ask(t, config{"tools": []string{"tool"}}, "Go")
		require.Equal(t, "Large.", output(t, d))
		shown := results(model.Requests()[1])[0]
		require.Less(t, len(shown), 8<<10+100)
		require.True(t, strings.HasPrefix(shown, "<data from=\"tool\">\nbegin é"), shown[:40])
		require.True(t, strings.HasSuffix(shown, "é end\n</data>"))
		require.Contains(t, shown, "bytes left out")
		require.NotContains(t, shown, "\uFFFD")
		es, err := f.agents.For(account).Entries(t.Context(), d.ID, "agent")
		require.NoError(t, err)
		require.LessOrEqual(t, es[1].Size, 1<<20)
		require.Greater(t, es[1].Size, 1<<20-200)
		require.LessOrEqual(t, len(es[1].Result), 2<<10)
		f.agrees(t, model)
	})
}

// TestArguments lets a model mend what it wrote.
func TestArguments(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		model := llmtest.NewScript(
			llmtest.Call(call("1", "tool", `{"order":9007199254740993,"x":1}`)), llmtest.Call(call("2", "tool", `[]`)),
			llmtest.Call(order("3", "tool", "A")), llmtest.Call(call("4", "tool", `nonsense`)), llmtest.Say("Done."),
		)
		var made calls
		f := running(t, db, change{model: model, tools: []llm.Tool{made.reading("tool")}})
		require.Equal(t, "Done.", output(t, f.ask(t, config{"tools": []string{"tool"}}, "Go")))
		require.Equal(t, []string{`{"order":"A"}`}, made.all())
		result := results(model.Requests()[4])
		require.Contains(t, result[0], "tool.bad_arguments")
		require.Contains(t, result[0], "/order")
		require.Contains(t, result[0], "x")
		require.Contains(t, result[1], "tool.bad_arguments")
		require.Contains(t, result[2], "found")
		require.Contains(t, result[3], "not valid JSON")
	})
}

// TestAtOnce makes calls that change nothing at the same time, four at most, and
// others one after the other.
func TestAtOnce(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		var now, limit atomic.Int64
		gate := make(chan struct{})
		open := sync.OnceFunc(func() { close(gate) })
		run := func(ctx context.Context, r llm.ToolRun) (llm.ToolOutput, error) {
			n := now.Add(1)
			defer now.Add(-1)
			for m := limit.Load(); n > m && !limit.CompareAndSwap(m, n); m = limit.Load() {
			}
			if n == 4 {
				open()
			}
			if strings.Contains(string(r.Arguments), "wait") {
				select {
				case <-gate:
				case <-ctx.Done():
				}
			}
			return llm.ToolOutput{Content: string(r.Arguments)}, nil
		}
		var made calls
		read, write := made.reading("read"), made.writing("write")
		read.Call, write.Call = run, run
		many := func(tool, what string) (out []llm.ToolCall) {
			for i := range 6 {
				id := fmt.Sprint(tool, i)
				out = append(out, order(id, tool, what+id))
			}
			return out
		}
		mixed := append(many("read", "x")[:1], many("write", "x")...)
		model := llmtest.NewScript(llmtest.Call(many("read", "wait")...), llmtest.Call(mixed...), llmtest.Say("Done."))
		f := running(t, db, change{model: model, tools: []llm.Tool{read, write}})
		id := f.publish(t, document(t, config{"tools": []string{"read", "write"}}))
		d := f.rest(t, f.start(t, id, "ana", "Go").ID)
		require.Equal(t, "Done.", output(t, d))
		require.Equal(t, int64(4), limit.Load())
		result := results(model.Requests()[2])
		require.Len(t, result, 13)
		for i := range 6 {
			require.Contains(t, result[i], fmt.Sprint("waitread", i))
			require.Contains(t, result[7+i], fmt.Sprint("xwrite", i))
		}
		es, err := f.agents.For(account).Entries(t.Context(), d.ID, "")
		require.NoError(t, err)
		for i := 9; i < len(es); i++ { // the writes: each begins when the one before is done
			require.False(t, es[i].StartedAt.Before(es[i-1].DoneAt), "entry %d", i)
		}
	})
}

func TestLedgerBudget(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		model := llmtest.NewScript(always(llmtest.Say("Never.")))
		f := running(t, db, change{model: model})
		tokens := int64(10)
		err := f.ledger.For(account).SetBudgets(t.Context(), []usage.Budget{{Scope: usage.ScopeAccount, Period: usage.PeriodDay, Tokens: &tokens}})
		require.NoError(t, err)
		d := f.ask(t, config{}, "Go")
		require.Equal(t, "budget.exceeded", output(t, d))
		require.Equal(t, agent.StopBudget, stopped(t, d))
		d = f.ask(t, config{}, "Go", "limit")
		require.Equal(t, "limit", output(t, d))
		require.Equal(t, agent.StopBudget, stopped(t, d))
		require.Zero(t, model.Count().Requests)
	})
}

func TestModelErrors(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		broken := &llm.Error{Code: llm.CodeForbidden, Message: "the key is wrong", Provider: "script"}
		model := llmtest.NewScript(
			llmtest.Fail(broken),
			llmtest.Fail(&llm.Error{Code: llm.CodeUnavailable, Message: "down", Provider: "script"}), llmtest.Say("Up again."),
			llmtest.Fail(errors.New("whatever")), llmtest.Fail(errors.New("whatever")), llmtest.Fail(errors.New("whatever")),
			llmtest.Step{Response: &llm.Response{Stop: llm.StopRefused}},
		)
		f := running(t, db, change{model: model})
		d := f.ask(t, config{}, "Go")
		require.Equal(t, "llm.forbidden", output(t, d))
		require.Equal(t, agent.StopModelError, stopped(t, d))

		d = f.ask(t, config{}, "Go")
		require.Equal(t, "Up again.", output(t, d))
		require.Equal(t, []string{"turn  failed", "turn Up again. done"}, f.entries(t, d.ID))

		require.Equal(t, "llm.unavailable", output(t, f.ask(t, config{}, "Go")))
		d = f.ask(t, config{}, "Go")
		require.Equal(t, "llm.content_filter", output(t, d))
		require.Equal(t, agent.StopRefused, stopped(t, d))
		require.Equal(t, "llm.no_model", output(t, f.ask(t, config{"model": "nobody/x"}, "Go")))
		require.NoError(t, model.Done())
	})
}

func TestStructuredAnswer(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		wanted := config{"send": false, "output": map[string]any{"mode": "json", "repair": 1, "schema": json.RawMessage(
			`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"],"additionalProperties":false}`)}}
		model := llmtest.NewScript(
			llmtest.Say(`{"n":"seven"}`), llmtest.Say(`{"n":7}`),
			llmtest.Say(`seven`), llmtest.Say(`eight`),
		)
		f := running(t, db, change{model: model})
		require.Equal(t, map[string]any{"n": 7.0}, output(t, f.ask(t, wanted, "Go")))
		mended := model.Requests()[1].Messages
		require.Len(t, mended, 3)
		require.Contains(t, mended[2].Text(), "/n")
		d := f.ask(t, wanted, "Go", "invalid")
		require.Equal(t, "invalid", output(t, d))
		require.Equal(t, agent.StopInvalid, stopped(t, d))
		require.NoError(t, model.Done())
		f.agrees(t, model)
	})
}

func TestNoToolsAreNeeded(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		model := llmtest.NewScript(llmtest.Say("Hello."))
		f := running(t, db, change{model: model, agent: func(o *agent.Options) { o.Tools, o.Memory = nil, nil }})
		d := f.ask(t, config{"maxSteps": 1}, " ")
		require.Equal(t, "Hello.", output(t, d))
		require.Equal(t, agent.StopDone, stopped(t, d))
		require.Equal(t, "(a message without text)", model.Requests()[0].Messages[0].Text())
		require.Equal(t, "Help.", model.Requests()[0].System)
		require.Equal(t, 1024, model.Requests()[0].MaxTokens)
	})
}

// TestMemory remembers a chat over runs.
func TestMemory(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		var made calls
		model := llmtest.NewScript(llmtest.Call(order("1", "tool", "A")), llmtest.Say("It is red."), llmtest.Say("Red, as I said."))
		f := running(t, db, change{model: model, tools: []llm.Tool{made.reading("tool")}})
		id := f.publish(t, document(t, config{"tools": []string{"tool"}, "memory": map[string]any{"scope": "chat"}}))
		f.rest(t, f.start(t, id, "ana", "Which colour?").ID)
		f.rest(t, f.start(t, id, "ana", "Again?").ID)
		var texts []string
		for _, m := range model.Requests()[2].Messages {
			texts = append(texts, string(m.Role)+" "+m.Text())
		}
		require.Equal(t, []string{"user Which colour?", "assistant ", "tool ", "assistant It is red.", "user Again?"}, texts)
	})
}
