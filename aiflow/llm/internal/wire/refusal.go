package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/internal/retryafter"
)

// refusal is the body of an error response of OpenAI and Anthropic, and of most
// servers with their APIs.
//
// Sources: https://platform.openai.com/docs/guides/error-codes and
// https://platform.claude.com/docs/en/api/errors
type refusal struct {
	Error struct {
		Type    string `json:"type"`
		Code    any    `json:"code"` // a string, a number or null
		Param   string `json:"param"`
		Message string `json:"message"`
	} `json:"error"`
}

// Refusal converts an error response. A status of 0 means an error within a stream.
// The provider's own message is only in Err, since it may quote the request.
func Refusal(provider string, status int, header http.Header, body []byte) *llm.Error {
	var said refusal
	_ = json.Unmarshal(body, &said) // a body that is not JSON is ignored
	e := &llm.Error{Status: status, Provider: provider, Code: codeOf(status, said), After: after(header)}
	var about []string
	if status > 0 {
		about = append(about, strconv.Itoa(status))
	}
	for _, word := range []string{said.Error.Type, said.code(), said.Error.Param} {
		if name.MatchString(word) && !slices.Contains(about, word) {
			about = append(about, word)
		}
	}
	e.Message = meaning[e.Code]
	if len(about) > 0 {
		e.Message += " (" + strings.Join(about, ", ") + ")"
	}
	if said.Error.Message != "" {
		e.Err = errors.New(said.Error.Message[:min(len(said.Error.Message), 1000)])
	}
	return e
}

// name matches an identifier of a provider, not a text.
var name = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9_.\[\]-]{0,79}$`)

func (r refusal) code() string {
	switch c := r.Error.Code.(type) {
	case string:
		return c
	case float64:
		return fmt.Sprint(c)
	}
	return ""
}

var meaning = map[llm.Code]string{
	llm.CodeTimeout:     "the provider took too long",
	llm.CodeRateLimited: "the provider wants fewer requests",
	llm.CodeTooLong:     "the conversation is too long for the model",
	llm.CodeFiltered:    "the provider's filter refuses the question",
	llm.CodeInvalid:     "the provider refuses the request",
	llm.CodeForbidden:   "the provider refuses the key, or what it may use",
	llm.CodeNoModel:     "the provider has no such model",
	llm.CodeUnavailable: "the provider is out of order",
}

// codeOf returns the code of an error response, by its type or else by its status.
func codeOf(status int, said refusal) llm.Code {
	switch said.code() {
	case "context_length_exceeded", "string_above_max_length", "request_too_large":
		return llm.CodeTooLong
	case "content_filter", "content_policy_violation":
		return llm.CodeFiltered
	case "insufficient_quota", "invalid_api_key", "billing_hard_limit_reached":
		return llm.CodeForbidden
	case "model_not_found":
		return llm.CodeNoModel
	}
	if status == http.StatusBadRequest && tooLong.MatchString(said.Error.Message) {
		return llm.CodeTooLong
	}
	if status == 0 {
		return ofType(said.Error.Type)
	}
	return ofStatus(status)
}

// tooLong matches messages of servers without a type for a conversation that is too
// long.
var tooLong = regexp.MustCompile(`(?i)prompt is too long|context (length|window|size)|maximum (context|prompt)|too many (input )?tokens`)

func ofStatus(status int) llm.Code {
	switch status {
	case http.StatusUnauthorized, http.StatusPaymentRequired, http.StatusForbidden:
		return llm.CodeForbidden
	case http.StatusNotFound:
		return llm.CodeNoModel
	case http.StatusRequestTimeout, http.StatusGatewayTimeout:
		return llm.CodeTimeout
	case http.StatusRequestEntityTooLarge:
		return llm.CodeTooLong
	case http.StatusTooManyRequests:
		return llm.CodeRateLimited
	case http.StatusConflict, http.StatusTooEarly:
		return llm.CodeUnavailable
	}
	if status >= 500 {
		return llm.CodeUnavailable
	}
	return llm.CodeInvalid
}

// ofType returns the code of an error within a stream, which has no status.
func ofType(kind string) llm.Code {
	switch kind {
	case "rate_limit_error", "rate_limit_exceeded", "tokens", "requests":
		return llm.CodeRateLimited
	case "timeout_error":
		return llm.CodeTimeout
	case "authentication_error", "permission_error", "billing_error":
		return llm.CodeForbidden
	case "invalid_request_error":
		return llm.CodeInvalid
	case "not_found_error":
		return llm.CodeNoModel
	case "request_too_large":
		return llm.CodeTooLong
	}
	return llm.CodeUnavailable
}

// after returns how long the provider asks to wait; 0: unknown.
func after(h http.Header) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil {
		return retryafter.Seconds(ms / 1000)
	}
	return retryafter.Of(h, time.Now())
}
