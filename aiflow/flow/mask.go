package flow

import (
	"cmp"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"github.com/trunklinehq/trunkline/aiflow/flow/expression"
	"github.com/trunklinehq/trunkline/aiflow/flow/internal/values"
)

// Masked stands in a trace for what is secret.
const Masked = "•••"

// leastMasked is the length from which a secret is found inside other texts;
// shorter ones would make whole traces unreadable.
const leastMasked = 4

// Shown are those of the document's variables that are not secret.
func (d *Document) Shown(vars map[string]any) map[string]any {
	out := make(map[string]any, len(vars))
	for name, value := range vars {
		if !d.Variables[name].Secret {
			out[name] = value
		}
	}
	return out
}

// mask takes the values of secret variables out of a trace row.
func (fs *frames) mask(row *TraceRow) {
	secrets := fs.Secrets()
	if len(secrets) == 0 {
		return
	}
	row.In = values.ObjectOf(hide(row.In, secrets))
	row.Out = values.ObjectOf(hide(row.Out, secrets))
	row.Warning = values.TextOf(hide(row.Warning, secrets))
	row.Error = hideError(row.Error, secrets)
}

// Secrets are the values of secret variables and arguments, as texts.
func (fs *frames) Secrets() []string {
	out := fs.hidden[:len(fs.hidden):len(fs.hidden)]
	for i := range fs.state.Frames {
		if fs.graphs[i].secret {
			out = fs.state.Frames[i].secrets(out, fs.graphs[i])
		}
	}
	slices.SortFunc(out, func(a, b string) int { // longer ones first: they may hold others
		return cmp.Or(cmp.Compare(len(b), len(a)), strings.Compare(a, b))
	})
	return out
}

// hideError is e with secrets replaced.
func hideError(e *Error, secrets []string) *Error {
	if e == nil || len(secrets) == 0 {
		return e
	}
	c := *e
	c.Message = HideText(e.Message, secrets)
	c.Detail = values.ObjectOf(hide(e.Detail, secrets))
	return &c
}

// secrets appends those of one frame.
func (f *Frame) secrets(out []string, g *Program) []string {
	return secretsOf(secretsOf(out, f.Vars, g.variables), f.Args, g.args)
}

func secretsOf(out []string, values map[string]any, declared map[string]variable) []string {
	for name, v := range values {
		if declared[name].Secret {
			out = leaves(out, v)
		}
	}
	return out
}

// leaves are the texts and numbers in a value.
func leaves(out []string, v any) []string {
	switch v := v.(type) {
	case nil, bool:
		return out
	case map[string]any:
		for _, item := range v {
			out = leaves(out, item)
		}
		return out
	case []any:
		for _, item := range v {
			out = leaves(out, item)
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

// hide is v with secrets replaced.
func hide(v any, secrets []string) any {
	switch v := v.(type) {
	case string:
		return HideText(v, secrets)
	case int, float64:
		s := expression.Format(v)
		if HideText(s, secrets) != s {
			return Masked
		}
	case json.RawMessage:
		if plain, err := values.ParseJSON(v); err == nil {
			if plain, err = Admit(plain); err == nil {
				return json.RawMessage(AppendValue(nil, hide(plain, secrets)))
			}
		}
		return Masked
	case map[string]any:
		if v == nil {
			return nil
		}
		out := make(map[string]any, len(v))
		for name, item := range v {
			out[name] = hide(item, secrets)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = hide(item, secrets)
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
