package flow

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/trunklinehq/trunkline/aiflow/flow/internal/values"
)

// ownConfig is the configuration of a node that runs a function.
type ownConfig struct {
	Timeout time.Duration `json:"timeout" default:"PT10S" min:"PT1S" max:"PT300S" doc:"Maximum duration of each attempt."`
	Retry   RetryConfig   `json:"retry" doc:"How to retry after a temporary error."`
	SaveTo  string        `json:"saveTo" pattern:"variable" writes:"true" doc:"Name of the variable in which the result is stored."`

	own   *own
	given Data // the configuration for the function
}

func (c *ownConfig) Outputs() []string { return c.own.outputs }
func (*ownConfig) Check(*Checker)      {}

// Step calls the function.
func (c *ownConfig) Step(t *Turn) (Exit, error) {
	v, err := t.Data(c.given)
	if err == nil {
		v, err = admit(v)
	}
	if err == nil {
		v, err = c.own.open.normalized(v)
	}
	if err != nil {
		return Exit{}, err
	}
	raw := values.Append(nil, v)
	if len(raw) > maxOwn {
		return Exit{}, tooLarge("the configuration is larger than 256 KiB")
	}
	if _, err := c.own.read(raw); err != nil {
		return Exit{}, err
	}
	t.Note(values.ObjectOf(v), nil)
	return t.Call(Call{Kind: CallNode, Once: c.own.once, Timeout: c.Timeout, Request: NodeRequest{c.own.name, raw}})
}

// Resume takes the result, or calls the function again.
func (c *ownConfig) Resume(t *Turn, in Input) (Exit, error) {
	done, ok := in.(EffectDone)
	switch {
	case !ok: // the time for another attempt has come
		return c.Step(t)
	case done.Err != nil:
		return t.Again(c.Retry, done.Err, c.own.once)
	}
	r, err := Result[NodeResult](done)
	if err != nil {
		return Exit{}, err
	}
	v, err := admit(r.Value)
	if err != nil {
		return Exit{}, err
	}
	t.Note(nil, map[string]any{"value": v})
	output := cmp.Or(r.Output, c.own.pass)
	if output == "error" || !slices.Contains(c.own.outputs, output) {
		return Exit{}, &Error{Code: CodeNodeFailed, Message: "The function of " + c.own.name + " returned the output " + values.Shorten(output) + ", which the node type does not have."}
	}
	if err := t.Save(c.SaveTo, v); err != nil {
		return Exit{}, err
	}
	return Out(output), nil
}

// normalized converts a rendered value to the types of its shape: texts to numbers
// and numbers to texts where necessary. It leaves out what rendered to nothing.
func (s *shape) normalized(v any) (any, error) {
	if s.form == formPointer {
		return s.elem.normalized(v)
	}
	if s.form == formOpen {
		return conform(v, declaredAs[s.elem.form])
	}
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for _, name := range values.Names(v) {
			item, err := s.normalize(v[name], name)
			if err != nil {
				return nil, err
			}
			if item != nil {
				out[name] = item
			}
		}
		return out, nil
	case []any:
		out := make([]any, len(v))
		for i := range v {
			var err error
			if out[i], err = s.normalize(v[i], i); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	return v, nil
}

// normalize normalizes a member or an item.
func (s *shape) normalize(v, part any) (any, error) {
	inner := s.at(part)
	if inner == nil {
		return v, nil
	}
	out, err := inner.normalized(v)
	if err != nil {
		return nil, named(err, fmt.Sprint(part))
	}
	return out, nil
}

// read decodes a rendered configuration into an In. The error names the first
// member that does not satisfy its tags.
func (o *own) read(raw []byte) (reflect.Value, error) {
	in, r := reflect.New(o.run.in).Elem(), &report{}
	if root := parse(raw, 6*maxOwn, r); root != nil { // a journal may have written < as \u003c
		decoder{r}.object(root, in, o.plain)
	}
	if len(r.problems) == 0 {
		return in, nil
	}
	p := r.problems[0]
	if name := strings.ReplaceAll(strings.TrimPrefix(p.Path, "/"), "/", "."); name != "" {
		p.Message = name + ": " + p.Message
	}
	return in, wrongType(p.Message)
}

// Call calls the function of a node type. It is for packages that answer calls of
// the kind [CallNode], such as package runtime.
func (t *Types) Call(ctx context.Context, r NodeRequest, c NodeCall) (NodeResult, error) {
	nt := t.get(r.Type)
	if nt == nil || nt.own == nil {
		return NodeResult{}, noType(r.Type)
	}
	in, err := nt.own.read(r.Config)
	if err != nil {
		return NodeResult{}, err
	}
	out, err := nt.own.run.run(ctx, c, in)
	var known *Error
	switch {
	case err == nil:
		return out.measured()
	case errors.As(err, &known):
		return NodeResult{}, known
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return NodeResult{}, &Error{Code: CodeNodeTimeout, Message: "The function of " + r.Type + " did not return in time."}
	}
	return NodeResult{}, &Error{Code: CodeNodeFailed, Message: err.Error()}
}

// measured returns r with its value as JSON, if that is not too large.
func (r NodeResult) measured() (NodeResult, error) {
	raw, err := json.Marshal(r.Value)
	switch {
	case err != nil:
		return r, &Error{Code: CodeNodeFailed, Message: "The result is no JSON: " + err.Error()}
	case len(raw) > maxOwnResult:
		return r, tooLarge("The result has more than 1 MiB.")
	}
	r.Value = json.RawMessage(raw)
	return r, nil
}
