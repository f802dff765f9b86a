package wire_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/aiflow/llm/internal/wire"
)

func TestRefusal(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status int
		body   string
		code   llm.Code
		says   string
	}{
		{429, `{"error":{"type":"insufficient_quota","code":"insufficient_quota","message":"x"}}`, llm.CodeForbidden, "the provider refuses the key, or what it may use (429, insufficient_quota)"},
		{400, `{"error":{"type":"invalid_request_error","param":"messages[1].content","code":null,"message":"the secret text"}}`, llm.CodeInvalid, "the provider refuses the request (400, invalid_request_error, messages[1].content)"},
		{400, `{"error":{"code":"content_filter"}}`, llm.CodeFiltered, "the provider's filter refuses the question (400, content_filter)"},
		{400, `{"error":{"message":"This model's maximum context length is 8192 tokens."}}`, llm.CodeTooLong, "the conversation is too long for the model (400)"},
		{400, `{"error":{"code":400,"message":"wrong","type":"the secret text"}}`, llm.CodeInvalid, "the provider refuses the request (400)"},
		{502, `<html>secret</html>`, llm.CodeUnavailable, "the provider is out of order (502)"},
		{409, ``, llm.CodeUnavailable, "the provider is out of order (409)"},
		{302, `[]`, llm.CodeInvalid, "the provider refuses the request (302)"},
		{0, `{"type":"error","error":{"type":"overloaded_error"}}`, llm.CodeUnavailable, "the provider is out of order (overloaded_error)"},
		{0, `{"error":{"type":"rate_limit_error"}}`, llm.CodeRateLimited, "the provider wants fewer requests (rate_limit_error)"},
		{0, `null`, llm.CodeUnavailable, "the provider is out of order"},
	} {
		e := wire.Refusal("own", c.status, nil, []byte(c.body))
		require.Equal(t, c.code, e.Code, c.body)
		require.Equal(t, c.says, e.Message)
		require.Equal(t, c.status, e.Status)
		require.NotContains(t, e.Error(), "secret")
	}
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	after := func(name, value string) time.Duration {
		return wire.Refusal("own", 429, http.Header{name: {value}}, nil).After
	}
	require.Equal(t, 7*time.Second, after("Retry-After", "7"))
	require.Equal(t, 1500*time.Millisecond, after("Retry-After", "1.5"))
	require.Equal(t, 250*time.Millisecond, after("Retry-After-Ms", "250"))
	require.Equal(t, 24*time.Hour, after("Retry-After", "1e300"))
	for _, none := range []string{"", "soon", "-1", "0", "NaN", "-Inf", "Mon, 02 Jan 2006 15:04:05 GMT"} {
		require.Zero(t, after("Retry-After", none), none)
	}
	at := time.Now().Add(time.Hour).UTC().Format(http.TimeFormat)
	require.InDelta(t, time.Hour, after("Retry-After", at), float64(time.Minute))
}

// FuzzRefusal reads whatever a provider writes in place of an answer.
func FuzzRefusal(f *testing.F) {
	f.Add(429, `{"error":{"type":"a","code":"b","param":"c","message":"secret"}}`, "7")
	f.Add(0, `{"error":"secret"}`, "Mon, 02 Jan 2006 15:04:05 GMT")
	f.Add(-5, `{"error":{"code":1e308}}`, "1e999")
	f.Fuzz(func(t *testing.T, status int, body, after string) {
		e := wire.Refusal("own", status, http.Header{"Retry-After": {after}}, []byte(body))
		require.NotEmpty(t, e.Code)
		require.NotEmpty(t, e.Message)
		require.LessOrEqual(t, len(e.Message), 400)
		require.GreaterOrEqual(t, e.After, time.Duration(0))
		require.LessOrEqual(t, e.After, 24*time.Hour)
		require.False(t, strings.ContainsAny(e.Message, "\n\r\x00"))
	})
}

func TestFailure(t *testing.T) {
	t.Parallel()
	c := wire.Call{Provider: "own", Model: "m", Streamed: true, Usage: llm.Usage{Known: true, Input: 3}}
	var e *llm.Error
	require.ErrorAs(t, c.Failure(t.Context(), errors.New("odd")), &e)
	require.Equal(t, llm.CodeMalformed, e.Code)
	require.True(t, e.Streamed)
	require.Equal(t, int64(3), e.Usage.Input)
	require.Equal(t, "m", e.Model)
	require.EqualError(t, e.Unwrap(), "odd")
}
