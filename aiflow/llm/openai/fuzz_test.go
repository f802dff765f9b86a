package openai_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/aiflow/llm/openai"
)

// canned answers each request with the same body.
type canned string

func (c canned) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(string(c))), Request: r}, nil
}

// FuzzAnswer checks that every answer of a server is read or refused, whole or
// streamed.
func FuzzAnswer(f *testing.F) {
	for _, seed := range []string{
		`{"model":"m","choices":[{"message":{"content":"Yes.","x":[1]}}],"usage":{"prompt_tokens":1}}`,
		`{"choices":[{"message":{"content":7,"tool_calls":[{"id":1,"function":{"name":"a","arguments":{}}}]},"finish_reason":"tool_calls"}]}`,
		"event: x\ndata: {\"choices\":[{\"index\":\"0\",\"delta\":{\"content\":\"Yes.\"},\n: comment\ndata: \"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
		"data: {\"error\":{\"type\":\"rate_limit_error\"}}\n\n", "data\n\n", "data: null\n\n", "null", `{"choices":[null]}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		m, err := openai.New(&openai.Options{Client: &http.Client{Transport: canned(body)}})
		require.NoError(t, err)
		for _, on := range []func(string){nil, func(string) {}} {
			res, err := m.Generate(t.Context(), &llm.Request{Model: "m", Messages: []llm.Message{llm.User("Well?")}, OnText: on})
			require.NotEqual(t, err == nil, res == nil)
		}
		_, _ = m.Embed(t.Context(), "m", []string{"text"}) // it must not panic
		_, _ = m.List(t.Context())
	})
}
