package anthropic_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/aiflow/llm/anthropic"
	"github.com/trunklinehq/trunkline/aiflow/llm/llmtest"
)

// listening returns a fake server that records requests.
func listening(t *testing.T, steps ...llmtest.Step) (url string, received func() (http.Header, string)) {
	t.Helper()
	server := llmtest.NewServer(steps...)
	t.Cleanup(server.Close)
	var header http.Header
	var path string
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header, path = r.Header.Clone(), r.URL.Path
		server.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	return front.URL, func() (http.Header, string) { return header, path }
}

func ask(t *testing.T, m *anthropic.Model) *llm.Response {
	t.Helper()
	res, err := m.Generate(t.Context(), &llm.Request{Model: "m", Messages: []llm.Message{llm.User("Well?")}})
	require.NoError(t, err)
	return res
}

// TestEnvironment checks that variables of the library are ignored.
func TestEnvironment(t *testing.T) {
	for _, name := range []string{"ANTHROPIC_BASE_URL", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"} {
		t.Setenv(name, "http://127.0.0.1:1")
	}
	for _, name := range []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_PROFILE"} {
		t.Setenv(name, "secret")
	}
	t.Setenv("ANTHROPIC_CUSTOM_HEADERS", "X-Own: secret")
	t.Setenv("ANTHROPIC_OPEN_TELEMETRY_TRACES_CONTENT_MODE", "content")
	url, received := listening(t, llmtest.Say("Yes."))
	m, err := anthropic.New(&anthropic.Options{BaseURL: url})
	require.NoError(t, err)
	require.Equal(t, "Yes.", ask(t, m).Message.Text())
	header, _ := received()
	require.Empty(t, header.Values("X-Api-Key"), "no key was given")
	require.Empty(t, header.Values("Traceparent"))
	for name, values := range header {
		require.NotContains(t, values, "secret", name)
	}
}

// TestAddresses checks that a version at the end of an address is not doubled.
func TestAddresses(t *testing.T) {
	t.Parallel()
	for _, end := range []string{"", "/", "/v1", "/v1/"} {
		url, received := listening(t, llmtest.Say("Yes."))
		m, err := anthropic.New(&anthropic.Options{BaseURL: url + end})
		require.NoError(t, err)
		require.Equal(t, "Yes.", ask(t, m).Message.Text())
		_, path := received()
		require.Equal(t, "/v1/messages", path)
	}
	for _, bad := range []string{"x", "ftp://h", "http://", ":"} {
		_, err := anthropic.New(&anthropic.Options{BaseURL: bad})
		require.ErrorContains(t, err, "BaseURL", bad)
	}
}

// TestThinking checks that signed thoughts are sent back with the calls that
// followed them.
func TestThinking(t *testing.T) {
	t.Parallel()
	const thoughts = `[{"type":"thinking","thinking":"First the weather.","signature":"c2ln"},{"type":"redacted_thinking","data":"abc"}]`
	call := llmtest.Call(llm.ToolCall{ID: "a", Name: "weather", Arguments: `{"days":9007199254740993}`})
	call.Response.Message.Raw = json.RawMessage(thoughts)
	m, server := start(t, 0, call, llmtest.Say("Sunny."))
	first := ask(t, m)
	require.Equal(t, "anthropic", first.Message.RawProvider)
	_, err := m.Generate(t.Context(), &llm.Request{Model: "m", Messages: []llm.Message{
		llm.User("Well?"), first.Message, {Role: llm.RoleTool, Results: []llm.ToolResult{{CallID: "a", Content: "sun", IsError: true}}},
	}})
	require.NoError(t, err)
	require.JSONEq(t, `[{"type":"thinking","thinking":"First the weather.","signature":"c2ln"},{"type":"redacted_thinking","data":"abc"},
		{"type":"tool_use","id":"a","name":"weather","input":{"days":9007199254740993}}]`, string(server.Requests()[1].Messages[1].Raw))
	require.Contains(t, string(server.Requests()[1].Messages[1].Raw), "9007199254740993")
	require.True(t, server.Requests()[1].Messages[2].Results[0].IsError)
}

// TestSchemas reduces schemas to the supported keywords, and describes those that
// need others.
func TestSchemas(t *testing.T) {
	t.Parallel()
	for schema, want := range map[string]string{
		`{"$schema":"x","type":"object","properties":{"a":{"type":"integer","minimum":1,"maximum":5,"description":"How many."}},"required":["a"]}`: `{"type":"object","properties":{"a":{"type":"integer","description":"How many.\nmaximum: 5, minimum: 1"}},"required":["a"],"additionalProperties":false}`,
		`{"type":"object","properties":{"a":{"oneOf":[{"type":"null"},{"$ref":"#/$defs/x","title":"X"}]}},"$defs":{"x":{"enum":["b"]}}}`:           `{"type":"object","properties":{"a":{"anyOf":[{"type":"null"},{"$ref":"#/$defs/x"}]}},"$defs":{"x":{"enum":["b"]}},"additionalProperties":false}`,
		`{"type":"object","properties":{"a":{"type":"array","minItems":2,"items":{"type":"string","format":"phone"}}}}`:                            `{"type":"object","properties":{"a":{"type":"array","description":"minItems: 2","items":{"type":"string","description":"format: \"phone\""}}},"additionalProperties":false}`,
		`{"type":"object"}`:                       ``,
		`{"type":"object","properties":{"a":{}}}`: ``,
		`{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":true}`: ``,
		`{"type":"object","properties":{"a":{"type":"array","items":{"type":"object"}}}}`:    ``,
		`{"type":"object","properties":{"a":true}}`:                                          ``,
	} {
		m, server := start(t, 0, llmtest.Say("{}"))
		_, err := m.Generate(t.Context(), &llm.Request{Model: "m", System: "Be short.", Messages: []llm.Message{llm.User("Well?")}, Schema: json.RawMessage(schema)})
		require.NoError(t, err)
		got := server.Requests()[0]
		if want == "" {
			require.Empty(t, got.Schema, schema)
			require.Contains(t, got.System, schema)
			continue
		}
		require.JSONEq(t, want, string(got.Schema), schema)
		require.Equal(t, "Be short.", got.System)
	}
}

// TestConversations checks that roles alternate and that nothing is empty, as the
// provider requires.
func TestConversations(t *testing.T) {
	t.Parallel()
	m, server := start(t, 0, llmtest.Say("Yes."))
	_, err := m.Generate(t.Context(), &llm.Request{Model: "m", Messages: []llm.Message{
		llm.User("One."), llm.User("Two."), {Role: llm.RoleAssistant}, llm.User(""), llm.User("Three."), llm.Assistant("Four."), llm.Assistant("Five."), llm.User("Six."),
	}})
	require.NoError(t, err)
	var said []string
	for _, msg := range server.Requests()[0].Messages {
		said = append(said, string(msg.Role)+": "+msg.Text())
	}
	require.Equal(t, []string{"user: One.Two.Three.", "assistant: Four.Five.", "user: Six."}, said)
	_, err = m.Generate(t.Context(), &llm.Request{Model: "m", Messages: []llm.Message{llm.User("")}})
	var e *llm.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, llm.CodeInvalid, e.Code)
}

func TestList(t *testing.T) {
	t.Parallel()
	m, server := start(t, 0)
	offers, err := m.List(t.Context())
	require.NoError(t, err)
	require.Equal(t, []llm.Offer{{Name: "model-1", Title: "Model model-1"}, {Name: "model-2", Title: "Model model-2"}}, offers)
	server.RequireKey("another")
	_, err = m.List(t.Context())
	var e *llm.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, llm.CodeForbidden, e.Code)
}
