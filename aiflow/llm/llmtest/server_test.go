package llmtest_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/aiflow/llm/llmtest"
)

// post sends a body and returns what came.
func post(t *testing.T, url, body string) (int, map[string]any) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	require.NoError(t, err)
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	var out map[string]any
	require.NoError(t, json.Unmarshal(raw, &out), string(raw))
	return res.StatusCode, out
}

// TestServerRefuses what the providers refuse, without taking a step.
func TestServerRefuses(t *testing.T) {
	t.Parallel()
	s := llmtest.NewServer()
	t.Cleanup(s.Close)
	const chat, messages = "/v1/chat/completions", "/v1/messages"
	for _, c := range []struct{ path, body, says string }{
		{chat, `{`, "reading the request"},
		{chat, `{"messages":[{"role":"user","content":"x"}]}`, "model"},
		{chat, `{"model":"m"}`, "of the user"},
		{chat, `{"model":"m","messages":[{"role":"king","content":"x"}]}`, "role"},
		{chat, `{"model":"m","messages":[{"role":"user","content":"x"},{"role":"tool","content":"x","tool_call_id":"a"}]}`, `no call "a"`},
		{chat, `{"model":"m","messages":[{"role":"user","content":"x"},{"role":"assistant","tool_calls":[{"id":"a"}]},{"role":"user","content":"y"}]}`, "its result"},
		{chat, `{"model":"m","messages":[{"role":"user","content":"x"}],"tools":[{"function":{"name":"a b"}}]}`, "not a valid name"},
		{chat, `{"model":"m","messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"http://x"}}]}]}`, "data URL"},
		{messages, `{"model":"m","messages":[{"role":"user","content":"x"}]}`, "max_tokens"},
		{messages, `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"x"},{"role":"user","content":"y"}]}`, "alternate"},
		{messages, `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":[{"type":"text","text":""}]}]}`, "non-empty"},
		{messages, `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":[]}]}`, "not be empty"},
		{messages, `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"x"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"b","input":"c"}]}]}`, "an object"},
		{"/v1/embeddings", `{"input":7}`, "input"},
	} {
		status, got := post(t, s.URL+c.path, c.body)
		require.Equal(t, 400, status, c.body)
		require.Contains(t, got["error"].(map[string]any)["message"], c.says, c.body)
	}
	require.Zero(t, s.Count().Requests)
	require.NoError(t, s.Done())
}

// TestServerWhole answers clients that do not stream in the words of Anthropic,
// too.
func TestServerWhole(t *testing.T) {
	t.Parallel()
	step := llmtest.Call(llm.ToolCall{ID: "a", Name: "weather", Arguments: `{"city":"Lima"}`})
	step.Response.Message.Parts = []llm.Part{{Text: "Let me see."}}
	s := llmtest.NewServer(step)
	t.Cleanup(s.Close)
	const body = `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"x"}]}`
	status, got := post(t, s.Anthropic()+"/v1/messages", body)
	require.Equal(t, 200, status)
	require.Equal(t, "tool_use", got["stop_reason"])
	require.Equal(t, []any{
		map[string]any{"type": "text", "text": "Let me see."},
		map[string]any{"type": "tool_use", "id": "a", "name": "weather", "input": map[string]any{"city": "Lima"}},
	}, got["content"])
	status, _ = post(t, s.Anthropic()+"/v1/messages", body)
	require.Equal(t, 400, status, "the script has ended")
	require.ErrorContains(t, s.Done(), "1 times more")
}

func TestDone(t *testing.T) {
	t.Parallel()
	s := llmtest.NewScript(llmtest.Say("One."))
	require.ErrorContains(t, s.Done(), "1 steps")
	s.Add(llmtest.Step{Response: llmtest.Say("Always.").Response, Repeat: true})
	for _, want := range []string{"One.", "Always.", "Always."} {
		res, err := s.Generate(t.Context(), &llm.Request{Model: "m"})
		require.NoError(t, err)
		require.Equal(t, want, res.Message.Text())
	}
	require.NoError(t, s.Done())
}

func TestReplay(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"x", "{}", `{"asked":{},"said":{},"failed":{}}`} {
		_, err := llmtest.Replay(strings.NewReader(bad))
		require.ErrorContains(t, err, "line 1", bad)
	}
	var file bytes.Buffer
	m := llmtest.Record(llmtest.NewScript(llmtest.Say("One."), llmtest.Say("Two.")), &file)
	r := &llm.Request{Model: "m", Messages: []llm.Message{llm.User("Well?")}}
	for range 2 {
		_, err := m.Generate(t.Context(), r)
		require.NoError(t, err)
	}
	require.Equal(t, 2, strings.Count(file.String(), "\n"))
	m, err := llmtest.Replay(&file)
	require.NoError(t, err)
	for _, want := range []string{"One.", "Two."} {
		res, err := m.Generate(t.Context(), r)
		require.NoError(t, err)
		require.Equal(t, want, res.Message.Text())
	}
	_, err = m.Generate(t.Context(), r)
	var e *llm.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, llm.CodeInvalid, e.Code)
}

// FuzzReplay reads whatever is in a record.
func FuzzReplay(f *testing.F) {
	f.Add([]byte(`{"asked":{"model":"m","messages":null},"said":{"message":{"role":"assistant"}}}` + "\n"))
	f.Add([]byte(`{"asked":{"model":"m","messages":null},"parts":["a"],"failed":{"code":"llm.cut"}}`))
	f.Fuzz(func(t *testing.T, record []byte) {
		m, err := llmtest.Replay(bytes.NewReader(record))
		if err != nil {
			return
		}
		res, err := m.Generate(t.Context(), &llm.Request{Model: "m", OnText: func(string) {}})
		require.NotEqual(t, res == nil, err == nil)
	})
}
