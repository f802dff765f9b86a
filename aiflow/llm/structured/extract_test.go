package structured_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/aiflow/llm/mock"
	"github.com/trunklinehq/trunkline/aiflow/llm/structured"
)

const booking = `{"type": "object", "required": ["city", "guests"], "$defs": {"count": {"type": "integer", "minimum": 1}},
	"properties": {"city": {"type": "string"}, "guests": {"$ref": "#/$defs/count"}, "name": {"type": ["string", "null"]}}}`

func extraction() structured.Extraction {
	return structured.Extraction{
		Model: "m", Schema: json.RawMessage(booking), Text: "A room in  Bremen, please,\nfor two guests", Locale: "en",
		Now: time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC), Repair: 1, Instructions: "Rooms only.",
	}
}

func TestExtract(t *testing.T) {
	t.Parallel()
	m := &lines{texts: []string{`{"values": {"city": "Bremen", "guests": 2, "name": null}, "evidence": {"city": "in Bremen", "guests": "For two guests"}}`}}
	x, err := structured.Extract(t.Context(), m, extraction())
	require.NoError(t, err)
	require.Equal(t, &structured.Extracted{
		Values:   map[string]any{"city": "Bremen", "guests": json.Number("2")},
		Evidence: map[string]string{"city": "in Bremen", "guests": "For two guests"},
	}, x)
	for _, part := range []string{"Rooms only.", "written in en", "It is Monday, 2026-03-02 10:00 UTC", "never guess"} {
		require.Contains(t, m.asked[0].System, part)
	}
}

func TestExtractWithoutEvidence(t *testing.T) {
	t.Parallel()
	made := `{"values": {"city": "Bremen", "guests": 2, "name": "Ana"}, "evidence": {"city": "in Bremen", "guests": "two people"}}`
	m := &lines{texts: []string{made, made}}
	x, err := structured.Extract(t.Context(), m, extraction())
	require.NoError(t, err)
	require.Equal(t, map[string]any{"city": "Bremen"}, x.Values, "what the text does not say is left out")
	require.Equal(t, []string{"guests"}, x.Missing)
	said := m.asked[1].Messages[2].Text()
	require.Contains(t, said, "/evidence/guests: does not stand in the message")
	require.Contains(t, said, "/evidence/name: is missing")
}

func TestExtractNothing(t *testing.T) {
	t.Parallel()
	x, err := structured.Extract(t.Context(), &lines{texts: []string{`{"values": {}, "evidence": {}}`}}, extraction())
	require.NoError(t, err)
	require.Empty(t, x.Values)
	require.Equal(t, []string{"city", "guests"}, x.Missing)

	x, err = structured.Extract(t.Context(), &lines{texts: []string{"No."}, stop: llm.StopRefused}, extraction())
	require.NoError(t, err)
	require.True(t, x.Refused)
}

func TestExtractThatNeverFits(t *testing.T) {
	t.Parallel()
	_, err := structured.Extract(t.Context(), &lines{texts: []string{`{}`, `{"values": {"guests": 0}, "evidence": {}}`}}, extraction())
	var bad *structured.Misfit
	require.ErrorAs(t, err, &bad)
	require.Contains(t, bad.Problems[0], "/values/guests")
}

func TestExtractWithBadSchema(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{`[]`, `{}`, `{"properties": {"a": {"type": "town"}}}`} {
		x := extraction()
		x.Schema = json.RawMessage(raw)
		_, err := structured.Extract(t.Context(), &lines{}, x)
		require.ErrorContains(t, err, "structured: ", raw)
	}
}

// The built-in model finds something, so that a first extraction needs no key.
func TestExtractWithMock(t *testing.T) {
	t.Parallel()
	x := extraction()
	x.Model, x.Text = "assistant", "My name is Maria and my order is A-17"
	x.Schema = json.RawMessage(`{"type": "object", "properties": {"name": {"type": "string"}, "order": {"type": "string"}}}`)
	found, err := structured.Extract(t.Context(), mock.New(), x)
	require.NoError(t, err)
	require.Equal(t, map[string]any{"name": "Maria", "order": "A-17"}, found.Values)
}
