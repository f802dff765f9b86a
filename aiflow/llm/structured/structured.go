package structured

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/trunklinehq/trunkline/aiflow/llm"
)

// Wanted says what an answer must be.
type Wanted struct {
	Schema *Schema
	// Repair is how often the model may correct an answer that does not fit.
	// 0: never.
	Repair int
	// Check looks at a value that fits the schema. What it refuses with a
	// [*Misfit] the model may correct; any other error ends the matter. nil:
	// the schema is all.
	Check func(value any) error
}

// Answer is what came of it.
type Answer struct {
	// Value is the answer that fits, its numbers as [json.Number]; nil when the
	// model declined, which its last response says.
	Value any
	Raw   json.RawMessage // the same as it was written
	Last  *llm.Response
	// Messages are those of the request and, after them, what was said until
	// the answer fitted, without the last response.
	Messages []llm.Message
}

// Generate asks a model until its answer fits. An answer that still does not
// after the repairs is a [*Misfit], and comes with that error. Each attempt is
// one call of m. The request is not changed.
func Generate(ctx context.Context, m llm.Model, r *llm.Request, w Wanted) (*Answer, error) {
	req := *r
	req.Messages = slices.Clone(r.Messages)
	w.Schema.Ask(&req)
	for try := 0; ; try++ {
		res, err := m.Generate(ctx, &req)
		if err != nil {
			return nil, err
		}
		a := &Answer{Last: res, Messages: req.Messages}
		if res.Stop == llm.StopRefused {
			return a, nil
		}
		a.Raw, a.Value, err = w.read(res)
		var bad *Misfit
		if err == nil || !errors.As(err, &bad) || try >= w.Repair {
			return a, err
		}
		said := res.Message
		if len(said.Parts) == 0 && len(said.Raw) == 0 {
			said = llm.Assistant("{}") // providers take no empty message
		}
		said.Calls = nil
		req.Messages = append(req.Messages, said, llm.User(bad.Correction()))
	}
}

// read is the value of a response.
func (w Wanted) read(res *llm.Response) (json.RawMessage, any, error) {
	raw, v, err := w.Schema.Read(res.Message.Text())
	if err != nil {
		var bad *Misfit
		if res.Stop == llm.StopLength && errors.As(err, &bad) {
			err = &Misfit{Problems: append([]string{"the answer broke off because it was too long: be shorter"}, bad.Problems...)}
		}
		return nil, nil, err
	}
	if w.Check != nil {
		if err := w.Check(v); err != nil {
			return nil, nil, fmt.Errorf("checking an answer: %w", err)
		}
	}
	return raw, v, nil
}

// Misfit says why an answer does not fit, in words that a model understands.
// They may hold parts of the answer.
type Misfit struct{ Problems []string }

func (m *Misfit) Error() string {
	return "structured: the answer does not fit: " + strings.Join(m.Problems, "; ")
}

// Correction is what to tell the model, so that it answers again.
func (m *Misfit) Correction() string {
	return "That answer cannot be used:\n- " + strings.Join(m.Problems, "\n- ") + "\nAnswer again, with the corrected JSON and nothing else."
}

// Read finds the JSON in a model's text and validates it. Models like to wrap
// it in a fenced block, or to say a word before it: that is passed over. An
// answer that does not fit is a [*Misfit].
func (s *Schema) Read(text string) (json.RawMessage, any, error) {
	raw, err := value(text)
	if err != nil {
		return nil, nil, err
	}
	v, err := plain(raw)
	if err != nil {
		return nil, nil, &Misfit{Problems: []string{"it is no valid JSON: " + err.Error()}}
	}
	return raw, v, s.Validate(v)
}

// value is the part of a text that is JSON.
func value(text string) (json.RawMessage, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return nil, &Misfit{Problems: []string{"it is empty"}}
	}
	if json.Valid([]byte(text)) {
		return json.RawMessage(text), nil
	}
	if _, block, ok := strings.Cut(text, "```"); ok {
		block, _, _ = strings.Cut(block, "```")
		block = strings.TrimSpace(strings.TrimPrefix(block, "json"))
		if json.Valid([]byte(block)) {
			return json.RawMessage(block), nil
		}
	}
	if i := strings.IndexAny(text, "{["); i >= 0 {
		var raw json.RawMessage
		if json.NewDecoder(strings.NewReader(text[i:])).Decode(&raw) == nil {
			return raw, nil
		}
	}
	var syntax any
	err := json.Unmarshal([]byte(text), &syntax)
	return nil, &Misfit{Problems: []string{fmt.Sprintf("it is no valid JSON: %v", err)}}
}

// plain is a value with its numbers as they are written.
func plain(raw []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	err := d.Decode(&v)
	return v, err
}
