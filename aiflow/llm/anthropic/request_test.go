package anthropic_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/aiflow/llm/anthropic"
)

// canned answers each request with the same body, and keeps the last request.
type canned struct {
	answer string
	header http.Header
	sent   []byte
}

func (c *canned) RoundTrip(r *http.Request) (*http.Response, error) {
	c.header, c.sent = r.Header, nil
	if r.Body != nil {
		c.sent, _ = io.ReadAll(r.Body) // it is in memory
	}
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(c.answer)), Request: r}, nil
}

func (c *canned) model(t *testing.T) *anthropic.Model {
	t.Helper()
	m, err := anthropic.New(&anthropic.Options{Key: "the key", Client: &http.Client{Transport: c}})
	require.NoError(t, err)
	return m
}

// TestRequest checks the whole body of a request, and its headers.
func TestRequest(t *testing.T) {
	t.Parallel()
	c := &canned{}
	warm := 1.5
	_, err := c.model(t).Generate(t.Context(), &llm.Request{
		Model: "m", System: "Be short.", MaxTokens: 7, Temperature: &warm, Choice: llm.ChoiceRequired,
		Schema: json.RawMessage(`{"type":"object","properties":{"a":{"type":"string"}}}`),
		Tools:  []llm.ToolSpec{{Name: "look", Description: "Looks.", Schema: json.RawMessage(`{"properties":{}}`)}},
		Messages: []llm.Message{
			{Role: llm.RoleUser, Parts: []llm.Part{{Text: "What?"}, {MediaType: "image/png", Data: []byte("P")}, {MediaType: "application/pdf", Data: []byte("D"), Name: "d.pdf"}}},
			{Role: llm.RoleAssistant, Calls: []llm.ToolCall{{ID: "a", Name: "look", Arguments: "?"}}},
			{Role: llm.RoleTool, Results: []llm.ToolResult{{CallID: "a", Content: "sun"}}},
			{Role: llm.RoleAssistant, Raw: json.RawMessage(`[{"type":"x","y":1}]`), RawProvider: "anthropic"},
			llm.User("And?"),
		},
	})
	var e *llm.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, llm.CodeTruncated, e.Code)
	require.Equal(t, "2023-06-01", c.header.Get("anthropic-version"))
	require.Equal(t, "the key", c.header.Get("x-api-key"))
	require.Equal(t, "application/json", c.header.Get("Content-Type"))
	require.JSONEq(t, `{
		"model": "m", "max_tokens": 7, "temperature": 1, "stream": true, "tool_choice": {"type": "any"},
		"system": [{"type": "text", "text": "Be short.", "cache_control": {"type": "ephemeral"}}],
		"output_config": {"format": {"type": "json_schema", "schema": {"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": false}}},
		"tools": [{"name": "look", "description": "Looks.", "input_schema": {"type": "object", "properties": {}}}],
		"messages": [
			{"role": "user", "content": [
				{"type": "text", "text": "What?"}, {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "UA=="}},
				{"type": "document", "title": "d.pdf", "source": {"type": "base64", "media_type": "application/pdf", "data": "RA=="}}
			]},
			{"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "look", "input": {}}]},
			{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": [{"type": "text", "text": "sun"}], "is_error": false}]},
			{"role": "assistant", "content": [{"type": "x", "y": 1}]},
			{"role": "user", "content": [{"type": "text", "text": "And?"}]}
		]
	}`, string(c.sent))
}

// FuzzAnswer checks that every stream of a server is read or refused.
func FuzzAnswer(f *testing.F) {
	for _, seed := range []string{
		"event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"model\":\"m\",\"usage\":{\"input_tokens\":1}}}\n\n" +
			"data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\",\"id\":\"a\",\"name\":\"b\",\"input\":{}}}\n\n" +
			"data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{}\"}}\n\n" +
			"data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"},\"usage\":{\"output_tokens\":2}}\n\ndata: {\"type\":\"message_stop\"}\n\n",
		"data: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\"}}\n\n", "data: null\n\n", "{}",
		"data: {\"type\":\"content_block_start\"}\n\ndata: {\"type\":\"message_stop\"}\n\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		c := &canned{answer: body}
		res, err := c.model(t).Generate(t.Context(), &llm.Request{Model: "m", Messages: []llm.Message{llm.User("Well?")}})
		require.NotEqual(t, err == nil, res == nil)
		_, _ = c.model(t).List(t.Context()) // it must not panic
	})
}
