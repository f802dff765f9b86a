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

// Wanted describes the required answer.
type Wanted struct {
	Schema *Schema
	// Repair is the maximum number of corrections. 0: none.
	Repair int
	// Check checks a value that matches the schema. If it returns a [*Misfit] the
	// model may correct the answer; any other error is returned. nil: only the
	// schema applies.
	Check func(value any) error
}

// Answer is the result of [Generate].
type Answer struct {
	// Value is the valid answer, its numbers as [json.Number]. It is nil if the
	// model refused, see the last response.
	Value any
	Raw   json.RawMessage // the answer as the model wrote it
	Last  *llm.Response
	// Messages are those of the request followed by the corrections, without the
	// last response.
	Messages []llm.Message
}

// Generate calls a model until its answer matches. If it still does not after the
// corrections, Generate returns the answer with a [*Misfit]. Each attempt is one
// call of m. The request is not modified.
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
			said = llm.Assistant("{}") // providers refuse an empty message
		}
		said.Calls = nil
		req.Messages = append(req.Messages, said, llm.User(bad.Correction()))
	}
}

// read returns the value in a response.
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

// Misfit lists the problems of an answer, in words for a model. They may quote the
// answer.
type Misfit struct{ Problems []string }

func (m *Misfit) Error() string {
	return "structured: the answer does not fit: " + strings.Join(m.Problems, "; ")
}

// Correction returns a message that asks the model to answer again.
func (m *Misfit) Correction() string {
	return "That answer cannot be used:\n- " + strings.Join(m.Problems, "\n- ") + "\nAnswer again, with the corrected JSON and nothing else."
}

// Read finds the JSON in a model's text and validates it. It ignores a fenced block
// around it and text before it, which models like to add. An answer that does not
// match is a [*Misfit].
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

// value returns the JSON part of a text.
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

// plain decodes a value without rounding numbers.
func plain(raw []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	err := d.Decode(&v)
	return v, err
}
