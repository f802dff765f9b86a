package openai_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/aiflow/llm/llmtest"
	"github.com/trunklinehq/trunkline/aiflow/llm/openai"
)

// answered answers each request with a body, and returns what was asked last.
func answered(t *testing.T, contentType, body string) (m *openai.Model, asked func() (http.Header, map[string]any)) {
	t.Helper()
	var header http.Header
	var got map[string]any
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header, got = r.Header.Clone(), nil
		_ = json.NewDecoder(r.Body).Decode(&got) // a list of models has none
		w.Header().Set("Content-Type", contentType)
		_, _ = w.Write([]byte(body)) // a client that has gone
	}))
	t.Cleanup(server.Close)
	m, err := openai.New(&openai.Options{BaseURL: server.URL + "/v1", Provider: "own"})
	require.NoError(t, err)
	return m, func() (http.Header, map[string]any) { return header, got }
}

const (
	whole  = "application/json"
	stream = "text/event-stream"
)

func ask(t *testing.T, m *openai.Model, streamed bool) *llm.Response {
	t.Helper()
	r := &llm.Request{Model: "m", Messages: []llm.Message{llm.User("Well?")}}
	if streamed {
		r.OnText = func(string) {}
	}
	res, err := m.Generate(t.Context(), r)
	require.NoError(t, err)
	return res
}

// TestEnvironment checks that variables of the library are ignored.
func TestEnvironment(t *testing.T) {
	for _, name := range []string{"OPENAI_BASE_URL", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"} {
		t.Setenv(name, "http://127.0.0.1:1/v1")
	}
	for _, name := range []string{"OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"} {
		t.Setenv(name, "secret")
	}
	t.Setenv("OPENAI_CUSTOM_HEADERS", "X-Own: secret")
	m, asked := answered(t, whole, `{"choices":[{"message":{"content":"Yes."},"finish_reason":"stop"}]}`)
	require.Equal(t, "Yes.", ask(t, m, false).Message.Text())
	header, _ := asked()
	require.Empty(t, header.Values("Authorization"), "no key was given")
	for name, values := range header {
		require.NotContains(t, values, "secret", name)
	}
}

// TestRedirects checks that redirects are not followed: a key is for one address.
func TestRedirects(t *testing.T) {
	t.Parallel()
	other := llmtest.NewServer(llmtest.Say("Stolen."))
	t.Cleanup(other.Close)
	server := httptest.NewServer(http.RedirectHandler(other.OpenAI()+"/chat/completions", http.StatusTemporaryRedirect))
	t.Cleanup(server.Close)
	m, err := openai.New(&openai.Options{BaseURL: server.URL, Key: "k"})
	require.NoError(t, err)
	_, err = m.Generate(t.Context(), &llm.Request{Model: "m", Messages: []llm.Message{llm.User("Well?")}})
	var e *llm.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, 307, e.Status)
	require.False(t, e.Temporary())
	require.Zero(t, other.Count().Requests)
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"x", "ftp://h", "//h/v1", "http://", ":"} {
		_, err := openai.New(&openai.Options{BaseURL: bad})
		require.ErrorContains(t, err, "BaseURL", bad)
	}
	m, server := start(t, 0, llmtest.Say("Yes."))
	require.NotNil(t, m)
	slash, err := openai.New(&openai.Options{BaseURL: server.OpenAI() + "/", Key: "the key"})
	require.NoError(t, err)
	require.Equal(t, "Yes.", ask(t, slash, false).Message.Text())
}

// TestReasoning checks that a server's additions to a message with calls are sent
// back, and are dropped from an answer.
func TestReasoning(t *testing.T) {
	t.Parallel()
	const own = `{"reasoning_content":"First the weather, then the rest.","reasoning_details":[{"type":"x","data":"abc"}]}`
	for _, streamed := range []bool{false, true} {
		call := llmtest.Call(llm.ToolCall{ID: "a", Name: "weather", Arguments: `{}`})
		call.Response.Message.Raw = json.RawMessage(own)
		last := llmtest.Say("Sunny.")
		last.Response.Message.Raw = json.RawMessage(own)
		m, server := start(t, 0, call, last)
		first := ask(t, m, streamed)
		require.Equal(t, "openai", first.Message.RawProvider)
		res, err := m.Generate(t.Context(), &llm.Request{Model: "m", Messages: []llm.Message{
			llm.User("Well?"), first.Message, {Role: llm.RoleTool, Results: []llm.ToolResult{{CallID: "a", Content: "sun"}}},
		}})
		require.NoError(t, err)
		require.Equal(t, "Sunny.", res.Message.Text())
		require.Empty(t, res.Message.Raw)
		var sent map[string]any
		require.NoError(t, json.Unmarshal(server.Requests()[1].Messages[1].Raw, &sent))
		require.Equal(t, "First the weather, then the rest.", sent["reasoning_content"])
		require.Equal(t, []any{map[string]any{"type": "x", "data": "abc"}}, sent["reasoning_details"])
	}
}

// TestOtherServers tests answers of servers other than OpenAI.
func TestOtherServers(t *testing.T) {
	t.Parallel()
	const call = `{"id":"c","type":"function","function":{"name":"weather","arguments":`
	calls := func(arguments string) string {
		return `{"choices":[{"message":{"content":null,"tool_calls":[` + call + arguments + `}}]},"finish_reason":"stop"}],"usage":null}`
	}
	t.Run("arguments that are an object", func(t *testing.T) {
		t.Parallel()
		m, _ := answered(t, whole, calls(`{"city":"Lima"}`))
		res := ask(t, m, false)
		require.Equal(t, llm.StopTools, res.Stop, "whatever its reason is called")
		require.JSONEq(t, `{"city":"Lima"}`, res.Message.Calls[0].Arguments)
		require.False(t, res.Usage.Known, "null is not 0")
	})
	t.Run("no arguments and no id", func(t *testing.T) {
		t.Parallel()
		for _, none := range []string{`""`, `null`, `" "`} {
			m, _ := answered(t, whole, calls(none))
			require.Equal(t, "{}", ask(t, m, false).Message.Calls[0].Arguments)
		}
		m, _ := answered(t, whole, `{"choices":[{"message":{"tool_calls":[{"function":{"name":"a"}},{"function":{"name":"b"}}]}}]}`)
		res := ask(t, m, false)
		require.Equal(t, []llm.ToolCall{{ID: "call_0", Name: "a", Arguments: "{}"}, {ID: "call_1", Name: "b", Arguments: "{}"}}, res.Message.Calls)
		require.Equal(t, "m", res.Model)
	})
	t.Run("calls that are all numbered 0", func(t *testing.T) {
		t.Parallel()
		part := func(id, name, arguments string) string {
			return `data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"` + id + `","function":{"name":"` + name + `","arguments":"` + arguments + `"}}]}}]}` + "\n\n"
		}
		m, _ := answered(t, stream, part("x", "a", "{")+part("", "", "}")+part("y", "b", "{}")+`data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`+"\n\n")
		require.Equal(t, []llm.ToolCall{{ID: "x", Name: "a", Arguments: "{}"}, {ID: "y", Name: "b", Arguments: "{}"}}, ask(t, m, true).Message.Calls)
	})
	t.Run("reasoning beside the output", func(t *testing.T) {
		t.Parallel()
		m, _ := answered(t, whole, `{"choices":[{"message":{"content":"Yes."}}],"usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":115,"completion_tokens_details":{"reasoning_tokens":100}}}`)
		require.Equal(t, llm.Usage{Known: true, Input: 10, Output: 105, Reasoning: 100}, ask(t, m, false).Usage)
	})
	t.Run("a refusal", func(t *testing.T) {
		t.Parallel()
		m, _ := answered(t, whole, `{"choices":[{"message":{"content":null,"refusal":"I cannot."},"finish_reason":"stop"}]}`)
		res := ask(t, m, false)
		require.Equal(t, llm.StopRefused, res.Stop)
		require.Equal(t, "I cannot.", res.Message.Text())
	})
	t.Run("a page in place of an error", func(t *testing.T) {
		t.Parallel()
		server := httptest.NewServer(http.NotFoundHandler())
		t.Cleanup(server.Close)
		m, err := openai.New(&openai.Options{BaseURL: server.URL})
		require.NoError(t, err)
		_, err = m.List(t.Context())
		require.EqualError(t, err, "llm.no_model: the provider has no such model (404)")
	})
}

func TestLongestAnswer(t *testing.T) {
	t.Parallel()
	m, asked := answered(t, whole, `{"choices":[{"message":{"content":"Yes."}}]}`)
	ask(t, m, false)
	_, got := asked()
	require.Contains(t, got, "max_tokens", "the name that all servers know")
	require.NotContains(t, got, "max_completion_tokens")
	require.NotContains(t, got, "temperature")
}

// TestStrict checks that strict mode is used if the provider supports the schema.
func TestStrict(t *testing.T) {
	t.Parallel()
	for schema, strict := range map[string]bool{
		`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`:                                                             true,
		`{"type":"object","properties":{"a":{"type":"array","items":{"type":"object","properties":{}}}},"required":["a"],"additionalProperties":false}`:                    false,
		`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`:                                                                                          false,
		`{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false}`:                                                                              false,
		`{"type":"object","properties":{"a":{"type":"string","minLength":1}},"required":["a"],"additionalProperties":false}`:                                               false,
		`{"type":"object","properties":{"a":{"type":"string","format":"uri"}},"required":["a"],"additionalProperties":false}`:                                              false,
		`{"type":"object","properties":{"a":{"anyOf":[{"type":"null"},{"$ref":"#/$defs/x"}]}},"required":["a"],"additionalProperties":false,"$defs":{"x":{"enum":["b"]}}}`: true,
	} {
		m, asked := answered(t, whole, `{"choices":[{"message":{"content":"{}"}}]}`)
		_, err := m.Generate(t.Context(), &llm.Request{Model: "m", Messages: []llm.Message{llm.User("Well?")}, Schema: json.RawMessage(schema)})
		require.NoError(t, err)
		_, got := asked()
		format := got["response_format"].(map[string]any)["json_schema"].(map[string]any)
		require.Equal(t, strict, format["strict"], schema)
	}
}

func TestList(t *testing.T) {
	t.Parallel()
	m, server := start(t, 0)
	offers, err := m.List(t.Context())
	require.NoError(t, err)
	require.Equal(t, []llm.Offer{{Name: "model-1"}, {Name: "model-2"}}, offers)
	server.RequireKey("another")
	_, err = m.List(t.Context())
	var e *llm.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, llm.CodeForbidden, e.Code)
}

func TestEmbed(t *testing.T) {
	t.Parallel()
	m, server := start(t, 0)
	got, err := m.Embed(t.Context(), "vectors", []string{"red roses", "a bill", "Roses, red!"})
	require.NoError(t, err)
	require.Len(t, got.Vectors, 3)
	require.Equal(t, got.Vectors[0], got.Vectors[2])
	require.NotEqual(t, got.Vectors[0], got.Vectors[1])
	require.Equal(t, llm.Usage{Known: true, Input: 8}, got.Usage)
	require.Equal(t, server.Count().Usage, got.Usage)
	require.Equal(t, "vectors", got.Model)
	_, err = m.Embed(t.Context(), "vectors", nil)
	require.Error(t, err)
	for _, bad := range []string{
		`{}`, `{"data":[]}`, `{"data":[{"index":0,"embedding":[]}]}`, `{"data":[{"index":1,"embedding":[1]}]}`, `{"data":[{"index":-1,"embedding":[1]}]}`,
		`{"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":[1]}]}`,
	} {
		m, _ := answered(t, whole, bad)
		_, err := m.Embed(t.Context(), "vectors", []string{"one"})
		var e *llm.Error
		require.ErrorAs(t, err, &e, bad)
		require.Equal(t, llm.CodeMalformed, e.Code)
	}
}

// TestRequest checks the whole body of a request.
func TestRequest(t *testing.T) {
	t.Parallel()
	m, asked := answered(t, stream, `data: {"error":null,"choices":[{"index":0,"delta":{"content":"Yes."},"finish_reason":"stop"}],"usage":7}`+"\n\ndata: [DONE]\n\nx")
	cold := 0.0
	res, err := m.Generate(t.Context(), &llm.Request{
		Model: "m", System: "Be short.", MaxTokens: 7, Temperature: &cold, OnText: func(string) {}, Choice: llm.ChoiceRequired,
		Schema: json.RawMessage(`{"type":"object"}`), Tools: []llm.ToolSpec{{Name: "look", Description: "Looks.", Schema: json.RawMessage(`{"type":"object"}`)}},
		Messages: []llm.Message{
			{Role: llm.RoleUser, Parts: []llm.Part{{Text: ""}, {MediaType: "image/png", Data: []byte("P")}, {MediaType: "audio/mp3", Data: []byte("A")}, {MediaType: "application/pdf", Data: []byte("D")}}},
			{Role: llm.RoleAssistant, Calls: []llm.ToolCall{{ID: "a", Name: "look", Arguments: "?"}}},
			{Role: llm.RoleTool, Results: []llm.ToolResult{{CallID: "a"}}},
			{Role: llm.RoleAssistant, Raw: json.RawMessage(`{"role":"assistant","x":1}`), RawProvider: "own"},
			llm.User("And?"),
		},
	})
	require.NoError(t, err)
	require.Equal(t, "Yes.", res.Message.Text())
	require.False(t, res.Usage.Known, "a usage that cannot be read is no reason to lose the answer")
	header, got := asked()
	require.Equal(t, "application/json", header.Get("Content-Type"))
	sent, err := json.Marshal(got)
	require.NoError(t, err)
	require.JSONEq(t, `{
		"model": "m", "max_tokens": 7, "temperature": 0, "stream": true, "stream_options": {"include_usage": true}, "tool_choice": "required",
		"response_format": {"type": "json_schema", "json_schema": {"name": "answer", "schema": {"type": "object"}, "strict": false}},
		"tools": [{"type": "function", "function": {"name": "look", "description": "Looks.", "parameters": {"type": "object"}}}],
		"messages": [
			{"role": "system", "content": "Be short."},
			{"role": "user", "content": [
				{"type": "text", "text": ""}, {"type": "image_url", "image_url": {"url": "data:image/png;base64,UA=="}},
				{"type": "input_audio", "input_audio": {"data": "QQ==", "format": "mp3"}},
				{"type": "file", "file": {"filename": "document.pdf", "file_data": "data:application/pdf;base64,RA=="}}
			]},
			{"role": "assistant", "tool_calls": [{"id": "a", "type": "function", "function": {"name": "look", "arguments": "{}"}}]},
			{"role": "tool", "content": "", "tool_call_id": "a"},
			{"role": "assistant", "x": 1},
			{"role": "user", "content": "And?"}
		]
	}`, string(sent))
}
