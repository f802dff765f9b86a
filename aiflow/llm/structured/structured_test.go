package structured_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/aiflow/llm/structured"
)

// lines is a model that says one text after the other and keeps what it was
// asked.
type lines struct {
	texts []string
	stop  llm.Stop
	asked []llm.Request
}

func (l *lines) Generate(_ context.Context, r *llm.Request) (*llm.Response, error) {
	if len(l.texts) == 0 {
		return nil, &llm.Error{Code: llm.CodeUnavailable, Message: "no more"}
	}
	l.asked = append(l.asked, *r)
	text := l.texts[0]
	l.texts = l.texts[1:]
	res := &llm.Response{Message: llm.Assistant(text), Stop: llm.StopDone}
	if text == "" {
		res.Message.Parts = nil
	}
	if l.stop != "" {
		res.Stop = l.stop
	}
	return res, nil
}

const city = `{"type": "object", "required": ["city"], "additionalProperties": false,
	"properties": {"city": {"type": "string", "minLength": 2}, "people": {"type": "integer"}, "mail": {"type": "string", "format": "email"}}}`

func schema(t testing.TB, raw string) *structured.Schema {
	t.Helper()
	s, err := structured.Compile(json.RawMessage(raw))
	require.NoError(t, err)
	return s
}

func ask() *llm.Request {
	return &llm.Request{Model: "m", System: "Be short.", Messages: []llm.Message{llm.User("Where?")}}
}

func TestAnswerThatFits(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{"city": "Bremen", "people": 570000}`,
		"Here it is:\n```json\n{\"city\": \"Bremen\", \"people\": 570000}\n```\nAnything else?",
		`Sure: {"city": "Bremen", "people": 570000} as you wished.`,
	} {
		m := &lines{texts: []string{text}}
		r := ask()
		a, err := structured.Generate(t.Context(), m, r, structured.Wanted{Schema: schema(t, city)})
		require.NoError(t, err, text)
		require.Equal(t, map[string]any{"city": "Bremen", "people": json.Number("570000")}, a.Value)
		require.JSONEq(t, `{"city": "Bremen", "people": 570000}`, string(a.Raw))
		require.JSONEq(t, city, string(m.asked[0].Schema))
		require.Equal(t, "Be short.", m.asked[0].System)
		require.Nil(t, r.Schema, "the request is the caller's")
	}
}

func TestAnswerIsRepaired(t *testing.T) {
	t.Parallel()
	m := &lines{texts: []string{`{"city": 7, "mail": "nobody"}`, "", `{"city": "Bremen"}`}}
	r := ask()
	a, err := structured.Generate(t.Context(), m, r, structured.Wanted{Schema: schema(t, city), Repair: 2})
	require.NoError(t, err)
	require.Equal(t, map[string]any{"city": "Bremen"}, a.Value)
	require.Len(t, r.Messages, 1)
	require.Len(t, a.Messages, 5, "the question, and two answers with what was wrong with them")
	said := a.Messages[2].Text()
	require.Contains(t, said, "/city: got number, want string")
	require.Contains(t, said, "/mail: 'nobody' is not valid email")
	require.NotEmpty(t, a.Messages[3].Text(), "no provider takes an empty message")
	require.Contains(t, a.Messages[4].Text(), "it is empty")
}

func TestAnswerThatNeverFits(t *testing.T) {
	t.Parallel()
	m := &lines{texts: []string{`{}`, `[]`, `{"city": "Bremen"}`}}
	a, err := structured.Generate(t.Context(), m, ask(), structured.Wanted{Schema: schema(t, city), Repair: 1})
	var bad *structured.Misfit
	require.ErrorAs(t, err, &bad)
	require.Equal(t, []string{"/: got array, want object"}, bad.Problems)
	require.Nil(t, a.Value)
	require.Equal(t, "[]", a.Last.Message.Text())
	require.Len(t, m.asked, 2)
}

func TestAnswerIsChecked(t *testing.T) {
	t.Parallel()
	w := structured.Wanted{Schema: schema(t, city), Repair: 1, Check: func(v any) error {
		if v.(map[string]any)["city"] != "Bremen" {
			return &structured.Misfit{Problems: []string{"/city: does not occur in the text"}}
		}
		return nil
	}}
	m := &lines{texts: []string{`{"city": "Hamburg"}`, `{"city": "Bremen"}`}}
	a, err := structured.Generate(t.Context(), m, ask(), w)
	require.NoError(t, err)
	require.Contains(t, a.Messages[2].Text(), "does not occur in the text")

	w.Check = func(any) error { return errors.ErrUnsupported }
	_, err = structured.Generate(t.Context(), &lines{texts: []string{`{"city": "Hamburg"}`, `{}`}}, ask(), w)
	require.ErrorIs(t, err, errors.ErrUnsupported)
}

func TestModelDeclines(t *testing.T) {
	t.Parallel()
	a, err := structured.Generate(t.Context(), &lines{texts: []string{"I would rather not."}, stop: llm.StopRefused}, ask(), structured.Wanted{Schema: schema(t, city)})
	require.NoError(t, err)
	require.Nil(t, a.Value)
	require.Equal(t, llm.StopRefused, a.Last.Stop)
}

func TestAnswerBreaksOff(t *testing.T) {
	t.Parallel()
	m := &lines{texts: []string{`{"city": "Bre`, `{"city": "Br`}, stop: llm.StopLength}
	_, err := structured.Generate(t.Context(), m, ask(), structured.Wanted{Schema: schema(t, city), Repair: 1})
	var bad *structured.Misfit
	require.ErrorAs(t, err, &bad)
	require.Contains(t, bad.Problems[0], "too long")
	require.Len(t, bad.Problems, 2)
}

func TestModelFails(t *testing.T) {
	t.Parallel()
	_, err := structured.Generate(t.Context(), &lines{}, ask(), structured.Wanted{Schema: schema(t, city), Repair: 2})
	var failed *llm.Error
	require.ErrorAs(t, err, &failed)
	require.Equal(t, llm.CodeUnavailable, failed.Code)
}

func TestSchemaOfNoObject(t *testing.T) {
	t.Parallel()
	m := &lines{texts: []string{`["a"]`}}
	a, err := structured.Generate(t.Context(), m, ask(), structured.Wanted{Schema: schema(t, `{"type": "array", "items": {"type": "string"}}`)})
	require.NoError(t, err)
	require.Equal(t, []any{"a"}, a.Value)
	require.Nil(t, m.asked[0].Schema)
	require.True(t, strings.HasPrefix(m.asked[0].System, "Be short.\n\nAnswer with JSON alone"))
}

func TestSchemaThatIsWrong(t *testing.T) {
	t.Parallel()
	for name, raw := range map[string]string{
		"no JSON":       `{`,
		"no type":       `{"type": "town"}`,
		"a file":        `{"$ref": "file:///etc/passwd"}`,
		"another host":  `{"$ref": "https://example.com/schema.json"}`,
		"an expression": `{"type": "string", "pattern": "("}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := structured.Compile(json.RawMessage(raw))
			require.Error(t, err)
		})
	}
}

func FuzzRead(f *testing.F) {
	for _, text := range []string{"", "{}", `{"city": "Bremen"}`, "```json\n{}\n```", "x [1,2", "{{{", `{"city": "\ud800"}`, "null", `{"people": 1e999}`} {
		f.Add(text)
	}
	s := schema(f, city)
	f.Fuzz(func(t *testing.T, text string) {
		raw, v, err := s.Read(text)
		var bad *structured.Misfit
		if err != nil {
			require.ErrorAs(t, err, &bad)
			require.NotEmpty(t, bad.Problems)
			return
		}
		require.True(t, json.Valid(raw))
		require.NoError(t, s.Validate(v))
	})
}

// TestHostileSchemas validates against small schemas that would take forever, and
// against legitimate recursive ones.
func TestHostileSchemas(t *testing.T) {
	t.Parallel()
	var laughs strings.Builder
	for i := range 40 {
		fmt.Fprintf(&laughs, `"a%d":{"allOf":[{"$ref":"#/$defs/a%d"},{"$ref":"#/$defs/a%d"}]},`, i, i+1, i+1)
	}
	for _, raw := range []string{
		`{"$ref":"#/$defs/a0","$defs":{` + laughs.String() + `"a40":{"type":"object"}}}`,
		`{"properties":{"x":{"$ref":"#/properties/y"},"y":{"$ref":"#/properties/x"}}}`,
	} {
		_, err := structured.Compile(json.RawMessage(raw))
		require.ErrorContains(t, err, "refers to its parts too often")
	}

	deep := func(open string, n int) string { return strings.Repeat(open, n) + "{}" + strings.Repeat("}", n) }
	s, err := structured.Compile(json.RawMessage(`{"type":"object","properties":{"a":{"allOf":[{"$ref":"#"},{"$ref":"#"}]}}}`))
	require.NoError(t, err)
	var bad *structured.Misfit
	_, _, err = s.Read(deep(`{"a":`, 40))
	require.ErrorAs(t, err, &bad)
	require.Contains(t, bad.Problems[0], "too deeply")
	_, _, err = s.Read(deep(`{"a":`, 5))
	require.NoError(t, err)

	tree, err := structured.Compile(json.RawMessage(`{"$ref":"#/$defs/node","$defs":{"node":{"type":"object","properties":{
		"$ref":{"type":"string"},"children":{"type":"array","items":{"$ref":"#/$defs/node"}}}}}}`))
	require.NoError(t, err)
	_, _, err = tree.Read(`{"$ref":"x","children":[{"children":[{"children":[{}]}]},{"children":[]}]}`)
	require.NoError(t, err)
	_, _, err = tree.Read(`{"children":[{"children":[{"children":[7]}]}]}`)
	require.ErrorAs(t, err, &bad)
}
