package modeltest

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/aiflow/llm/llmtest"
)

// schema is a schema that all providers support.
var schema = json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer"}},"required":["city","days"],"additionalProperties":false}`)

// weather and clock are tools.
var (
	weather = llm.ToolSpec{Name: "weather", Description: "Says how the weather is.", Schema: schema}
	clock   = llm.ToolSpec{Name: "clock", Schema: json.RawMessage(`{"type":"object","properties":{}}`)}
)

func (s Suite) answers(t *testing.T) {
	m, script := s.Start(t, 0, llmtest.Say("It is here: “ñ” & <b>."))
	heat := 0.5
	r := &llm.Request{
		Model: name, System: "Answer in one sentence.", Temperature: &heat, MaxTokens: 77,
		Messages: []llm.Message{llm.User("Where is my parcel?"), llm.Assistant("Which one?"), llm.User("A-17 & <b>")},
	}
	res, err := m.Generate(t.Context(), r)
	require.NoError(t, err)
	require.Equal(t, llm.RoleAssistant, res.Message.Role)
	require.Equal(t, "It is here: “ñ” & <b>.", res.Message.Text())
	require.Empty(t, res.Message.Calls)
	require.Equal(t, llm.StopDone, res.Stop)
	require.Equal(t, s.Provider, res.Provider)
	require.Equal(t, name, res.Model)
	require.NoError(t, script.Done())

	got := script.Requests()[0]
	require.Equal(t, r.System, got.System)
	require.Equal(t, r.Model, got.Model)
	require.Equal(t, 77, got.MaxTokens)
	require.InDelta(t, heat, *got.Temperature, 0)
	require.Equal(t, []string{"user: Where is my parcel?", "assistant: Which one?", "user: A-17 & <b>"}, spoken(got))
}

// spoken returns the roles and texts of the messages.
func spoken(r llm.Request) (out []string) {
	for i := range r.Messages {
		out = append(out, fmt.Sprintf("%s: %s", r.Messages[i].Role, r.Messages[i].Text()))
	}
	return out
}

func (s Suite) tools(t *testing.T) {
	calls := []llm.ToolCall{
		{ID: "call_a", Name: "weather", Arguments: `{"city":"Lima","days":2}`},
		{ID: "call_b", Name: "clock", Arguments: `{}`},
		{ID: "call_c", Name: "weather", Arguments: `{"city":"Quito \"centro\"","days":9007199254740993}`},
	}
	step := llmtest.Call(calls...)
	step.Response.Message.Parts = []llm.Part{{Text: "I am looking."}}
	for _, choice := range []llm.ToolChoice{llm.ChoiceAuto, llm.ChoiceRequired, llm.ChoiceNone} {
		eachWay(t, func(t *testing.T, r *llm.Request) {
			m, script := s.Start(t, 0, step)
			r.Tools, r.Choice = []llm.ToolSpec{weather, clock}, choice
			res, err := m.Generate(t.Context(), r)
			require.NoError(t, err)
			require.Equal(t, llm.StopTools, res.Stop)
			require.Equal(t, "I am looking.", res.Message.Text())
			require.Equal(t, calls, res.Message.Calls, "in order, with numbers as they were written")

			got := script.Requests()[0]
			require.Equal(t, choice, got.Choice)
			require.Len(t, got.Tools, 2)
			require.Equal(t, "weather", got.Tools[0].Name)
			require.Equal(t, "Says how the weather is.", got.Tools[0].Description)
			require.JSONEq(t, string(weather.Schema), string(got.Tools[0].Schema))
			require.JSONEq(t, string(clock.Schema), string(got.Tools[1].Schema))
		})
	}
}

// eachWay runs fn with a request that is not streamed, and with one that is.
func eachWay(t *testing.T, fn func(t *testing.T, r *llm.Request)) {
	t.Helper()
	for _, stream := range []bool{false, true} {
		t.Run(fmt.Sprintf("stream=%t", stream), func(t *testing.T) {
			r := ask("Well?")
			if stream {
				r.OnText = func(string) {}
			}
			fn(t, r)
		})
	}
}

// roundTrip sends results of tools, after an answer of this provider and after one
// of another.
func (s Suite) roundTrip(t *testing.T) {
	calls := []llm.ToolCall{{ID: "call_a", Name: "weather", Arguments: `{"city":"Lima","days":2}`}, {ID: "call_b", Name: "clock", Arguments: "{}"}}
	eachWay(t, func(t *testing.T, r *llm.Request) {
		m, script := s.Start(t, 0, llmtest.Call(calls...), llmtest.Say("Sunny."), llmtest.Say("Still."))
		r.Tools = []llm.ToolSpec{weather, clock}
		first, err := m.Generate(t.Context(), r)
		require.NoError(t, err)
		results := llm.Message{Role: llm.RoleTool, Results: []llm.ToolResult{{CallID: "call_a", Content: "sun"}, {CallID: "call_b", Content: "no clock", IsError: true}}}
		foreign := llm.Message{Role: llm.RoleAssistant, Calls: calls, Raw: json.RawMessage(`{"of":"another"}`), RawProvider: "another"}
		for _, said := range []llm.Message{first.Message, foreign} {
			next := *r
			next.Messages = append([]llm.Message{}, append(r.Messages, said, results, llm.User("And now?"))...)
			_, err := m.Generate(t.Context(), &next)
			require.NoError(t, err)
		}
		require.NoError(t, script.Done())
		for _, got := range script.Requests()[1:] {
			require.Len(t, got.Messages, 4)
			for i, c := range got.Messages[1].Calls {
				require.Equal(t, calls[i].ID, c.ID)
				require.Equal(t, calls[i].Name, c.Name)
				require.JSONEq(t, calls[i].Arguments, c.Arguments)
			}
			require.Len(t, got.Messages[2].Results, 2, "the results of a turn stand together")
			require.Equal(t, "sun", got.Messages[2].Results[0].Content)
			require.Equal(t, "no clock", got.Messages[2].Results[1].Content)
		}
	})
}

func (s Suite) schema(t *testing.T) {
	m, script := s.Start(t, 0, llmtest.Say(`{"city":"Lima","days":2}`))
	r := ask("Two days in Lima.")
	r.Schema = schema
	res, err := m.Generate(t.Context(), r)
	require.NoError(t, err)
	require.JSONEq(t, `{"city":"Lima","days":2}`, res.Message.Text())
	require.JSONEq(t, string(schema), string(script.Requests()[0].Schema))

	if s.HTTP {
		for _, bad := range []string{`[]`, `{`, `null`} {
			r.Schema = json.RawMessage(bad)
			_, err := m.Generate(t.Context(), r)
			_ = failure(t, err, llm.CodeInvalid)
		}
		r.Schema, r.Tools = nil, []llm.ToolSpec{{Name: "x", Schema: json.RawMessage("7")}}
		_, err := m.Generate(t.Context(), r)
		_ = failure(t, err, llm.CodeInvalid)
	}
	require.NoError(t, script.Done(), "what is wrong is not sent")
}

// failure returns an error as an [*llm.Error] and checks its code.
func failure(t *testing.T, err error, code llm.Code) *llm.Error {
	t.Helper()
	var e *llm.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, code, e.Code, "%v: %v", e, e.Err)
	return e
}

func (s Suite) files(t *testing.T) {
	m, script := s.Start(t, 0, llmtest.Step{Response: llmtest.Say("I see.").Response, Repeat: true})
	for i, p := range s.Files {
		r := ask("Look:")
		r.Messages[0].Parts = append(r.Messages[0].Parts, p)
		_, err := m.Generate(t.Context(), r)
		require.NoError(t, err, p.MediaType)
		parts := script.Requests()[i].Messages[0].Parts
		require.Equal(t, llm.Part{Text: "Look:"}, parts[0])
		require.Equal(t, p, parts[1])
	}
	for _, p := range s.NoFiles {
		r := ask("Look:")
		r.Messages[0].Parts = append(r.Messages[0].Parts, p)
		_, err := m.Generate(t.Context(), r)
		e := failure(t, err, llm.CodeInvalid)
		require.Contains(t, e.Message, p.MediaType)
	}
	require.Len(t, script.Requests(), len(s.Files))
}

func (s Suite) streams(t *testing.T) {
	text := "One word follows another, até o fim."
	m, script := s.Start(t, 0, llmtest.Say(text))
	var parts []string
	r := ask("Go on.")
	r.OnText = func(part string) { parts = append(parts, part) }
	res, err := m.Generate(t.Context(), r)
	require.NoError(t, err)
	require.Equal(t, text, res.Message.Text())
	require.Equal(t, text, strings.Join(parts, ""))
	require.Greater(t, len(parts), 3)
	require.Equal(t, script.Count().Usage, res.Usage)
}

// usage checks that the usage is exact, with and without streaming.
func (s Suite) usage(t *testing.T) {
	usages := []llm.Usage{
		{Known: true, Input: 100, Output: 20},
		{Known: true, Input: 5000, Output: 900, CacheRead: 4000, CacheWrite: 300, Reasoning: 700},
		{Known: true},
		{},
	}
	if s.OneHourCache {
		usages = append(usages, llm.Usage{Known: true, Input: 5000, Output: 1, CacheRead: 1000, CacheWrite: 300, CacheWrite1h: 2000})
	}
	for _, u := range usages {
		eachWay(t, func(t *testing.T, r *llm.Request) {
			step := llmtest.Step{Do: func(*llm.Request) (*llm.Response, error) {
				return &llm.Response{Message: llm.Assistant("Yes."), Usage: u}, nil
			}, NoUsage: !u.Known}
			if u == (llm.Usage{Known: true}) {
				u = llm.Usage{Known: true, Input: 1} // zero is counted by the script itself
			}
			m, script := s.Start(t, 0, step)
			res, err := m.Generate(t.Context(), r)
			require.NoError(t, err)
			require.Equal(t, u, res.Usage)
			require.Equal(t, llmtest.Count{Requests: 1, Usage: u}, script.Count())
		})
	}
}

func (s Suite) stops(t *testing.T) {
	for _, stop := range []llm.Stop{llm.StopDone, llm.StopLength, llm.StopRefused} {
		eachWay(t, func(t *testing.T, r *llm.Request) {
			m, _ := s.Start(t, 0, llmtest.Step{Response: &llm.Response{Message: llm.Assistant("That"), Stop: stop}})
			res, err := m.Generate(t.Context(), r)
			require.NoError(t, err)
			require.Equal(t, stop, res.Stop)
			require.Equal(t, "That", res.Message.Text())
		})
	}
	eachWay(t, func(t *testing.T, r *llm.Request) {
		cut := llmtest.Call(llm.ToolCall{ID: "a", Name: "weather", Arguments: `{"city":"Li`})
		cut.Response.Stop = llm.StopLength
		m, _ := s.Start(t, 0, cut)
		r.Tools = []llm.ToolSpec{weather}
		res, err := m.Generate(t.Context(), r)
		require.NoError(t, err)
		require.Equal(t, llm.StopLength, res.Stop)
		if s.HTTP {
			require.Empty(t, res.Message.Calls, "half a call is none")
		}
	})
	m, _ := s.Start(t, 0, llmtest.Step{Response: &llm.Response{Message: llm.Assistant("Yes."), Model: "model-1-2026-01-01"}})
	res, err := m.Generate(t.Context(), ask("Well?"))
	require.NoError(t, err)
	require.Equal(t, "model-1-2026-01-01", res.Model, "the model that answered")
}

// manyAtOnce calls one model concurrently.
func (s Suite) manyAtOnce(t *testing.T) {
	m, script := s.Start(t, 0, llmtest.Step{Repeat: true, Do: func(r *llm.Request) (*llm.Response, error) {
		return &llm.Response{Message: llm.Assistant(r.Messages[0].Text())}, nil
	}})
	const n = 16
	got, errs := make([]string, n), make([]error, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			r := ask(fmt.Sprintf("Question %d", i))
			if i%2 == 0 {
				r.OnText = func(string) {}
			}
			res, err := m.Generate(t.Context(), r)
			if errs[i] = err; err == nil {
				got[i] = res.Message.Text()
			}
		})
	}
	all.Wait()
	require.NoError(t, errors.Join(errs...))
	for i := range n {
		require.Equal(t, fmt.Sprintf("Question %d", i), got[i])
	}
	require.Equal(t, n, script.Count().Requests)
}

// soon is less than the timeout of a test, and more than any scripted answer takes.
const soon = time.Minute
