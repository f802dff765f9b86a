package mock_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/aiflow/llm/mock"
)

// ask asks the assistant.
func ask(t testing.TB, r *llm.Request) *llm.Response {
	t.Helper()
	if r.Model == "" {
		r.Model = "assistant"
	}
	res, err := mock.New().Generate(t.Context(), r)
	require.NoError(t, err)
	require.Equal(t, "mock", res.Provider)
	require.Equal(t, r.Model, res.Model)
	return res
}

func say(text string) []llm.Message { return []llm.Message{llm.User(text)} }

var orderStatus = llm.ToolSpec{
	Name: "order_status", Description: "Says where an order is.",
	Schema: json.RawMessage(`{"type":"object","properties":{"order":{"type":"string"}},"required":["order"]}`),
}

var openingHours = llm.ToolSpec{Name: "openingHours", Description: "Says when the shop is open.", Schema: json.RawMessage(`{"type":"object","properties":{}}`)}

func TestAnswers(t *testing.T) {
	t.Parallel()
	const shop = "You are the assistant of a shop of flowers. We open at nine. Roses are five euros each, in bunches of ten.\nParcels leave at noon"
	for question, answer := range map[string]string{
		"Hello there":                        "Hello! How can I help you?",
		"Olá":                                "Hello! How can I help you?",
		"":                                   "Hello! How can I help you?",
		"Many thanks!":                       "You are welcome!",
		"What are roses in bunches?":         "Roses are five euros each, in bunches of ten.",
		"When do parcels leave?":             "Parcels leave at noon",
		"What is the weather?":               "I am the mock assistant, and know no more than my instructions and tools. You wrote: What is the weather?",
		"Are you the assistant of the shop?": "I am the mock assistant, and know no more than my instructions and tools. You wrote: Are you the assistant of the shop?",
	} {
		res := ask(t, &llm.Request{System: shop, Messages: say(question)})
		require.Equal(t, answer, res.Message.Text(), question)
		require.Equal(t, llm.StopDone, res.Stop)
	}
}

// TestToolLoop follows a question through a call to the answer.
func TestToolLoop(t *testing.T) {
	t.Parallel()
	r := &llm.Request{Messages: say("Where is my order A-17?"), Tools: []llm.ToolSpec{openingHours, orderStatus}}
	first := ask(t, r)
	require.Equal(t, llm.StopTools, first.Stop)
	require.Len(t, first.Message.Calls, 1)
	call := first.Message.Calls[0]
	require.Equal(t, "order_status", call.Name)
	require.JSONEq(t, `{"order":"A-17"}`, call.Arguments)

	r.Messages = append(r.Messages, first.Message, llm.Message{Role: llm.RoleTool, Results: []llm.ToolResult{{CallID: call.ID, Content: `{"order":"A-17","state":"on its way","days":2,"note":null}`}}})
	last := ask(t, r)
	require.Equal(t, llm.StopDone, last.Stop)
	require.Equal(t, "Here is what I found: order: A-17, state: on its way, days: 2, note: unknown", last.Message.Text())

	r.Messages = append(r.Messages, last.Message, llm.User("When is the shop open?"))
	require.Equal(t, "openingHours", ask(t, r).Message.Calls[0].Name)
	r.Messages[2].Results[0] = llm.ToolResult{CallID: call.ID, Content: "there is no such order", IsError: true}
	r.Messages = r.Messages[:3]
	require.Equal(t, "This did not work: there is no such order", ask(t, r).Message.Text())
}

func TestOptionalArguments(t *testing.T) {
	t.Parallel()
	history := llm.ToolSpec{Name: "get_chat_history", Description: "Earlier messages.", Schema: json.RawMessage(`{"type":"object","properties":{"before":{"type":"string"},"limit":{"type":"number"}}}`)}
	got := ask(t, &llm.Request{Messages: say("show me the chat history"), Tools: []llm.ToolSpec{history}})
	require.JSONEq(t, `{}`, got.Message.Calls[0].Arguments)
}

func TestToolChoice(t *testing.T) {
	t.Parallel()
	tools := []llm.ToolSpec{openingHours, orderStatus}
	require.Empty(t, ask(t, &llm.Request{Messages: say("Tell me a joke"), Tools: tools}).Message.Calls)
	require.Len(t, ask(t, &llm.Request{Messages: say("Tell me a joke"), Tools: tools, Choice: llm.ChoiceRequired}).Message.Calls, 1)
	require.Empty(t, ask(t, &llm.Request{Messages: say("Where is my order?"), Tools: tools, Choice: llm.ChoiceNone}).Message.Calls)
}

func TestEcho(t *testing.T) {
	t.Parallel()
	var parts []string
	res := ask(t, &llm.Request{Model: "echo", Messages: say("One two three"), OnText: func(p string) { parts = append(parts, p) }})
	require.Equal(t, "One two three", res.Message.Text())
	require.Equal(t, []string{"One ", "two ", "three"}, parts)
	require.Equal(t, llm.Usage{Known: true, Input: 4, Output: 4}, res.Usage)

	res = ask(t, &llm.Request{Model: "echo", Messages: say(strings.Repeat("ñ", 100)), MaxTokens: 3})
	require.Equal(t, llm.StopLength, res.Stop)
	require.Equal(t, "ññññññ", res.Message.Text())
}

func TestErrors(t *testing.T) {
	t.Parallel()
	_, err := mock.New().Generate(t.Context(), &llm.Request{Model: "gpt"})
	var e *llm.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, llm.CodeNoModel, e.Code)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = mock.New().Generate(ctx, &llm.Request{Model: "echo"})
	require.ErrorIs(t, err, context.Canceled)
}

// schemas are filled from texts.
var schemas = []struct{ schema, text, want string }{
	{`{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer"}},"required":["city","days"]}`, "My city is Lima, for 3 days", `{"city":"Lima","days":3}`},
	{`{"properties":{"email":{"type":"string","format":"email"},"mood":{"enum":["good","bad"]}}}`, "ana@example.org feels BAD", `{"email":"ana@example.org","mood":"bad"}`},
	{`{"type":"object","properties":{"ok":{"type":"boolean"},"why":{"type":["null","string"],"maxLength":4}},"required":["ok","why"]}`, "No, never", `{"ok":false,"why":"No, "}`},
	{`{"type":"object","properties":{"list":{"type":"array","minItems":2,"items":{"$ref":"#/$defs/n"}}},"required":["list"],"$defs":{"n":{"type":"number","maximum":5}}}`, "4.5 or 77", `{"list":[4.5,5]}`},
	{`{"type":"object","properties":{"day":{"type":"string","format":"date"},"code":{"type":"string","pattern":"^[A-Z]{3}$"}},"required":["day","code"]}`, "On 2026-01-02 by EUR", `{"day":"2026-01-02","code":"EUR"}`},
	{`{"type":"object","properties":{"message":{"type":"string"},"kind":{"const":"x"}},"required":["message","kind"]}`, "Send 5 of them", `{"message":"Send 5 of them","kind":"x"}`},
	{`{"type":"object","properties":{"sub":{"type":"object","properties":{"a":{"anyOf":[{"type":"integer"},{"type":"null"}]}}}}}`, "nothing", `{"sub":{"a":1}}`},
	{`{"type":"object","properties":{"again":{"$ref":"#"}}}`, "for ever", ``},
	{`{"type":"object","properties":{"a":{"$ref":"#"},"b":{"$ref":"#"},"c":{"type":"array","minItems":16,"items":{"$ref":"#"}}}}`, "for ever", ``},
	{`not JSON`, "x", `{}`},
}

func TestFillsSchemas(t *testing.T) {
	t.Parallel()
	for _, c := range schemas {
		res := ask(t, &llm.Request{Messages: say(c.text), Schema: json.RawMessage(c.schema)})
		if c.want != "" {
			require.JSONEq(t, c.want, res.Message.Text(), c.schema)
		}
		if !json.Valid([]byte(c.schema)) || c.want == "" {
			continue
		}
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(c.schema))
		require.NoError(t, err)
		compiler := jsonschema.NewCompiler()
		require.NoError(t, compiler.AddResource("x", doc))
		compiled, err := compiler.Compile("x")
		require.NoError(t, err)
		value, err := jsonschema.UnmarshalJSON(strings.NewReader(res.Message.Text()))
		require.NoError(t, err)
		require.NoError(t, compiled.Validate(value))
	}
}

// FuzzAnswer asks whatever comes: there is an answer, and it is JSON where JSON
// is wanted.
func FuzzAnswer(f *testing.F) {
	for _, c := range schemas {
		f.Add(c.text, c.schema, "You are a shop. "+c.text, `{"a":[1,{}]}`)
	}
	f.Fuzz(func(t *testing.T, text, schema, system, result string) {
		tool := llm.ToolSpec{Name: "order_status", Description: system, Schema: json.RawMessage(schema)}
		r := &llm.Request{Model: "assistant", System: system, Messages: say(text), Tools: []llm.ToolSpec{tool}, MaxTokens: 1 << 20}
		res := ask(t, r)
		for _, c := range res.Message.Calls {
			require.True(t, json.Valid([]byte(c.Arguments)))
		}
		r.Messages = append(r.Messages, res.Message, llm.Message{Role: llm.RoleTool, Results: []llm.ToolResult{{Content: result}}})
		require.Empty(t, ask(t, r).Message.Calls, "it calls once")
		r.Tools, r.Schema = nil, json.RawMessage(schema)
		require.True(t, json.Valid([]byte(ask(t, r).Message.Text())))
	})
}
