package values

import (
	"encoding/json"
	"net/url"
	"strings"

	"github.com/trunklinehq/trunkline/aiflow/flow/expression"
)

// Masked replaces what is secret in a trace.
const Masked = "•••"

// leastMasked is the length from which a secret is found inside other texts;
// shorter ones would make whole traces unreadable.
const leastMasked = 4

// Leaves appends the texts and numbers in a value.
func Leaves(out []string, v any) []string {
	switch v := v.(type) {
	case nil, bool:
		return out
	case map[string]any:
		for _, item := range v {
			out = Leaves(out, item)
		}
		return out
	case []any:
		for _, item := range v {
			out = Leaves(out, item)
		}
		return out
	}
	if s := expression.Format(v); s != "" {
		out = append(out, s)
		if escaped := url.QueryEscape(s); escaped != s {
			out = append(out, escaped)
		}
	}
	return out
}

// Hide is v with secrets replaced.
func Hide(v any, secrets []string) any {
	switch v := v.(type) {
	case string:
		return HideText(v, secrets)
	case int, float64:
		s := expression.Format(v)
		if HideText(s, secrets) != s {
			return Masked
		}
	case json.RawMessage:
		if plain, err := ParseJSON(v); err == nil {
			if plain, err = Admit(plain); err == nil {
				return json.RawMessage(Append(nil, Hide(plain, secrets)))
			}
		}
		return Masked
	case map[string]any:
		if v == nil {
			return nil
		}
		out := make(map[string]any, len(v))
		for name, item := range v {
			out[name] = Hide(item, secrets)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = Hide(item, secrets)
		}
		return out
	}
	return v
}

// HideText hides the values of secret variables in a text.
func HideText(s string, secrets []string) string {
	for _, secret := range secrets {
		if s == secret {
			return Masked
		}
		if len(secret) >= leastMasked {
			s = strings.ReplaceAll(s, secret, Masked)
		}
	}
	return s
}
